"""Herding of a given distribution and of given moments."""

from fractions import Fraction

import numpy as np
import pytest

from heeler.herding import UNIT, Herd, herd, largest_of_few, largest_of_many, quantised

RNG_SEED = 20


def deficits(p, draws):
    """Give N_v(t) * 2^30 - t * P_v for all t and v, exactly, for the quantised p."""
    counts = np.cumsum(draws[:, None] == np.arange(len(p)), axis=0)
    steps = np.arange(1, len(draws) + 1)[:, None]
    return counts * UNIT - steps * quantised(p)


def distributions():
    rng = np.random.default_rng(RNG_SEED)
    for size in (2, 3, 4, 6, 10, 40):
        for sharpness in (0.1, 1.0, 10.0):
            yield rng.dirichlet(np.full(size, sharpness))
    yield np.full(7, 1 / 7)
    yield np.array([0.5, 0.5])


def test_quantised_sums_exactly_and_keeps_what_is_possible():
    for p in [*distributions(), np.array([1e-15, 0.0, 1 - 1e-15]), np.array([1.0])]:
        whole = quantised(p)
        assert whole.sum() == UNIT
        assert ((whole > 0) == (p > 0)).all()
        assert np.abs(whole / UNIT - p).max() < 2**-30 * len(p)


def test_argmax_never_draws_a_value_too_often():
    # The largest weight after adding is at least the average, 1 / K of the unit, so that it stays
    # above 1 / K - 1 when it pays: N_v - t p_v <= 1 - 1 / K for every t.
    for p in distributions():
        over = deficits(p, herd(p, n=3000))
        possible = np.count_nonzero(p)
        assert (over * possible <= (possible - 1) * UNIT).all()
        # Weights sum to zero, so one falls behind by what all others are ahead at most.
        assert (over >= -(possible - 1) * UNIT).all()


def test_two_values_stay_within_a_half():
    for p in (0.5, 0.1, 1 / 3, 0.123456, 1e-4):
        over = deficits([1 - p, p], herd([1 - p, p], n=5000))
        assert (2 * np.abs(over) <= UNIT).all()


def test_two_values_are_the_carries_of_one_addition():
    p = np.array([0.713, 0.287])
    weight = UNIT // 2 + np.arange(1, 4001) * int(quantised(p)[1])
    carries = np.diff(weight // UNIT, prepend=0)
    np.testing.assert_array_equal(herd(p, n=4000), carries)


def test_tijdeman_keeps_its_bound_exactly():
    for p in distributions():
        k = np.count_nonzero(p)
        over = deficits(p, herd(p, n=3000, rule="tijdeman"))
        bound = (1 - Fraction(1, 2 * k - 2)) * UNIT
        assert np.abs(over).max() <= bound


def test_argmax_breaks_the_bound_that_tijdeman_keeps():
    # Shows that the test above can fail: over many distributions argmax goes beyond the bound.
    rng = np.random.default_rng(RNG_SEED)
    bound = 1 - 1 / 18
    worst = {"argmax": 0.0, "tijdeman": 0.0}
    for _ in range(30):
        p = rng.dirichlet(np.full(10, 0.7))
        for rule, before in worst.items():
            over = np.abs(deficits(p, herd(p, n=2000, rule=rule))).max() / UNIT
            worst[rule] = max(before, over)
    assert worst["tijdeman"] <= bound < worst["argmax"]


@pytest.mark.parametrize("rule", ["argmax", "tijdeman"])
def test_impossible_values_are_never_drawn(rule):
    draws = herd([0.0, 0.3, 0.0, 0.7, 0.0], n=1000, rule=rule)
    assert set(draws.tolist()) == {1, 3}
    assert herd([0.0, 1.0], n=5, rule=rule).tolist() == [1] * 5


def test_rational_distributions_come_round():
    draws = herd([0.25, 0.25, 0.5], n=400)
    assert np.bincount(draws).tolist() == [100, 100, 200]
    np.testing.assert_array_equal(draws[:200], draws[200:])


def test_both_loops_draw_the_same():
    weights = quantised(np.random.default_rng(1).dirichlet(np.ones(12)))
    few = largest_of_few(weights.tolist(), 2000)
    np.testing.assert_array_equal(few, largest_of_many(weights, 2000))


def test_moments_of_indicators_are_the_distribution():
    p = np.array([0.125, 0.5, 0.375])
    found = herd(np.eye(3), moments=p, n=4000)
    assert isinstance(found, Herd)
    np.testing.assert_array_equal(found.states, herd(p, n=4000))
    np.testing.assert_allclose(found.moments, p, atol=1e-12)


def test_moments_are_matched_like_one_over_n():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(40, 5))
    target = rng.dirichlet(np.ones(40)) @ features
    # The error is (w at the start - w now) / n, and the weights stay below 20 here; independent
    # draws would be at about 1 / sqrt(n), five times that bound at the last n.
    for n in (100, 1000, 10_000):
        found = herd(features, target, n=n)
        assert np.abs(found.moments - target).max() < 20 / n
        np.testing.assert_allclose(found.moments, features[found.states].mean(axis=0))


def test_moments_follow_the_paper_step_by_step():
    rng = np.random.default_rng(4)
    features = rng.normal(size=(30, 4))
    target = features.mean(axis=0)
    w = target.copy()
    expected = []
    for _ in range(300):
        x = int(np.argmax(features @ w))
        w += target - features[x]
        expected.append(x)
    assert herd(features, target, n=300).states.tolist() == expected


def test_many_states_need_no_table_of_products(monkeypatch):
    rng = np.random.default_rng(5)
    features = rng.normal(size=(50, 3))
    target = features.mean(axis=0)
    with_table = herd(features, target, n=200)
    monkeypatch.setattr("heeler.herding.GRAM_LIMIT", 0)
    np.testing.assert_array_equal(with_table.states, herd(features, target, n=200).states)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([0.5, 0.6],), ValueError, "sum to 1"),
        (([-0.1, 1.1],), ValueError, "sum to 1"),
        (([],), ValueError, "sum to 1"),
        (([np.nan, 1.0],), ValueError, "finite"),
        (("abc",), TypeError, "numbers"),
        ((np.eye(2),), ValueError, "vector of probabilities"),
        ((np.eye(2), [0.5]), ValueError, "moments"),
        (([0.5, 0.5], [0.5, 0.5]), ValueError, "shape"),
        (([0.5, 0.5], None, -1), ValueError, "negative"),
        (([0.5, 0.5], None, 1.5), TypeError, "'n'"),
    ],
)
def test_bad_input_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        herd(*arguments)


def test_bad_rules_are_refused():
    with pytest.raises(ValueError, match="rule"):
        herd([1.0], rule="rotor")
    with pytest.raises(ValueError, match="rule"):
        herd(np.eye(2), [0.5, 0.5], rule="tijdeman")


def test_no_draws():
    assert herd([0.5, 0.5], n=0).shape == (0,)
    assert np.isnan(herd(np.eye(2), [0.5, 0.5], n=0).moments).all()
