"""Moves on a user's log density: twins, known distributions, what fails, what goes on."""

import math

import numba
import numpy as np
import pytest
from scipy import stats

import heeler
import naive_density as naive

SEED = 0x9E3779B97F4A7C15
COVARIANCE = np.array([[2.0, 0.9, 0.0], [0.9, 1.0, -0.2], [0.0, -0.2, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)
MEAN = np.array([3.0, -1.0, 100.0])


def gaussian(x):
    """Give the log density of a correlated Gaussian, in an order that a twin can repeat."""
    total = 0.0
    for i in range(3):
        for j in range(3):
            total += (x[i] - MEAN[i]) * PRECISION[i, j] * (x[j] - MEAN[j])
    return -0.5 * total


def mixed(x):
    """Give the log density of a label with three values, and a Gaussian whose place it decides.

    The label has probabilities 0.2, 0.5, 0.3.
    """
    k = int(x[0])
    weight = 0.2 if k == 0 else 0.5 if k == 1 else 0.3
    off = x[1] - 2.0 * k
    return math.log(weight) - 0.5 * off * off


COMPILED = numba.njit(gaussian)
STEPS = [1.1, 0.7, 0.4]
ROOT = np.linalg.cholesky(1.3 * COVARIANCE)

MOVES = {
    "walk": (heeler.Walk(STEPS), lambda c: c.walk(STEPS)),
    "slice": (heeler.Slice(STEPS), lambda c: c.slices(STEPS)),
    "global": (
        heeler.Global(MEAN, 1.3 * COVARIANCE),
        lambda c: c.propose(MEAN.tolist(), ROOT.tolist()),
    ),
}


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("name", MOVES)
def test_equals_slow_twin(name, compiled):
    kernel, move = MOVES[name]
    start = np.array([[3.0, 0.0, 99.5], [1.0, -2.0, 101.0]])
    density = heeler.Density(COMPILED if compiled else gaussian, 3)
    run = heeler.sample(
        density, kernel, sweeps=40, chains=2, seed=SEED, init=start, keep="samples",
        temperature=1.7, threads=2,
    )  # fmt: skip
    chains = [naive.Chain(gaussian, x, SEED, lane, 1 / 1.7) for lane, x in enumerate(start)]
    for t in range(40):
        for lane, chain in enumerate(chains):
            chain.advance(move, 1)
            assert run.samples[lane, t].tolist() == chain.x
            assert run.log_scores[lane, t] == chain.score
    assert run.stats["evaluations"] == sum(chain.evaluations for chain in chains)
    if name != "slice":
        assert run.stats["accepted"] == sum(chain.accepted for chain in chains)
    off = np.array([c.sums for c in chains]) + 40 * (start - start[0])
    assert np.allclose(run.means.array, start[0] + off.mean(axis=0) / 40, atol=1e-12)


@pytest.mark.parametrize("driver", ["gibbs", "metropolis"])
def test_discrete_variables_equal_slow_twin(driver):
    density = heeler.Density(mixed, 2, discrete={0: 3})
    kernel = heeler.Cycle([heeler.SingleSite(driver)])
    run = heeler.sample(density, kernel, sweeps=60, chains=2, seed=5, keep="samples", init=[1, 1.3])
    from heeler.run.kernels.composite import part_seed

    for lane in range(2):
        chain = naive.Chain(mixed, [1.0, 1.3], part_seed(5, 0), lane)
        for t in range(60):
            chain.advance(lambda c: (c.gibbs if driver == "gibbs" else c.flip)({0: 3}), 1)
            assert run.samples[lane, t].tolist() == chain.x
            assert run.log_scores[lane, t] == chain.score
    count = np.array([(run.samples[:, :, 0] == v).mean() for v in range(3)])
    assert np.allclose(run.marginals["0"], count, atol=1e-12)


KERNELS = {
    "walk": heeler.Walk(),
    "slice": heeler.Slice(),
    "global": heeler.Global(MEAN, 1.3 * COVARIANCE),
    "mixture": heeler.Mixture([heeler.Global(MEAN, 2 * COVARIANCE), heeler.Walk(0.8)], [0.3, 0.7]),
    "cycle": heeler.Cycle([heeler.Slice(variables=[0]), heeler.Walk(variables=[1, 2])]),
}


@pytest.mark.parametrize("name", KERNELS)
def test_moments_of_a_gaussian(name):
    density = heeler.Density(COMPILED, 3, start=MEAN)
    run = heeler.sample(
        density, KERNELS[name], sweeps=30_000, burn_in=2000, chains=8, seed=1,
        keep={"functions": {"xy": lambda x: (x[:, 0] - MEAN[0]) * (x[:, 1] - MEAN[1])}}, thin=10,
    )  # fmt: skip
    # Errors are from 15 batches in 8 chains: six of them is passed by chance in less than 1e-8.
    assert (np.abs(run.means.array - MEAN) <= 6 * run.errors.array).all()
    assert np.abs(run.deviations.array / np.sqrt(np.diag(COVARIANCE)) - 1).max() < 0.05
    average = run.functions["xy"]
    assert abs(average.mean - COVARIANCE[0, 1]) < 6 * average.error
    assert run.errors.max < 0.06
    assert run.best.log_score > -0.05
    assert run.means[0] == run.means.array[0]


def test_start_at_stationarity_and_stay():
    # Exact draws, moved: a wrong acceptance shows within a few passes. Kolmogorov and Smirnov's
    # test of 4000 independent chains, three variables and five kernels: 15 p-values above 1e-7.
    rng = np.random.default_rng(7)
    start = rng.multivariate_normal(MEAN, COVARIANCE, 4000)
    density = heeler.Density(COMPILED, 3)
    for kernel in (*[k for k, _ in MOVES.values()], KERNELS["mixture"], KERNELS["cycle"]):
        state = kernel.advance(kernel.init(density, 4000, 3, start), 7)
        for i in range(3):
            scale = math.sqrt(COVARIANCE[i, i])
            assert stats.kstest(state.values[:, i], "norm", (MEAN[i], scale)).pvalue > 1e-7
        assert (state.values != start).any(axis=1).mean() > 0.3


def test_two_modes_need_global_proposals():
    # The notes' combined sampler: a walk stays in one mode, a mixture with global proposals visits
    # both. Modes at -10 and 10 with weights 1/4 and 3/4.
    @numba.njit
    def logp(x):
        low, high = -0.5 * (x[0] + 10) ** 2, -0.5 * (x[0] - 10) ** 2
        return np.logaddexp(low, np.log(3.0) + high)

    density = heeler.Density(logp, 1, start=[-10.0])
    options = {"sweeps": 40_000, "chains": 4, "seed": 2}
    stuck = heeler.sample(density, heeler.Walk(1.0), **options)
    assert stuck.means[0] < -9
    kernel = heeler.Mixture([heeler.Global(0.0, 100.0), heeler.Walk(1.0)], [0.2, 0.8])
    run = heeler.sample(density, kernel, **options)
    assert abs(run.means[0] - 5.0) < 6 * run.errors[0]
    assert run.errors[0] < 0.5
    first, second = run.stats["parts"]
    assert first["passes"] + second["passes"] == 40_000
    assert abs(first["passes"] / 40_000 - 0.2) < 0.012  # six standard deviations
    assert 0 < first["acceptance"] < second["acceptance"] < 1


def test_mixed_variables():
    density = heeler.Density(numba.njit(mixed), 2, discrete={"label": 3}, names=["label", "place"])
    mean = 2 * (0.5 + 2 * 0.3)
    for kernel in (
        None,
        "metropolis",
        heeler.Mixture(["gibbs", heeler.Walk(1.5)]),
        "mixture(slice: 1, cycle(walk, metropolis): 1)",
    ):
        run = heeler.sample(density, kernel, sweeps=5000, burn_in=500, chains=8, seed=4)
        # 40,000 states with an autocorrelation time below 30: errors below .014; six of them.
        assert np.abs(run.marginals["label"] - [0.2, 0.5, 0.3]).max() < 0.084
        assert abs(run.means["place"] - mean) < 6 * run.errors["place"]
        assert sorted(run.best.values) == ["label", "place"]
        assert run.best.values["label"] == 1.0


def test_adaptation_ends_with_the_burn_in():
    scales = np.array([0.01, 1.0, 50.0])

    @numba.njit
    def logp(x):
        return -0.5 * ((x / scales) ** 2).sum()

    density = heeler.Density(logp, 3)
    run = heeler.sample(density, heeler.Walk(), sweeps=4000, burn_in=8000, chains=4, seed=1)
    assert run.stats["acceptance"] == pytest.approx(0.234 + 0.206 / 3, abs=0.06)
    ratio = np.array(run.stats["step"]) / scales
    assert ratio.max() / ratio.min() < 2
    # The notes' rule of thumb: (L / step)^2 / acceptance, with L the standard deviation.
    thumb = (run.deviations.array / run.stats["step"]).max() ** 2 / run.stats["acceptance"]
    assert run.stats["rule_of_thumb"] == pytest.approx(thumb, rel=1e-9)
    longer = run.resume(sweeps=1000)
    assert longer.stats["step"] == run.stats["step"]
    # Without burn-in nothing is adapted, and a step of one's own stays as it is.
    plain = heeler.sample(density, heeler.Walk(), sweeps=100, chains=4, seed=1)
    assert plain.stats["step"] == [2.38 / math.sqrt(3)] * 3
    own = heeler.sample(density, heeler.Walk(0.5), sweeps=10, burn_in=1000, chains=4, seed=1)
    assert own.stats["step"] == [0.5] * 3
    widths = heeler.sample(density, heeler.Slice(), sweeps=100, burn_in=1000, seed=1).stats["step"]
    ratio = np.array(widths) / scales
    assert ratio.max() / ratio.min() < 3


def numbers(run):
    """Collect all numbers of a run."""
    return {
        "means": run.means.array,
        "deviations": run.deviations.array,
        "errors": run.errors.array,
        "best": run.best.state,
        "trace": run.log_scores,
        "samples": run.samples,
        "accepted": [p.get("accepted", 0) for p in run.stats.get("parts", [run.stats])],
    }


@pytest.mark.parametrize("name", KERNELS)
def test_resume_pieces_threads_and_files(name, tmp_path):
    density = heeler.Density(COMPILED, 3, start=MEAN)
    options = {"seed": 11, "chains": 3, "burn_in": 150, "keep": "samples", "thin": 3}
    whole = numbers(heeler.sample(density, KERNELS[name], sweeps=201, threads=1, **options))
    run = heeler.sample(density, KERNELS[name], sweeps=50, threads=2, **options)
    run.save(tmp_path / "run.npz")
    pieces = {
        "resumed": run.resume(sweeps=100).resume(sweeps=51),
        "loaded": heeler.load(tmp_path / "run.npz", model=density).resume(sweeps=151),
        "plain": heeler.sample(
            heeler.Density(gaussian, 3, start=MEAN), KERNELS[name], sweeps=201, **options
        ),
    }
    for name_of_piece, piece in pieces.items():
        for key, value in numbers(piece).items():
            assert np.array_equal(value, whole[key]), (name_of_piece, key)
    with pytest.raises(ValueError, match="hand that density in"):
        heeler.load(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="hand that density in"):
        heeler.load(tmp_path / "run.npz", model=heeler.Density(gaussian, 4))


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("name", ["walk", "slice", "mixture"])
def test_a_density_that_raises_loses_nothing(name, compiled, tmp_path):
    def logp(x):
        if x[0] > 6.8:
            raise ZeroDivisionError("too far")
        return gaussian_of_all(x)

    def gaussian_of_all(x):
        return -0.5 * ((x[0] - 3.0) ** 2 + x[1] ** 2 + x[2] ** 2)

    if compiled:
        gaussian_of_all = numba.njit(gaussian_of_all)
        logp = numba.njit(logp)
    density = heeler.Density(logp, 3, start=[3.0, 0.0, 0.0])
    kernel = {
        "walk": heeler.Walk(0.8),
        "slice": heeler.Slice(0.7),
        "mixture": heeler.Mixture([heeler.Walk(0.8), heeler.Slice(0.7)]),
    }[name]
    path = tmp_path / "run.npz"
    with pytest.raises(heeler.SamplingError, match="too far") as caught:
        heeler.sample(
            density, kernel, sweeps=10**6, chains=3, seed=1, keep="samples", checkpoint=path
        )
    run = caught.value.run
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert run.stats["stopped_by"] == "failure"
    done = run.stats["sweeps"]
    assert done > 5
    whole = heeler.sample(
        heeler.Density(gaussian_of_all, 3, start=[3.0, 0.0, 0.0]), kernel,
        sweeps=done, chains=3, seed=1, keep="samples",
    )  # fmt: skip
    assert np.array_equal(run.samples, whole.samples)
    assert np.array_equal(run.means.array, whole.means.array)
    saved = heeler.load(path, model=density)
    assert np.array_equal(saved.samples, run.samples)
    with pytest.raises(heeler.SamplingError):  # it would happen again
        run.resume(sweeps=1000)
    state = kernel.init(density, 3, 1)
    with pytest.raises(ZeroDivisionError):
        kernel.advance(state, done + 5)
    assert state.passes == done
    assert np.array_equal(state.values, run.samples[:, -1])


@pytest.mark.parametrize(
    ("logp", "word"),
    [
        (lambda x: np.nan if x[0] > 1 else 0.0, "NaN"),
        (lambda x: np.inf if x[0] > 1 else 0.0, r"\+infinity"),
    ],
)
def test_a_density_that_is_no_number(logp, word):
    for function in (logp, numba.njit(logp)):
        density = heeler.Density(function, 2)
        with pytest.raises(heeler.SamplingError, match=word) as caught:
            heeler.sample(density, heeler.Walk(0.5), sweeps=10_000, seed=1)
        assert caught.value.run.stats["sweeps"] > 0


def test_the_support_is_kept():
    density = heeler.Density(lambda x: 0.0 if 0 <= x[0] <= 1 else -np.inf, 1, start=[0.5])
    for kernel in ("walk", "slice"):
        run = heeler.sample(density, kernel, sweeps=1500, burn_in=200, seed=1, keep="samples")
        assert run.samples.min() >= 0
        assert run.samples.max() <= 1
        # Uniform on (0, 1): six errors, and a spread of 1 / sqrt(12).
        assert abs(run.means[0] - 0.5) < 6 * run.errors[0]
        assert run.deviations[0] == pytest.approx(12**-0.5, rel=0.1)


def flat(x):
    return -float(x @ x)


BAD = {
    "logp": (lambda: heeler.Density(3, 2), "logp"),
    "dim": (lambda: heeler.Density(flat, 0), "dim"),
    "dim text": (lambda: heeler.Density(flat, "2"), "dim"),
    "names": (lambda: heeler.Density(flat, 2, names=["a"]), "names"),
    "discrete": (lambda: heeler.Density(flat, 2, discrete=[2, 0]), "discrete"),
    "discrete values": (lambda: heeler.Density(flat, 2, discrete={0: 0}), "discrete"),
    "discrete nobody": (lambda: heeler.Density(flat, 2, discrete={5: 2}), "5"),
    "start": (lambda: heeler.Density(flat, 2, start=[1.0]), "start"),
    "start nan": (lambda: heeler.Density(flat, 2, start=[1.0, np.nan]), "start"),
    "start value": (lambda: heeler.Density(flat, 2, discrete={0: 2}, start=[2, 0]), "start"),
    "step": (lambda: heeler.Walk(0.0), "step"),
    "step nan": (lambda: heeler.Walk([1.0, np.nan]), "step"),
    "acceptance": (lambda: heeler.Walk(acceptance=1.5), "acceptance"),
    "width": (lambda: heeler.Slice(-1), "width"),
    "covariance": (lambda: heeler.Global(0.0, -1.0), "covariance"),
    "variables": (lambda: heeler.Walk(variables=1.5), "variables"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    make, word = BAD[name]
    with pytest.raises((ValueError, TypeError), match=word):
        make()


BAD_RUNS = {
    "steps": ({"kernel": heeler.Walk([1.0, 2.0, 3.0])}, "step"),
    "widths": ({"kernel": heeler.Slice([1.0, 2.0, 3.0])}, "width"),
    "mean": ({"kernel": heeler.Global([0.0, 0.0, 0.0])}, "mean"),
    "indefinite": ({"kernel": heeler.Global(0.0, [[1.0, 2.0], [2.0, 1.0]])}, "covariance"),
    "variables": ({"kernel": heeler.Walk(variables=["nobody"])}, "nobody"),
    "twice": ({"kernel": heeler.Walk(variables=[0, 0])}, "variables"),
    "gibbs": ({"kernel": "gibbs"}, "conditionals"),
    "name": ({"kernel": "modified"}, "kernel"),
    "discrete part": ({"kernel": heeler.Cycle(["gibbs"])}, "discrete"),
    "driver": ({"driver": "random"}, "driver"),
    "scan": ({"kernel": heeler.Walk(), "scan": "shuffled"}, "scan"),
    "evidence": ({"evidence": {0: 1}}, "evidence"),
    "pairs": ({"keep": "pairs"}, "keep"),
    "joint": ({"keep": "joint"}, "keep"),
    "init": ({"init": [0.0]}, "init"),
    "init nan": ({"init": [0.0, np.nan]}, "init"),
}


@pytest.mark.parametrize("name", BAD_RUNS)
def test_bad_runs(name):
    options, word = BAD_RUNS[name]
    with pytest.raises((ValueError, TypeError), match=word):
        heeler.sample(heeler.Density(flat, 2), sweeps=1, **options)


def test_bad_functions_and_models():
    with pytest.raises(ValueError, match="init"):
        heeler.sample(heeler.Density(lambda _: -np.inf, 2), sweeps=1)
    with pytest.raises(TypeError, match="logp"):
        heeler.sample(heeler.Density(lambda _: "text", 2), sweeps=1)
    with pytest.raises(ValueError, match="Density"):
        heeler.sample(heeler.lattice((2, 2), 0.1), heeler.Walk(), sweeps=1)
    with pytest.raises(ValueError, match="kernel"):
        heeler.SingleSite().init(heeler.Density(flat, 2))
