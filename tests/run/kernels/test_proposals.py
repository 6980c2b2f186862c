"""Moves that a user writes: known distributions, transition matrices, errors, what goes on."""

import math

import numpy as np
import pytest

import heeler
from zoo import ZOO, all_states

MODEL = heeler.factor_graph(
    [3, 2, 4],
    [
        ([0, 1], [[1.0, 2.0], [0.5, 1.0], [3.0, 0.2]]),
        ([1, 2], [[1.0, 2.0, 0.3, 1.0], [0.7, 1.0, 2.5, 0.4]]),
    ],
)


def other_values(x, random):
    """Propose new values of one variable, uniform among all."""
    x = x.copy()
    i = random.integers(3)
    x[i] = random.integers(MODEL.cardinalities[i])
    return x


def downhill(x, random):
    """Propose a lower last value more often than a higher one: not symmetric."""
    x = x.copy()
    if random.random() < 0.3:
        x[:2] = random.integers(MODEL.cardinalities[:2])
    else:
        x[2] = (x[2] + (-1 if random.random() < 0.7 else 1)) % 4
    return x


def downhill_density(new, old):
    """Give log q(new | old) of `downhill`."""
    q = 0.0
    if new[2] == old[2]:
        q += 0.3 / 6
    if (new[:2] == old[:2]).all():
        if (new[2] - old[2]) % 4 == 3:
            q += 0.7 * 0.7
        if (new[2] - old[2]) % 4 == 1:
            q += 0.7 * 0.3
    return math.log(q) if q else -math.inf


PROPOSALS = {
    "symmetric": heeler.Proposal(other_values, steps=2),
    "density": heeler.Proposal(downhill, downhill_density, steps=2),
}


def exact_joint(model):
    """Give the distribution over all states."""
    p = np.exp(model.log_score(all_states(model)))
    return (p / p.sum()).reshape(np.asarray(model.cardinalities))


@pytest.mark.parametrize("name", PROPOSALS)
def test_joint_of_a_discrete_model(name):
    run = heeler.sample(
        MODEL, PROPOSALS[name], sweeps=1500, burn_in=20, chains=4, seed=1, keep=["joint", "pairs"]
    )
    # 6000 states, autocorrelation time below 8, p < .18: errors below .014; five of them.
    assert np.abs(run.joint - exact_joint(MODEL)).max() < 0.07
    exact = heeler.exact.marginals(MODEL)
    for v in range(3):
        assert (np.abs(run.marginals[v] - exact[v]) < 6 * run.errors[v]).all()
    assert np.abs(run.pairs[0, 1] - run.joint.sum(axis=2)).max() < 1e-12
    assert 0 < run.stats["acceptance"] < 1


def test_wrong_densities_show():
    # Called symmetric, a proposal that leans to one side has another distribution: the test above
    # can fail.
    def up(x, random):
        x = x.copy()
        x[2] = max(x[2] - 1, 0) if random.random() < 0.9 else random.integers(4)
        return x

    kernel = heeler.Cycle([heeler.Proposal(up), heeler.Proposal(other_values)])
    run = heeler.sample(MODEL, kernel, sweeps=1000, seed=1, keep="joint")
    assert np.abs(run.joint - exact_joint(MODEL)).max() > 0.1


def test_whole_matrix_is_in_detailed_balance():
    # q's own matrix, and the acceptance that the engine would use, over all pairs of states.
    states = all_states(MODEL)
    q = np.array([[math.exp(downhill_density(new, old)) for new in states] for old in states])
    assert np.abs(q.sum(axis=1) - 1).max() < 1e-12
    pi = exact_joint(MODEL).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        accept = np.minimum(1, pi[None] * q.T / (pi[:, None] * q))
    p = np.where(q > 0, q * accept, 0.0)
    np.fill_diagonal(p, 0.0)
    np.fill_diagonal(p, 1 - p.sum(axis=1))
    assert np.abs(pi @ p - pi).max() < 1e-15
    # The engine's frequencies from one state agree: 5 deviations of 20,000 chains.
    start = 7
    kernel = heeler.Proposal(downhill, downhill_density)
    state = kernel.advance(kernel.init(MODEL, 20_000, 4, states[start]))
    found = np.bincount(
        np.ravel_multi_index(tuple(state.values.T), MODEL.cardinalities), minlength=len(states)
    )
    assert np.abs(found / 20_000 - p[start]).max() < 5 * 0.5 / math.sqrt(20_000)
    assert ((found > 0) <= (p[start] > 0)).all()


def test_binary_models_evidence_and_mixtures():
    def flip(x, random):
        x = x.copy()
        free = [0, 2, 3, 4, 5, 6]
        i = free[random.integers(6)]
        x[i] = 1 - x[i]
        return x

    model = ZOO["ising"](np.random.default_rng(3)).given({1: 1})
    exact = heeler.exact.marginals(model)
    for kernel in (
        heeler.Proposal(flip, steps=7),
        heeler.Mixture([heeler.Proposal(flip), "gibbs"]),
    ):
        run = heeler.sample(model, kernel, sweeps=800, burn_in=50, seed=2)
        for v in range(7):
            assert (np.abs(run.marginals[v] - exact[v]) <= 6 * run.errors[v] + 1e-3).all()
        assert run.marginals[1].tolist() == [0.0, 1.0]


def test_conditionals_of_a_density():
    # A Gaussian pair with correlation .8, given x1 the other is N(.8 x1, 1 - .64).
    def given(j):
        return lambda x, random: 0.8 * x[j] + 0.6 * random.standard_normal()

    density = heeler.Density(lambda x: -(x[0] ** 2 - 1.6 * x[0] * x[1] + x[1] ** 2) / 0.72, 2)
    kernel = heeler.Conditionals({0: given(1), "1": given(0)})
    run = heeler.sample(density, kernel, sweeps=1500, burn_in=50, seed=1, keep="samples")
    assert (np.abs(run.means.array) < 6 * run.errors.array).all()
    assert np.abs(run.deviations.array - 1).max() < 0.1
    assert np.corrcoef(run.samples.reshape(-1, 2).T)[0, 1] == pytest.approx(0.8, abs=0.05)
    assert "acceptance" not in run.stats
    both = heeler.Conditionals({(0, 1): lambda _, random: random.multivariate_normal([0, 0], C)})
    mixed = heeler.sample(density, heeler.Cycle([both, heeler.Walk(0.5)]), sweeps=500, seed=1)
    assert (np.abs(mixed.means.array) < 6 * mixed.errors.array).all()


C = [[1.0, 0.8], [0.8, 1.0]]


def test_mixed_variables_with_conditionals():
    # A label with probabilities .3, .7 and a Gaussian around 3 * label.
    def logp(x):
        return math.log(0.7 if x[0] else 0.3) - 0.5 * (x[1] - 3 * x[0]) ** 2

    def label(x, random):
        odds = 0.7 / 0.3 * math.exp(3 * x[1] - 4.5)
        return float(random.random() < odds / (1 + odds))

    density = heeler.Density(logp, 2, discrete={0: 2})
    kernel = heeler.Cycle([heeler.Conditionals({0: label}), heeler.Slice()])
    run = heeler.sample(density, kernel, sweeps=1500, burn_in=100, seed=1)
    # 6000 states, autocorrelation time below 3: an error of .01; six of them.
    assert run.marginals["0"][1] == pytest.approx(0.7, abs=0.06)
    assert abs(run.means[1] - 2.1) < 6 * run.errors[1]


@pytest.mark.parametrize("name", [*PROPOSALS, "mixture"])
def test_resume_and_files(name, tmp_path):
    kernel = PROPOSALS.get(name) or heeler.Mixture(["gibbs", PROPOSALS["density"]])
    options = {"seed": 3, "chains": 3, "burn_in": 5, "keep": ["samples", "joint"], "thin": 2}
    whole = heeler.sample(MODEL, kernel, sweeps=61, **options)
    run = heeler.sample(MODEL, kernel, sweeps=20, **options)
    run.save(tmp_path / "run.npz")
    loaded = heeler.load(tmp_path / "run.npz", kernel=kernel).resume(sweeps=41)
    for piece in (run.resume(sweeps=30).resume(sweeps=11), loaded):
        assert np.array_equal(piece.samples, whole.samples)
        assert np.array_equal(piece.joint, whole.joint)
        assert np.array_equal(piece.marginals.array, whole.marginals.array, equal_nan=True)
    with pytest.raises(ValueError, match="hand it in again"):
        heeler.load(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="not the one that was saved"):
        heeler.load(tmp_path / "run.npz", kernel=heeler.Proposal(other_values, steps=5))


def test_lanes_do_not_know_each_other():
    kernel = PROPOSALS["density"]
    few, many = (
        heeler.sample(MODEL, kernel, sweeps=20, chains=c, seed=3, keep="samples") for c in (2, 5)
    )
    assert np.array_equal(many.samples[:2], few.samples)


def later(wrong):
    """Propose well for a while, then badly."""

    def propose(x, random):
        return wrong(x) if random.random() < 0.02 else other_values(x, random)

    return propose


WRONG = {
    "nan": (lambda x: x * np.nan, "finite"),
    "out of the domain": (lambda x: x + 5, "left the domain"),
    "negative": (lambda x: x - 5, "left the domain"),
    "fraction": (lambda x: x + 0.5, "left the domain"),
    "shape": (lambda x: x[:2], "shape"),
    "text": (lambda _: "state", "state"),
    "none": (lambda _: None, "state"),
    "raises": (lambda x: x[99], "99"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_proposals_lose_nothing(name):
    wrong, words = WRONG[name]
    kernel = heeler.Proposal(later(wrong))
    with pytest.raises(heeler.SamplingError, match=words) as caught:
        heeler.sample(MODEL, kernel, sweeps=5000, chains=2, seed=1, keep="samples")
    run = caught.value.run
    done = run.stats["sweeps"]
    assert done > 0
    good = heeler.sample(MODEL, kernel, sweeps=done, chains=2, seed=1, keep="samples")
    assert np.array_equal(run.samples, good.samples)


def test_other_errors():
    one = MODEL.given({1: 1})
    with pytest.raises(heeler.SamplingError, match="clamped"):
        heeler.sample(one, heeler.Proposal(other_values), sweeps=500, seed=1)
    bad = {
        "NaN": lambda *_: np.nan,
        "text": lambda *_: "much",
        "impossible": lambda *_: -np.inf,
        "inf": lambda *_: np.inf,
    }
    for density in bad.values():
        with pytest.raises(heeler.SamplingError, match="log_density"):
            heeler.sample(MODEL, heeler.Proposal(other_values, density), sweeps=50, seed=1)
    for make in (
        lambda: heeler.Proposal(3),
        lambda: heeler.Proposal(other_values, 3),
        lambda: heeler.Proposal(other_values, steps=0),
        lambda: heeler.Conditionals({}),
        lambda: heeler.Conditionals({0: 3}),
        lambda: heeler.Conditionals(other_values),
    ):
        with pytest.raises((TypeError, ValueError), match="parameter must"):
            make()
    density = heeler.Density(lambda x: 0.0 if abs(x[0]) < 1 else -np.inf, 1)
    for draw, words in (
        (lambda *_: np.nan, "finite"),
        (lambda *_: [1.0, 2.0], "1 numbers"),
        (lambda *_: 5.0, "support"),
        (lambda *_: "a", "numbers"),
    ):
        with pytest.raises(heeler.SamplingError, match=words):
            heeler.sample(density, heeler.Conditionals({0: draw}), sweeps=5)
    with pytest.raises(ValueError, match="temperature"):
        heeler.sample(density, heeler.Conditionals({0: lambda *_: 0.0}), sweeps=5, temperature=2.0)
    with pytest.raises(ValueError, match="nobody"):
        heeler.sample(density, heeler.Conditionals({"nobody": lambda *_: 0.0}), sweeps=5)
