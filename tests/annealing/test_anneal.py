"""Annealing: finds what enumeration finds, by every schedule, and says clearly what is wrong."""

import numpy as np
import pytest

import heeler
from heeler.annealing.schedules import (
    as_schedule,
    geometric,
    linear,
    logarithmic,
)
from heeler.model.gaps import temperature_range
from zoo import ZOO


def small(kind, seed=3):
    return ZOO[kind](np.random.default_rng(seed))


@pytest.mark.parametrize("make", [linear, geometric, logarithmic])
def test_schedules_by_name(make):
    for hot, cold, passes in ((10.0, 0.1, 100), (3.0, 2.9, 17), (5.0, 5.0, 4), (1e6, 1e-3, 1000)):
        values = make(hot, cold, passes)
        assert len(values) == passes
        assert values[0] == pytest.approx(hot)
        assert values[-1] == pytest.approx(cold, rel=1e-6)
        assert (np.diff(values) <= 1e-9 * hot).all()
    assert len(make(2.0, 1.0, 1)) == 1


def test_the_logarithmic_schedule_is_one():
    # T = c / log(a + t), so exp(c / T) is linear in t, with slope 1.
    values = logarithmic(8.0, 0.5, 300)
    low, high = 1e-6, 1e3
    for _ in range(200):
        c = 0.5 * (low + high)
        if np.exp(c / values[1]) - np.exp(c / values[0]) > 1:
            high = c
        else:
            low = c
    np.testing.assert_allclose(np.diff(np.exp(c / values)), 1.0, rtol=1e-5)


def test_schedules_of_ones_own():
    model = small("ising")
    np.testing.assert_array_equal(
        as_schedule([4.0, 2.0, 1.0], None, None, 7, model, 0), [4, 4, 4, 2, 2, 1, 1]
    )
    np.testing.assert_array_equal(
        as_schedule(lambda k: 1.0 + k, None, None, 3, model, 0), [1.0, 2.0, 3.0]
    )
    hot, cold = temperature_range(model)
    assert 0 < cold < hot
    assert as_schedule("geometric", None, None, 9, model, 0)[0] == pytest.approx(hot)
    assert as_schedule("geometric", None, 1.0, 9, model, 0)[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("kind", "driver"),
    [
        *((k, "random") for k in ("graph", "graph with zeros", "net", "ising", "potts", "chain")),
        ("boltzmann", "random"),
        ("ising", "herded"),
        ("graph", "herded"),
    ],
)
def test_the_best_state_is_found(kind, driver):
    model = small(kind)
    best = heeler.exact.map_state(model)[1]
    found = heeler.anneal(model, sweeps=100, driver=driver, seed=1, chains=8)
    assert found.best.log_score == pytest.approx(best)
    assert found.best.log_score == pytest.approx(model.log_score(found.best.state))
    assert len(found.temperatures) == 100


@pytest.mark.parametrize("schedule", ["linear", "geometric", "logarithmic", [9.0, 3.0, 1.0, 0.3]])
def test_every_schedule_finds_the_ground_state_of_a_frustrated_lattice(schedule):
    random = np.random.default_rng(7)
    bonds = (random.choice([-1.0, 1.0], (5, 6)), random.choice([-1.0, 1.0], (6, 5)))
    model = heeler.lattice((6, 6), bonds)
    found = heeler.anneal(model, schedule, sweeps=300, seed=2)
    assert found.best.log_score == pytest.approx(heeler.exact.map_state(model)[1])
    plain = heeler.sample(model, driver="greedy", sweeps=300, chains=1, seed=2)
    assert found.best.log_score >= plain.best.log_score


def test_annealing_to_temperature_one_gives_the_distribution():
    # 2000 independent chains; the mean score within 6 standard errors (false alarm 2e-9).
    model = heeler.lattice((4, 4), coupling=0.5, field=0.1)
    found = heeler.anneal(model, hot=20.0, cold=1.0, sweeps=200, chains=2000, quench=False, seed=4)
    p = heeler.exact.enumerate(model).ravel()
    states = np.stack(np.unravel_index(np.arange(2**16), (2,) * 16), axis=1)
    score = model.log_score(states)
    mean, spread = p @ score, np.sqrt(p @ score**2 - (p @ score) ** 2)
    assert abs(found.log_scores.mean() - mean) < 6 * spread / np.sqrt(2000)
    np.testing.assert_allclose(found.log_scores, model.log_score(found.states))


def test_same_seed_same_bits_and_rounds():
    model = small("ising")
    one, two = (heeler.anneal(model, sweeps=20, seed=5, threads=t) for t in (1, 2))
    np.testing.assert_array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.best.state, two.best.state)
    other = heeler.anneal(model, sweeps=20, seed=6)
    assert (other.states != one.states).any()
    timed = heeler.anneal(model, seconds=0.3, seed=5)
    sweeps = [r["sweeps"] for r in timed.rounds]
    assert len(sweeps) > 1
    assert sweeps[1] in (2 * sweeps[0], *range(1, 2 * sweeps[0]))
    assert timed.stats["rounds"] == len(sweeps)
    target = heeler.exact.map_state(model)[1] - 1e-9
    stopped = heeler.anneal(model, seconds=30, target=target, seed=5)
    assert stopped.stats["seconds"] < 10
    assert "log score" in repr(stopped)


def test_evidence_and_nothing_free():
    model = small("potts")
    found = heeler.anneal(model, sweeps=50, evidence={0: 2, 3: 1}, seed=1)
    assert found.best.state[[0, 3]].tolist() == [2, 1]
    assert found.best.log_score == pytest.approx(
        heeler.exact.map_state(model.given({0: 2, 3: 1}))[1]
    )
    every = dict(enumerate(found.best.state.tolist()))
    settled = heeler.anneal(model, sweeps=5, evidence=every)
    assert settled.best.log_score == pytest.approx(found.best.log_score)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "steps"}, "'schedule' parameter must be one of 'linear'"),
        ({"schedule": [1.0, -1.0]}, "'schedule' parameter must give positive temperatures"),
        ({"schedule": [1.0, np.nan]}, "'schedule' parameter must give positive temperatures"),
        ({"schedule": lambda k: 1 - k}, "'schedule' parameter must give positive temperatures"),
        ({"schedule": [2.0, 1.0], "hot": 3.0}, "'hot' and 'cold' parameters are for schedules"),
        ({"hot": -1.0}, "'hot' parameter must be a positive number"),
        ({"cold": [1.0, 2.0]}, "'cold' parameter must be a positive number"),
        ({"hot": 1.0, "cold": 2.0}, "'hot' parameter must be at least the 'cold' one"),
        ({"sweeps": 0}, "'sweeps' parameter must be a whole number"),
        ({"sweeps": None, "seconds": 0}, "'seconds' parameter must be a finite number above 0"),
        ({"target": np.inf}, "'target' parameter must be a finite number"),
        ({"driver": "fast"}, "'driver' parameter"),
        ({"chains": 0}, "'chains' parameter"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        heeler.anneal(small("ising"), **({"sweeps": 10} | options))


def test_no_model():
    with pytest.raises(TypeError, match="'model' parameter must be a heeler model"):
        heeler.anneal([[1.0]])
