"""Coupled chains: values agree as often as they can, and estimates cover the exact distance."""

import itertools

import numpy as np
import pytest

import heeler
from heeler.compiled.coupled import draw_pair
from heeler.exact.sweep import small_model

ONE = 1 << 30
RING = heeler.potts([(0, 1, 0.8), (1, 2, 0.6), (2, 3, -0.7), (3, 0, 0.4)], 3)
GRID = heeler.lattice((2, 3), coupling=0.4, field=0.1)
WEIGHTS = np.triu(np.random.default_rng(2).normal(size=(4, 4)), 1)
DENSE = heeler.boltzmann(WEIGHTS + WEIGHTS.T, 0.2)


def random_masses(rng, count):
    """Make whole masses that add up to 2^30, some of them zero."""
    share = rng.dirichlet(np.full(count, 0.7))
    masses = np.floor(share * ONE).astype(np.int64)
    masses[rng.random(count) < 0.2] = 0
    masses[rng.integers(count)] += ONE - masses.sum()
    return masses


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_pair_keeps_both_distributions_and_agrees_as_often_as_possible(count):
    """Exactly: the values are constant between the ends of masses, and all words are counted."""
    rng = np.random.default_rng(count)
    for _ in range(40):
        p = np.stack([random_masses(rng, count), random_masses(rng, count)])
        common = np.minimum(*p)
        left = [common.sum() + np.cumsum(row - common) for row in p]
        ends = np.unique(np.concatenate([[0, ONE], np.cumsum(common), *left]))
        seen = np.zeros((count, count), np.int64)
        for start, end in itertools.pairwise(ends):
            both = draw_pair(np.uint32(4 * start), count, p)
            assert both == draw_pair(np.uint32(4 * (end - 1) + 3), count, p)
            seen[both] += end - start
        assert (seen.sum(axis=1) == p[0]).all()
        assert (seen.sum(axis=0) == p[1]).all()
        assert np.trace(seen) == common.sum()


def distances(model, order, sweeps):
    """Evolve the uniform start exactly; the distance from the target after each sweep."""
    small = small_model(model)
    sweep = small.sweep(order)
    now = np.full(len(small.target), 1 / len(small.target))
    result = []
    for _ in range(sweeps + 1):
        result.append(np.abs(now - small.target).sum() / 2)
        now = now @ sweep
    return result


@pytest.mark.parametrize("lag", [1, 3, None])
@pytest.mark.parametrize(
    ("model", "coupling"),
    [(RING, "maximal"), (RING, "uniform"), (GRID, "auto"), (DENSE, "auto"), (GRID, "maximal")],
    ids=["ring maximal", "ring uniform", "grid", "dense", "grid maximal"],
)
def test_estimates_are_not_below_the_exact_distance(model, coupling, lag):
    """Value + 6 errors covers the exact distance: false alarm rate below 1e-8 a comparison."""
    found = heeler.couple(model, scan="systematic", coupling=coupling, lag=lag, pairs=2000, seed=11)
    assert found.met
    for sweeps, exact in enumerate(distances(model, range(model.n_variables), 8)):
        value, error = found.distance(sweeps)
        assert value + 6 * error >= exact
    assert found.distance(int(found.meetings.max())).value == 0.0


def test_longer_lags_are_sharper():
    short = heeler.couple(RING, scan="systematic", lag=1, pairs=4000, seed=1)
    long = heeler.couple(RING, scan="systematic", lag=8, pairs=4000, seed=1)
    assert long.distance(0).value == pytest.approx(1.0, abs=0.02)
    assert short.distance(1).value > long.distance(1).value
    exact = distances(RING, range(4), 2)
    assert exact[2] <= long.distance(2).value + 6 * long.distance(2).error


def test_a_target_costs_less_than_all_variables():
    chain = heeler.ising([(k, k + 1, 0.5) for k in range(19)])
    everything = heeler.couple(chain, scan="systematic", lag=20, seed=3)
    one = heeler.couple(chain, scan="systematic", lag=20, target=19, seed=3)
    weights = np.zeros(20)
    weights[19] = 2.0
    doubled = heeler.couple(chain, scan="systematic", lag=20, target=weights, seed=3)
    for sweeps in range(6):
        assert one.distance(sweeps).value <= everything.distance(sweeps).value
        assert doubled.distance(sweeps).value == pytest.approx(2 * one.distance(sweeps).value)
    assert (one.meetings == everything.meetings).all()


def test_both_chains_of_a_maximal_pair_have_the_gibbs_distribution():
    """After one sweep from a given state, 50000 pairs: chi-square, false alarm rate 1e-7."""
    from scipy.stats import chi2

    from heeler.estimate.chains import Chains, coupled_settings
    from heeler.estimate.pairs import MaximalPairs
    from heeler.estimate.target import asked_of

    pairs = 50_000
    settings = coupled_settings(RING, "systematic", 1.0, pairs, 5)
    starts = [np.repeat([state], pairs, axis=0).astype(np.uint8) for state in
              ([0, 1, 2, 0], [1, 2, 2, 1])]  # fmt: skip
    both = MaximalPairs(
        RING, settings, Chains(RING, settings, starts[0]), starts[1], 1, asked_of(None, RING)
    )
    both.advance(1, 2)
    sweep = small_model(RING).sweep(range(4))
    for side, start in enumerate(starts):
        number = np.ravel_multi_index(both._states[:, side, :4].T, (3,) * 4)
        expected = sweep[np.ravel_multi_index(start[0], (3,) * 4)] * pairs
        counts = np.bincount(number, minlength=81)
        keep = expected > 5
        statistic = ((counts - expected)[keep] ** 2 / expected[keep]).sum()
        assert chi2.sf(statistic, keep.sum() - 1) > 1e-7


@pytest.mark.parametrize("scan", ["uniform", "chromatic"])
def test_scans(scan):
    found = heeler.couple(GRID, scan=scan, pairs=64)
    assert found.met
    assert found.settings["scan"] == scan


def test_metropolis_chains_are_not_below_their_exact_distance():
    """The whole matrix of a pass from the laboratory; value + 6 errors, as above."""
    model = heeler.ising([(0, 1, 0.5), (1, 2, -0.3)], [0.3, -0.5, 0.2])
    found = heeler.couple(model, driver="metropolis", scan="systematic", pairs=2000, lag=20)
    sweep = heeler.lab.transition_matrix(model, "metropolis").toarray()
    target = heeler.exact.enumerate(model).ravel()
    now = np.full(8, 1 / 8)
    assert found.coupling == "uniform"
    for sweeps in range(10):
        value, error = found.distance(sweeps)
        assert value + 6 * error >= np.abs(now - target).sum() / 2
        now = now @ sweep


@pytest.mark.parametrize("coupling", ["uniform", "maximal"])
def test_the_same_seed_gives_the_same_pairs_on_any_threads(coupling):
    one = heeler.couple(RING, coupling=coupling, seed=4, pairs=40, threads=1)
    two = heeler.couple(RING, coupling=coupling, seed=4, pairs=40, threads=2)
    other = heeler.couple(RING, coupling=coupling, seed=5, pairs=40)
    assert (one.meetings == two.meetings).all()
    assert one.distance(2) == two.distance(2)
    assert (one.meetings != other.meetings).any()


def test_pairs_that_do_not_meet_give_no_estimate():
    equal = heeler.factor_graph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    found = heeler.couple(equal, pairs=20, most_sweeps=50)
    assert not found.met
    assert np.isnan(found.distance(3).value)
    assert found.sweeps(0.1) is None
    assert "no estimate" in repr(found)
    assert found.to_dict()["mean_meeting"] is None


def test_sweeps_for_an_accuracy():
    found = heeler.couple(GRID, pairs=1000, seed=2)
    needed = found.sweeps(0.05)
    assert needed is not None
    assert sum(found.distance(needed)) <= 0.05 < sum(found.distance(needed - 1))
    assert found.sweeps(1e-4) is None  # so many pairs cannot see so little
    assert "estimate" in repr(found)
    assert found.to_dict()["kind"] == "estimate"


def test_a_given_start():
    start = np.ones(6, np.int64)
    found = heeler.couple(GRID, init=start, pairs=500, scan="systematic", lag=5)
    small = small_model(GRID)
    now = np.zeros(64)
    now[-1] = 1.0
    for sweeps in range(4):
        value, error = found.distance(sweeps)
        assert value + 6 * error >= np.abs(now - small.target).sum() / 2
        now = now @ small.sweep(range(6))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coupling": "tight"}, "'coupling'"),
        ({"lag": 0}, "'lag'"),
        ({"pairs": 1}, "'pairs'"),
        ({"target": []}, "'target'"),
        ({"target": np.zeros(6)}, "'target'"),
        ({"target": np.ones(5)}, "'target'"),
        ({"target": -np.ones(6)}, "'target'"),
        ({"scan": "jacobi"}, "'scan'"),
        ({"driver": "herded"}, "'driver'"),
        ({"driver": "metropolis", "coupling": "maximal"}, "'coupling'"),
        ({"init": np.zeros(5, int)}, "'init'"),
        ({"most_sweeps": 0}, "'most_sweeps'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        heeler.couple(GRID, **options)


def test_bad_targets_and_models():
    with pytest.raises(ValueError, match="clamped variable"):
        heeler.couple(GRID.given({2: 1}), target=[1, 2])
    with pytest.raises(ValueError, match="nothing to couple"):
        heeler.couple(heeler.ising([(0, 1, 0.1)]).given({0: 1, 1: 1}))
    with pytest.raises(TypeError, match="'model'"):
        heeler.couple(3)
