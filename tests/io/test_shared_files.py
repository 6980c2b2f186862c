"""All published models and results of the test data are read, and agree with their references."""

import gzip
import json
import tarfile

import numpy as np
import pytest

from heeler import io
from heeler.io import uai

NETWORKS = [
    "alarm", "asia", "cancer", "child", "earthquake", "hepar2", "insurance", "mildew", "pigs",
    "sachs", "survey", "water", "win95pts",
]  # fmt: skip


@pytest.fixture(scope="module")
def competition(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("uai")
    with tarfile.open(shared_data / "uai" / "uai2014.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(shared_data, tmp_path, name):
    model = io.read(shared_data / "bayesnets" / f"{name}.bif.gz")
    with gzip.open(shared_data / "bayesnets" / "exact_marginals.json.gz") as file:
        reference = json.load(file).get(name, {})
    # The reference of mildew lacks labels, and that of child had to rename some.
    if "labels" in reference and name != "child":
        assert model.n_variables == reference["nodes"]
        labels = {v: list(model.value_names[i]) for i, v in enumerate(model.names)}
        assert labels == reference["labels"]
    path = tmp_path / "again.bif"
    io.write(model, path)
    again = io.read(path)
    assert again.digest == model.digest


def test_competition_models(competition, shared_data):
    with gzip.open(shared_data / "uai" / "index.json.gz") as file:
        index = json.load(file)
    assert len(index) == 54
    scored = 0
    for name, known in index.items():
        path = competition / f"{name}.uai"
        model = io.read(path)
        assert model.n_variables == known["n_variables"]
        evidence = uai.read_evidence(f"{path}.evid", model.cardinalities)
        assert len(evidence) == 1
        marginals = uai.read_results(f"{path}.MAR")
        assert [row.size for row in marginals.value] == model.cardinalities.tolist()
        log_z = uai.read_results(f"{path}.PR").value
        assert log_z / np.log(10) == pytest.approx(known["ref_log10_PR"])
        state = known.get("map_assignment")
        if state is not None:
            assert all(state[variable] == value for variable, value in evidence[0].items())
            score = float(model.log_score(state))
            assert score == pytest.approx(-known["map_energy_ln_proved"], abs=6e-4)
            scored += 1
    assert scored >= 40


def test_surface_model(shared_data):
    model = io.read(shared_data / "mrf" / "GeomSurf-7-gm256.uai.xz")
    assert model.n_variables == 787
    assert set(model.cardinalities.tolist()) == {7}
