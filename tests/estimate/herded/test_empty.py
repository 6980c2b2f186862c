"""Independent variables: Lemma 3 on actual runs, Theorem 1's condition, the machine's period."""

import math

import numpy as np
import pytest

import heeler
from heeler.estimate.herded import rational_independence


def independent(probabilities):
    """Make independent binary variables with given P(1)."""
    return heeler.factor_graph(
        [2] * len(probabilities), [((i,), [1 - p, p]) for i, p in enumerate(probabilities)]
    )


def run_of(model, sweeps, **more):
    """Herd one chain and keep its joint distribution."""
    return heeler.sample(
        model, driver="herded", scan="systematic", chains=1, sweeps=sweeps, keep="joint",
        progress=False, **more,
    )  # fmt: skip


@pytest.mark.parametrize("burn_in", [0, 5])
@pytest.mark.parametrize("sweeps", [1, 3, 10, 137, 5000])
def test_lemma_3_holds_for_every_marginal(sweeps, burn_in):
    probabilities = [0.5, 0.001, 0.999, math.sqrt(2) - 1, 0.37]
    model = independent(probabilities)
    bounds = heeler.herded_bounds(model)
    for seed in range(3):
        driver = heeler.driver.Herded(start="random")
        run = heeler.sample(
            model, driver=driver, scan="systematic", chains=1, sweeps=sweeps, burn_in=burn_in,
            seed=seed, keep="joint", progress=False,
        )  # fmt: skip
        for v, p in enumerate(probabilities):
            ones = run.joint.sum(axis=tuple(k for k in range(5) if k != v))[1]
            assert abs(ones - p) <= bounds.marginal().bound(sweeps)


def test_theorem_1_where_its_condition_fails():
    """Two fair coins herd in lock-step; the condition says so, and the run shows it."""
    model = independent([0.5, 0.5])
    bounds = heeler.herded_bounds(model)
    assert bounds.converges is False
    assert bounds.independence.relation is not None
    assert bounds.period == 2
    run = run_of(model, 1000)
    assert np.abs(run.joint - 0.25).sum() / 2 == pytest.approx(0.5)


def test_theorem_1_where_its_condition_holds():
    p, q = math.sqrt(2) - 1, math.sqrt(3) - 1
    model = independent([p, q])
    bounds = heeler.herded_bounds(model)
    assert bounds.converges is True
    assert 1 << 20 < bounds.period <= 1 << 32
    joint = np.outer([1 - p, p], [1 - q, q])
    apart = [np.abs(run_of(model, t).joint - joint).sum() / 2 for t in (100, 100_000)]
    assert apart[1] < 1e-3
    assert apart[1] < apart[0] / 50


def test_period_is_the_machines():
    """P = 3/8 and 1/4 are exact in fixed point: a run repeats itself after 8 sweeps."""
    model = independent([0.375, 0.25])
    assert heeler.herded_bounds(model).period == 8
    run = heeler.sample(
        model, driver="herded", scan="systematic", chains=1, sweeps=32, keep="samples",
        progress=False,
    )  # fmt: skip
    states = np.asarray(run.samples).reshape(-1, 2)
    assert (states[8:] == states[:-8]).all()
    assert (states[4:] != states[:-4]).any()


def test_full_contexts_of_independent_variables_have_a_joint_bound():
    bounds = heeler.herded_bounds(independent([0.5, 0.5]), context="full")
    run = run_of(independent([0.5, 0.5]), 1000, context="full")
    apart = np.abs(run.joint - 0.25).sum() / 2
    assert apart <= bounds.joint.bound(1000) < 0.01


@pytest.mark.parametrize(
    ("numbers", "answer", "relation"),
    [
        ([math.sqrt(2) - 1], True, None),
        ([math.sqrt(2) - 1, math.sqrt(3) - 1, math.sqrt(5) - 2], True, None),
        ([0.25], False, (1, -4)),
        ([math.sqrt(2) - 1, 2 - math.sqrt(2)], False, (1, -1, -1)),
        ([math.sqrt(2) - 1, (3 * (math.sqrt(2) - 1) + 1) / 5], False, (1, 3, -5)),
        ([math.pi - 3, math.e - 2, (2 * math.pi + 3 * math.e) / 16], False, (12, 2, 3, -16)),
        (np.random.default_rng(3).random(8).tolist(), None, ...),
        (np.random.default_rng(3).random(50).tolist(), None, None),
    ],
)
def test_rational_independence(numbers, answer, relation):
    found = rational_independence(numbers)
    assert found.independent is answer
    if relation is not ...:
        assert found.relation == relation
    assert str(found.denominator) in repr(found)


def test_denominator_and_tolerance_are_what_they_say():
    third = 1 / 3 + 1e-7
    assert rational_independence([third], 64, 1e-6).relation == (1, -3)
    assert rational_independence([third], 64, 1e-9).independent is True
    assert rational_independence([5 / 67], 64).independent is True
    assert rational_independence([5 / 67], 67).relation == (5, -67)


def test_no_small_relation_is_missed():
    """Where independence is claimed, no relation exists among all with coefficients up to 6."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        numbers = np.round(rng.random(2) * 40) / 40 + rng.choice([0.0, 1e-3], 2)
        found = rational_independence(numbers.tolist(), 6, 1e-9)
        grid = np.arange(-6, 7)
        sums = np.abs(grid[:, None, None] + grid[:, None] * numbers[0] + grid * numbers[1])
        sums[6, 6, 6] = 1.0
        assert found.independent is not None
        assert found.independent == (sums.min() > 1e-9)


def test_bad_input():
    model = independent([0.3, 0.4])
    with pytest.raises(ValueError, match="'denominator'"):
        heeler.herded_bounds(model, denominator=0)
    with pytest.raises(ValueError, match="'tolerance'"):
        heeler.herded_bounds(model, tolerance=0.0)


def test_text_and_dictionary():
    bounds = heeler.herded_bounds(independent([0.3, 0.4]))
    assert "Lemma 3" in repr(bounds)
    assert "Theorem 1" in repr(bounds)
    assert bounds.to_dict()["rationally_independent"] is False
