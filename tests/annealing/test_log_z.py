"""log Z: unbiased weights, honest intervals, and a plain word where they are not to be trusted."""

import math

import numpy as np
import pytest

import heeler
from heeler.annealing.ais import (
    anneal_both,
    bennett,
    crooks_mismatch,
    effective,
    log_error,
    log_mean_exp,
)
from heeler.annealing.soften import softened
from zoo import ZOO, all_states

KINDS = ["graph", "ising", "potts", "lattice", "boltzmann", "rbm", "bonds"]


def small(kind, seed=3):
    return ZOO[kind](np.random.default_rng(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_within_its_own_interval(kind):
    model = small(kind)
    truth = heeler.exact.log_z(model)
    found = heeler.log_z(model, sweeps=300, chains=64, seed=2)
    assert found.reliable, found.reasons
    assert found.low <= found.value <= found.high
    # Twice the 90 % interval is 3.3 standard errors: a fixed seed, and a false alarm of 1e-3 each.
    assert abs(found.value - truth) < found.high - found.low
    assert abs(found.details["integral"] - truth) < 0.5
    assert float(found) == found.value


def test_both_directions_are_unbiased():
    # Few passes, many chains: E[exp(w)] = Z / Z0 and E[exp(-w)] = Z0 / Z, within 6 standard errors
    # of the means of exponentials (false alarm below 1e-8 each).
    model = heeler.lattice((3, 3), coupling=0.4, field=0.2)
    truth = heeler.exact.log_z(model)
    betas = np.linspace(0, 1, 6)
    works = anneal_both(model, 5, 40_000, betas, 7, 2)
    # States in reverse come from 11 passes of a quickly mixing chain of 9 variables.
    for sign, log_weights in ((1, works.forward), (-1, -works.reverse)):
        weights = np.exp(log_weights - sign * (truth - works.log_z0))
        assert abs(weights.mean() - 1) < 6 * weights.std() / math.sqrt(len(weights))
        assert weights.std() > 0.05  # there was something to average
    assert works.forward.mean() < truth - works.log_z0 < works.reverse.mean()


def test_bennett_on_known_distributions():
    # Works that obey Crooks: normal with mean d -+ s^2 / 2.
    random = np.random.default_rng(3)
    d, s = 3.7, 1.5
    forward = random.normal(d - s * s / 2, s, 4000)
    reverse = random.normal(d + s * s / 2, s, 1000)
    value, error = bennett(forward, reverse)
    assert abs(value - d) < 6 * error
    assert 0.005 < error < 0.1
    repeats = [
        bennett(random.normal(d - s * s / 2, s, 400), random.normal(d + s * s / 2, s, 100))
        for _ in range(300)
    ]
    found = np.array(repeats)
    assert found[:, 0].std() == pytest.approx(found[:, 1].mean(), rel=0.25)


def test_stuck_chains_contradict_each_other():
    random = np.random.default_rng(4)
    s = 1.0
    forward = random.normal(-s * s / 2, s, 64)
    reverse = random.normal(s * s / 2, s, 64)
    assert crooks_mismatch(forward, reverse) < 3.5
    # The estimates still agree, but the reverse weights are those of other places.
    wrong = np.concatenate([np.full(8, -1.5), random.normal(3.0, 1.0, 56)])
    assert abs(log_mean_exp(forward) + log_mean_exp(-wrong)) < 0.7
    assert crooks_mismatch(forward, wrong) > 5
    assert crooks_mismatch(np.array([1.0]), wrong) == math.inf


def test_means_of_exponentials():
    assert log_mean_exp(np.array([1000.0, 1000.0])) == 1000.0
    assert log_mean_exp(np.array([-np.inf, math.log(2)])) == pytest.approx(0.0)
    assert log_mean_exp(np.array([-np.inf])) == -math.inf
    assert effective(np.array([0.0, 0.0, -np.inf])) == pytest.approx(2.0)
    values = np.random.default_rng(1).normal(0, 0.5, (2000, 50))
    spread = np.std([log_mean_exp(v) for v in values])
    assert spread == pytest.approx(np.mean([log_error(v) for v in values]), rel=0.1)
    assert log_error(np.array([1.0])) == math.inf


def test_the_sandwich_opens_when_there_is_too_little_time():
    random = np.random.default_rng(1)
    weights = np.triu(random.normal(size=(24, 24)), 1) * 1.5
    model = heeler.ising(weights + weights.T)
    truth = heeler.exact.log_z(model, memory_limit=1 << 33)
    short = heeler.log_z(model, sweeps=1, chains=32, seed=1)
    assert any("differ by" in reason for reason in short.reasons)
    for sweeps in (3, 10, 100):
        found = heeler.log_z(model, sweeps=sweeps, chains=32, seed=1)
        assert not found.reliable
        assert found.reasons
    longer = heeler.log_z(model, sweeps=3000, chains=32, seed=1)
    assert longer.reliable
    assert longer.details["gap"] < 0.1
    assert abs(longer.value - truth) < 4 * longer.error


@pytest.mark.parametrize("kind", ["graph with zeros", "net", "chain"])
def test_zeros_are_called_unreliable_and_still_estimated(kind):
    model = small(kind)
    found = heeler.log_z(model, sweeps=300, seed=2)
    assert not found.reliable
    assert "zeros" in found.reasons[0]
    assert "UNRELIABLE" in repr(found)
    assert abs(found.value - heeler.exact.log_z(model)) < 0.3


def test_softened_models_agree_on_the_support():
    for kind in ("graph with zeros", "net", "chain"):
        model = small(kind)
        state = heeler.model.first_state(model, 0)[0]
        model = model.given({1: int(state[1])})
        soft = softened(model)
        assert not soft.has_zeros
        states = all_states(model)
        score, other = model.log_score(states), soft.log_score(states)
        possible = np.isfinite(score)
        np.testing.assert_allclose(other[possible], score[possible])
        agrees = states[:, 1] == state[1]
        assert np.isfinite(other[agrees]).all()
    positive = small("ising")
    assert softened(positive) is positive


def test_exact_evidence_and_nothing_free():
    model = small("potts")
    exact = heeler.log_z(model, "exact", evidence={0: 1})
    assert exact.value == pytest.approx(heeler.exact.log_z(model.given({0: 1})))
    assert exact.error == 0
    assert "exact" in repr(exact)
    found = heeler.log_z(model, evidence={0: 1}, sweeps=300, seed=1)
    assert found.low < exact.value < found.high
    every = dict.fromkeys(range(model.n_variables), 0)
    settled = heeler.log_z(model, evidence=every)
    assert settled.value == pytest.approx(model.log_score(np.zeros(model.n_variables, int)))
    zeros = heeler.factor_graph([2], [((0,), [1.0, 0.0])])
    with pytest.raises(heeler.exact.Contradiction):
        heeler.log_z(zeros, evidence={0: 1})


@pytest.mark.parametrize("method", ["tempering", "ti"])
@pytest.mark.parametrize("kind", ["ising", "potts"])
def test_ladders(method, kind):
    model = small(kind)
    truth = heeler.exact.log_z(model)
    found = heeler.log_z(model, method, sweeps=600, chains=64, seed=3)
    assert found.reliable, found.reasons
    assert abs(found.value - truth) < 5 * found.error + 0.02
    assert found.error < 0.1
    assert min(found.details["swap_rates"]) > 0.1
    assert found.details["round_trips"] > 8
    assert abs(found.details.get("integral", found.details.get("bennett")) - truth) < 0.3


def test_ladders_say_what_is_wrong():
    model = heeler.lattice((6, 6), coupling=1.0)
    found = heeler.log_z(model, "tempering", sweeps=60, betas=[0.0, 0.01, 1.0], seed=1)
    assert not found.reliable
    assert any("rungs hardly swap" in reason or "round trips" in reason for reason in found.reasons)
    zeros = heeler.log_z(small("chain"), "tempering", sweeps=100, seed=1)
    assert any("zeros" in reason for reason in zeros.reasons)


def test_same_seed_same_bits():
    model = small("ising")
    one, two = (heeler.log_z(model, sweeps=50, seed=5, threads=t) for t in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert heeler.log_z(model, sweeps=50, seed=6).value != one.value
    assert heeler.log_z(model, sweeps=1, chains=2).value == pytest.approx(one.value, abs=20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "'method' parameter must be one of"),
        ({"betas": [0.0, 0.5]}, "'betas' parameter must rise from 0 to 1"),
        ({"betas": [0.0, 0.5, 0.4, 1.0]}, "must rise from 0 to 1 at every step"),
        ({"betas": "linear"}, "'betas' parameter must rise from 0 to 1"),
        ({"sweeps": 0}, "'sweeps' parameter"),
        ({"chains": 1}, "'chains' parameter"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        heeler.log_z(small("ising"), **options)


def test_no_model():
    with pytest.raises(TypeError, match="'model' parameter must be a heeler model"):
        heeler.log_z(3)
