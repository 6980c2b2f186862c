"""The oracles against published or independently computed answers."""

import gzip
import json
import math
from itertools import pairwise

import numpy as np
import pytest

import heeler
from heeler import exact

from .reference import competition

NARROW = [
    "Alchemy_11",
    "DBN_11",
    "Pedigree_13",
    "Promedus_13",
    "Promedus_15",
    "Promedus_21",
    "Promedus_27",
    "Promedus_29",
    "Promedus_31",
    "Promedus_33",
    "Promedus_35",
    "Segmentation_11",
    "Segmentation_13",
    "Segmentation_15",
]
NETWORKS = [
    "asia",
    "cancer",
    "earthquake",
    "survey",
    "sachs",
    "child",
    "alarm",
    "insurance",
    "hepar2",
    "win95pts",
    "water",
    "pigs",
]


@pytest.fixture(scope="module")
def instances(shared_data):
    return competition(shared_data)


@pytest.mark.parametrize("name", NARROW)
def test_competition_instances(instances, name):
    read, index = instances
    model, reference = read(name)
    facts = index[name]
    log_z = exact.log_z(model)
    # Six significant digits were printed.
    assert log_z / math.log(10) == pytest.approx(facts["ref_log10_PR"], abs=5e-4)
    assert log_z / math.log(10) == pytest.approx(facts["exact_log10Z_here"], abs=1e-9)
    found = exact.marginals(model)
    for v, expected in enumerate(reference):
        np.testing.assert_allclose(found[v], expected, atol=1e-6)
    state, score = exact.map_state(model)
    assert model.log_score(state) == pytest.approx(score, abs=1e-8)
    assert score == pytest.approx(-facts["map_energy_ln_proved"], abs=6e-4)


def test_wide_instances_are_refused_quickly(instances):
    read, _ = instances
    for name in ("linkage_11", "linkage_19", "ObjectDetection_13"):
        model, _ = read(name)
        with pytest.raises(exact.TooWide, match=r"GiB|TiB|PiB") as caught:
            exact.marginals(model)
        assert caught.value.bytes > 1 << 30


@pytest.mark.parametrize("name", NETWORKS)
def test_bayesian_networks(shared_data, name):
    with gzip.open(shared_data / "bayesnets" / "exact_marginals.json.gz", "rt") as file:
        facts = json.load(file)[name]
    model = heeler.read(shared_data / "bayesnets" / f"{name}.bif.gz")
    renamed = {new: old for old, new in facts.get("label_renaming", [])}

    def compare(given, expected):
        found = exact.marginals(given)
        for variable, values in expected.items():
            labels = [renamed.get(w, w) for w in facts["labels"][variable]]
            places = [given.value_index(variable, w) for w in labels]
            # The reference holds tables in single precision: about seven digits.
            np.testing.assert_allclose(found[variable][places], values, atol=2e-6)

    assert exact.log_z(model) == pytest.approx(0.0, abs=1e-5)
    compare(model, facts["prior_marginals"])
    evidence = {v: renamed.get(w, w) for v, w in facts["evidence"].items()}
    clamped = model.given(evidence)
    assert math.exp(exact.log_z(clamped)) == pytest.approx(facts["prob_evidence"], rel=1e-5)
    compare(clamped, facts["posterior_marginals"])


@pytest.fixture(scope="module")
def sentences(shared_data):
    with np.load(shared_data / "ner" / "ieer_crf_potentials.npz") as stored:
        potentials = dict(stored)
    ends = np.append(potentials["sent_start"], len(potentials["node"]))
    chains = []
    for a, b in pairwise(ends):
        node = potentials["node"][a:b].astype(float)
        # The label before the first token is fixed to 0.
        node[0] += potentials["edge"][a, 0]
        chains.append(heeler.chain(node, potentials["edge"][a + 1 : b].astype(float)))
    return potentials, chains


def test_viterbi_on_all_sentences(sentences):
    potentials, chains = sentences
    states, scores = exact.viterbi(chains)
    np.testing.assert_array_equal(np.concatenate(states), potentials["pred_viterbi"])
    # The stored scores differ from their own potentials' in the seventh digit (as a sum in single
    # precision would); the exact check is the recomputed score below.
    np.testing.assert_allclose(scores, potentials["map_score"], atol=2e-3)
    for k in range(0, len(chains), 97):
        assert chains[k].log_score(states[k]) == pytest.approx(scores[k], abs=1e-9)


def test_forward_backward_on_all_sentences(sentences):
    potentials, chains = sentences
    found = exact.forward_backward(chains)
    np.testing.assert_allclose([s.log_z for s in found], potentials["logZ"], atol=1e-5)
    node = np.concatenate([s.node for s in found])
    np.testing.assert_allclose(node, potentials["marginals"], atol=1e-6)
