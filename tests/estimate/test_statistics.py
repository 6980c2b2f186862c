"""Estimates against enumeration, and error bars against the errors they are for.

Every statistical test says how often it would fail if nothing were wrong; there are fewer than
forty, each at 1e-8 or less, so all together stay below 1e-6. Seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

import heeler
from engines import general
from heeler.driver import Herded
from heeler.scan import Uniform, Weighted
from loop_models import symmetric

FALSE_ALARM = 1e-8


def spins():
    """Make five spins that all touch, neither weakly nor strongly."""
    rng = np.random.default_rng(1)
    return heeler.ising(symmetric(rng, 5, 1.0) * 0.3, rng.normal(size=5) * 0.3)


def mixed():
    """Make a factor graph of mixed cardinalities with a zero."""
    rng = np.random.default_rng(4)
    tables = [
        ([0, 1], rng.random((3, 2)) + 0.2),
        ([1, 2], rng.random((2, 2)) + 0.2),
        ([0, 2], rng.random((3, 2)) + 0.2),
    ]
    tables[0][1][1, 1] = 0.0
    return heeler.factor_graph([3, 2, 2], tables)


def truth(model):
    """Enumerate: states, their probabilities, and the joint's shape."""
    cards = tuple(int(k) for k in model.cardinalities)
    states = np.stack(np.unravel_index(np.arange(np.prod(cards)), cards), axis=1)
    p = np.exp(np.asarray(model.log_score(states)))
    return states, p / p.sum(), cards


def misfit(counts, p):
    """Give the chi-square p-value of counts; rare states go together, 20 expected of each."""
    assert (counts[p == 0] == 0).all()
    expected = p * counts.sum()
    order = np.argsort(expected)
    rare = order[np.cumsum(expected[order]) < 20]
    often = np.setdiff1d(order, rare)
    if len(rare):
        often, counts, expected = (
            np.arange(len(often) + 1),
            np.append(counts[often], counts[rare].sum()),
            np.append(expected[often], expected[rare].sum()),
        )
    seen, wanted = counts[often], expected[often]
    keep = wanted > 1
    return stats.chi2.sf(((seen - wanted)[keep] ** 2 / wanted[keep]).sum(), keep.sum() - 1)


SCANS = [
    "systematic",
    "reversed",
    "chromatic",
    "shuffled",
    Uniform(4),
    Weighted([1, 2, 0.5], 5),
    [1, 0, 1, 2],
]


def stationary_counts(model, scan, passes):
    """Start every lane from an exact draw, run, and count the lanes' states."""
    states, p, cards = truth(model)
    lanes = 20_000
    first = states[np.random.default_rng(7).choice(len(p), lanes, p=p)]
    engine = general(model, scan=scan, states=first, seed=21)
    engine.advance(passes)
    return np.bincount(np.ravel_multi_index(tuple(engine.states().T), cards), minlength=len(p)), p


@pytest.mark.parametrize("make", [spins, mixed])
@pytest.mark.parametrize("scan", SCANS, ids=str)
def test_a_stationary_start_stays_stationary(make, scan):
    # False alarm: 1e-8 each.
    model = make()
    if isinstance(scan, Weighted) and model.n_variables == 5:
        scan = Weighted([1, 2, 0.5, 1, 1], 5)
    assert misfit(*stationary_counts(model, scan, 3)) > FALSE_ALARM


@pytest.mark.parametrize("make", [spins])
def test_jacobi_leaves_it(make):
    # The test above has the power to see a wrong scan: here it would miss with less than 1e-6.
    assert misfit(*stationary_counts(make(), "jacobi", 3)) < 1e-30


@pytest.mark.parametrize("make", [spins, mixed])
@pytest.mark.parametrize("scan", ["systematic", "uniform"])
def test_random_runs_agree_with_enumeration(make, scan):
    # 64 chains: the mean over chains of each cell is nearly normal, its error known from their
    # spread with 63 degrees of freedom. False alarm: 1e-8 each, shared among the cells.
    model = make()
    states, p, cards = truth(model)
    pairs = [(0, 1), (2, 0)]
    engine = general(model, scan=scan, lanes=64, seed=5, joint=True, pairs=pairs)
    engine.advance(20)
    engine.reset_sums()
    engine.advance(2000)
    visits = engine.visits() if engine.binary else np.repeat(engine.visits(), cards)
    if engine.binary:
        marginals = np.array([p[states[:, i] == 1].sum() for i in range(len(cards))])
    else:
        marginals = np.concatenate(
            [[p[states[:, i] == v].sum() for v in range(k)] for i, k in enumerate(cards)]
        )
    two = np.concatenate(
        [
            [
                p[(states[:, u] == a) & (states[:, v] == b)].sum()
                for a in range(cards[u])
                for b in range(cards[v])
            ]
            for u, v in pairs
        ]
    )
    found = [
        (engine.sums() / visits, marginals),
        (engine.watch.pairs / 2000, two),
        (engine.watch.joint / 2000, p),
    ]
    for each, exact in found:
        assert np.allclose(each.mean(axis=0)[exact == 0], 0, atol=1e-15)
        each, exact = each[:, exact > 0], exact[exact > 0]  # noqa: PLW2901
        error = each.std(axis=0, ddof=1) / 8
        limit = stats.t.isf(FALSE_ALARM / 2 / len(exact), 63)
        assert (np.abs(each.mean(axis=0) - exact) <= limit * error + 1e-9).all()
        assert error.max() < 4e-3  # and the error is small enough to see something


@pytest.mark.parametrize("make", [spins, mixed])
def test_herded_runs_agree_with_enumeration(make):
    # Nothing is random here: the bounds are two to three times what is found.
    model = make()
    _, p, _ = truth(model)
    exact = heeler.exact.marginals(model).array
    for context, marginal, joint in (
        ("neighbours", 4e-4, 1e-3),
        ("full", 4e-4, 1e-3),
        ("shared", 1e-3, 2e-2),
        ("binned(16)", 1e-3, 2e-2),
    ):
        run = heeler.sample(
            model,
            sweeps=20_000,
            driver="herded",
            context=context,
            chains=1,
            keep="joint",
            progress=False,
        )
        assert np.nanmax(np.abs(run.marginals.array - exact)) < marginal
        assert np.abs(run.joint.ravel() - p).sum() / 2 < joint


def test_full_contexts_make_the_joint_converge_like_one_over_t():
    rng = np.random.default_rng(3)
    model = heeler.lattice((2, 3), 0.4, rng.normal(size=(2, 3)) * 0.3).to_ising()
    _, p, _ = truth(model)
    off = []
    for sweeps in (2_000, 200_000):
        run = heeler.sample(
            model, sweeps=sweeps, driver="herded", context="full", chains=1, keep="joint"
        )
        off.append(np.abs(run.joint.ravel() - p).sum() / 2)
    assert off[1] < off[0] / 40
    assert off[1] < 1e-4


def test_quasi_runs_agree_with_enumeration_and_their_shifts_cover():
    # 16 random shifts: a t statistic with 15 degrees of freedom; false alarm 1e-8, shared among the
    # cells.
    for model in (spins(), mixed()):
        exact = heeler.exact.marginals(model).array
        run = heeler.sample(model, sweeps=2**13, driver="quasi", chains=16, seed=2, burn_in=10)
        off, error = np.abs(run.marginals.array - exact), run.errors.array
        known = np.isfinite(exact) & (error > 0)
        assert (off <= stats.t.isf(FALSE_ALARM / 2 / known.sum(), 15) * error + 1e-9)[known].all()
        # And it is why one uses it: random choices would err by more. (One chain's error, by 16
        # chains' spread.)
        random = heeler.sample(model, sweeps=2**13, driver="random", chains=16, seed=2, burn_in=10)
        assert np.nanmean(error) < 0.6 * np.nanmean(random.errors.array)
        assert "shifts" in run.errors.label


def test_error_bars_of_random_runs_cover():
    # 200 runs. If the true coverage of two standard errors is at least 0.87, fewer than 140
    # covering runs have a chance below 1e-8; the mean square error over the mean squared bar is a
    # chi-square over 200, outside [0.55, 1.9] with less than 1e-6 even were the bars 10 % off.
    model = spins()
    exact = heeler.exact.marginals(model).array[:, 1]
    off, bars, means, mean_bars = [], [], [], []
    for seed in range(200):
        keep = {"functions": {"ones": lambda x: x.sum(axis=1)}} if seed < 100 else None
        run = heeler.sample(
            model, sweeps=500, driver="random", seed=seed, burn_in=10, keep=keep, progress=False
        )
        off.append(run.marginals.array[:, 1] - exact)
        bars.append(run.errors.array[:, 1])
        if keep:
            means.append(run.functions["ones"].mean - exact.sum())
            mean_bars.append(float(run.functions["ones"].error))
    off, bars = np.array(off), np.array(bars)
    for i in range(5):
        assert (np.abs(off[:, i]) < 2 * bars[:, i]).sum() >= 140
        assert 0.55 < (off[:, i] ** 2).mean() / (bars[:, i] ** 2).mean() < 1.9
    # The same for the averages of functions: 100 runs, so [0.4, 2.3].
    assert 0.4 < np.mean(np.square(means)) / np.mean(np.square(mean_bars)) < 2.3


def test_spread_of_replicates_is_labelled():
    run = heeler.sample(spins(), sweeps=100, driver="herded")
    assert "not herding's bias" in run.errors.label
    assert np.isfinite(run.errors.array).all()
    alone = heeler.sample(spins(), sweeps=100, driver="herded", chains=1)
    assert np.isnan(alone.errors.array).all()
    assert "one chain" in alone.errors.label


def test_target_error_is_reached():
    run = heeler.sample(spins(), error=2e-3, driver="random", seed=3)
    assert run.errors.max <= 2e-3
    assert run.stats["stopped_by"] == "error"
    again = heeler.sample(spins(), error=2e-3, driver="random", seed=3)
    assert run.stats["sweeps"] == again.stats["sweeps"]


def test_random_first_weights_are_uniform():
    # Kolmogorov-Smirnov: false alarm 1e-8.
    engine = general(spins(), Herded(start="random"), context="neighbours", lanes=40, seed=6)
    weights = engine.plan.memory.weights.ravel() / 2**32
    assert stats.kstest(weights, "uniform").pvalue > FALSE_ALARM
