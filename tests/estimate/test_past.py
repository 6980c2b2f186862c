"""Exact draws: against enumeration, the same words when doubling, clear refusals."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

import heeler
from heeler.estimate import past
from heeler.estimate.chains import coupled_settings
from heeler.estimate.monotone import attractive_signs

DRAWS = 20_000
HARD = [[1.0, 1.0], [1.0, 0.0]]
RNG = np.random.default_rng(8)

WEIGHTS = np.abs(np.triu(RNG.normal(size=(5, 5)), 1))


def supermodular(size):
    """Make a random log table that is attractive: a convex function of the number of ones."""
    ones = np.indices((2,) * size).sum(axis=0)
    return 0.3 * ones**2 + 0.4 * np.tensordot(
        RNG.normal(size=size), np.indices((2,) * size), axes=1
    )


MODELS = {
    "ising": heeler.ising(
        [(0, 1, 0.5), (1, 2, -0.4), (2, 3, 0.3), (3, 0, -0.2)], [0.1, -0.3, 0.2, 0]
    ),
    "lattice": heeler.lattice((3, 3), coupling=0.4, field=-0.1),
    "repelling lattice": heeler.lattice((2, 4), coupling=-0.5, field=0.2),
    "boltzmann": heeler.boltzmann(WEIGHTS + WEIGHTS.T, RNG.normal(size=5)),
    "rbm": heeler.rbm(np.abs(RNG.normal(size=(3, 3))), RNG.normal(size=3), RNG.normal(size=3)),
    "factors": heeler.factor_graph(
        [2] * 5, [((0, 1, 2), supermodular(3)), ((1, 2, 3, 4), supermodular(4))], log=True
    ),
    "many neighbours": heeler.factor_graph(
        [2] * 10, [((0, k), [[0.3, -0.3], [-0.3, 0.3]]) for k in range(1, 10)], log=True
    ),
    "evidence": heeler.lattice((3, 3), coupling=0.4).given({4: 1, 0: 0}),
    "hard core": heeler.factor_graph([2] * 6, [((i, (i + 1) % 6), HARD) for i in range(6)]),
}  # fmt: skip


def false_alarm(draws, model, temperature=1.0):
    """Give the p-value of the chi-square test of the draws against enumeration."""
    joint = heeler.exact.enumerate(model).ravel() ** (1 / temperature)
    joint /= joint.sum()
    counts = np.zeros(len(joint))
    number = np.ravel_multi_index(draws.states.T, (2,) * model.n_variables)
    np.add.at(counts, number, 1)
    assert counts[joint == 0].sum() == 0
    # States that are too rare for the test's approximation count together.
    rare = joint * len(draws) < 5
    expected = np.append(joint[~rare], joint[rare].sum()) * len(draws)
    seen = np.append(counts[~rare], counts[rare].sum())
    keep = expected > 0
    return chi2.sf(((seen - expected)[keep] ** 2 / expected[keep]).sum(), keep.sum() - 1)


@pytest.mark.parametrize("name", MODELS)
def test_draws_have_the_models_distribution(name):
    """False alarm rate 1e-7 for each model, 1e-6 for all."""
    draws = heeler.exact_draws(MODELS[name], DRAWS, seed=3)
    assert false_alarm(draws, MODELS[name]) > 1e-7
    if MODELS[name].evidence is not None:
        assert (draws.states[:, [0, 4]] == [0, 1]).all()


@pytest.mark.parametrize("scan", ["uniform", [3, 1, 0, 2, 1]])
def test_every_scan_gives_the_same_distribution(scan):
    """False alarm rate 1e-7 for each scan."""
    draws = heeler.exact_draws(MODELS["ising"], DRAWS, seed=4, scan=scan)
    assert false_alarm(draws, MODELS["ising"]) > 1e-7


def test_temperature():
    draws = heeler.exact_draws(MODELS["ising"], DRAWS, seed=5, temperature=2.0)
    assert false_alarm(draws, MODELS["ising"], 2.0) > 1e-7
    assert false_alarm(draws, MODELS["ising"], 1.0) < 1e-7  # the test can tell


def test_the_lattice_engine_draws_exactly_too():
    """A strip of 4 x 256 sites, which the rows' engine runs and a junction tree solves.

    The mean of 1000 products of neighbours, each from its own draw, within 5.4 standard errors:
    false alarm rate 1e-7.
    """
    strip = heeler.lattice((4, 256), coupling=0.35, field=0.05)
    draws = heeler.exact_draws(strip, 200, seed=6)
    products = []
    exact = 0.0
    places = [(512 + 50 * k, 513 + 50 * k) for k in range(5)]
    pairs = heeler.exact.pairs(strip, places)
    for i, j in places:
        products.append((draws.states[:, i] == draws.states[:, j]) * 2.0 - 1.0)
        table = pairs[i, j]
        exact += (table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0]) / len(places)
    seen = np.mean(products, axis=0)
    assert abs(seen.mean() - exact) <= 5.4 * seen.std(ddof=1) / np.sqrt(len(seen))


@pytest.mark.parametrize("model", [MODELS["lattice"], heeler.lattice((32, 32), coupling=0.2)])
def test_doubling_reads_the_same_words(model):
    """Where a lane begins in the past does not change its draw, once its chains have met."""
    settings = coupled_settings(model, "auto", 1.0, 16, 77)
    signs = attractive_signs(model)
    bounds = np.stack([np.zeros(model.n_variables), np.ones(model.n_variables)]).astype(np.uint8)
    first, met = past._draw_block(model, settings, bounds, signs, 1, 1 << 12, 1)
    for back in (3, 100):
        again, _ = past._draw_block(model, settings, bounds, signs, back, 1 << 12, 2)
        assert (again == first).all()
    assert len(np.unique(met)) > 1


def test_draws_do_not_depend_on_threads_or_on_how_many_are_asked_for():
    model = heeler.lattice((40, 30), coupling=0.3)
    many = heeler.exact_draws(model, 40, seed=9, threads=2)
    few = heeler.exact_draws(model, 11, seed=9, threads=1)
    assert (many.states[:11] == few.states).all()
    assert len(np.unique(many.states, axis=0)) == 40
    other = heeler.exact_draws(model, 11, seed=10)
    assert (other.states != few.states).any()


def test_flipped_variables_are_told():
    draws = heeler.exact_draws(MODELS["repelling lattice"], 2)
    assert len(draws.flipped) == 4
    assert "flipped" in repr(draws)
    assert "32" not in repr(heeler.exact_draws(MODELS["ising"], 0))


def test_impossible_extremes_are_refused():
    """Equal variables attract, but single updates never move them: the chains would not meet."""
    equal = heeler.factor_graph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    with pytest.raises(heeler.NotCoalesced, match="had not met after 64"):
        heeler.exact_draws(equal, 3, most_sweeps=64)
    # The highest state is forbidden: a chain cannot start there.
    corner = heeler.factor_graph(
        [2] * 3, [((0, 1, 2), np.where(np.indices((2,) * 3).sum(axis=0) == 3, 0.0, 1.0))]
    )
    with pytest.raises(heeler.NotMonotone):
        heeler.exact_draws(corner, 1)


def test_cold_models_do_not_return_what_would_be_biased():
    cold = heeler.lattice((24, 24), coupling=1.0)
    with pytest.raises(heeler.NotCoalesced, match="most_sweeps"):
        heeler.exact_draws(cold, 1, most_sweeps=32)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": -1}, ValueError, "'n'"),
        ({"n": 1.5}, (TypeError, ValueError), "'n'"),
        ({"seed": -1}, ValueError, "'seed'"),
        ({"most_sweeps": 0}, ValueError, "'most_sweeps'"),
        ({"scan": "jacobi"}, ValueError, "'scan'"),
        ({"temperature": [1.0, 2.0]}, ValueError, "'temperature'"),
        ({"temperature": 0.0}, ValueError, "'temperature'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        heeler.exact_draws(MODELS["ising"], **options)


def test_bad_models():
    with pytest.raises(TypeError, match="'model'"):
        heeler.exact_draws("model")
    with pytest.raises(heeler.NotMonotone):
        heeler.exact_draws(
            heeler.ising([(i, j, -1.0) for i, j in itertools.combinations(range(3), 2)])
        )
    with pytest.raises(ValueError, match="clamped"):
        heeler.exact_draws(heeler.ising([(0, 1, 0.1)]).given({0: 1, 1: 1}))
