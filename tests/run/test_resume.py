"""A run resumed, saved and loaded, or one of a list has the numbers of a run alone, unbroken."""

import numpy as np
import pytest

import heeler
from heeler.run.sample import model_seeds
from loop_models import make, symmetric

FUNCTIONS = {"ones": lambda x: (x == 1).sum(axis=1), "two": lambda x: x[:, :2].astype(float)}


def numbers(run):
    """Collect all numbers of a run."""
    found = {
        "marginals": run.marginals.array,
        "errors": run.errors.array,
        "best": run.best.state,
        "best score": run.best.log_score,
        "trace": run.log_scores,
        "trace passes": run.log_score_passes,
        "sweeps": run.stats["sweeps"],
    }
    found |= {f"pair {pair}": run.pairs[pair] for pair in run.pairs}
    for name, average in run.functions.items():
        found |= {f"mean {name}": average.mean, f"error {name}": average.error}
    if run.joint is not None:
        found["joint"] = run.joint
    if run.__dict__.get("_kept") is not None:
        found["samples"] = run.samples
    return {name: np.array(value) for name, value in found.items()}


def assert_same(first, second):
    """Compare all numbers, bit for bit."""
    first, second = numbers(first), numbers(second)
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert np.array_equal(value, second[name], equal_nan=True), name


CASES = {
    "random": (
        "couplings",
        {"driver": "random", "keep": ["samples", "pairs", "joint"], "thin": 3, "burn_in": 7},
    ),
    "functions": (
        "couplings",
        {"driver": "random", "keep": {"functions": FUNCTIONS}, "thin": 2, "burn_in": 3},
    ),
    "herded": (
        "couplings",
        {"driver": "herded", "keep": {"functions": FUNCTIONS, "pairs": True}, "burn_in": 5},
    ),
    "full": ("couplings", {"driver": "herded", "context": "full", "keep": "joint"}),
    "schedule": ("couplings", {"driver": "random", "temperature": np.geomspace(4, 0.5, 70)}),
    "weighted": (
        "couplings",
        {"driver": "random", "scan": heeler.scan.Weighted([1, 2, 3, 1, 0, 1, 1], 9)},
    ),
    "restart": ("couplings", {"driver": "random", "restart": True, "scan": [0, 1, 3, 4, 5, 0]}),
    "greedy": ("couplings", {"driver": "greedy"}),
    "metropolis": ("couplings", {"kernel": "metropolis", "burn_in": 7}),
    "modified": ("factors", {"kernel": "modified", "keep": "samples", "burn_in": 4}),
    "mixture": (
        "couplings",
        {
            "kernel": heeler.Mixture(["gibbs", "metropolis"], [1, 3]),
            "keep": ["samples", "pairs", "joint"],
            "thin": 3,
            "burn_in": 7,
            "temperature": np.geomspace(4, 0.5, 70),
        },
    ),
    "cycle": (
        "couplings",
        {
            "kernel": heeler.Cycle(
                [
                    heeler.SingleSite("herded", context="full"),
                    heeler.Mixture(["gibbs", heeler.SingleSite("metropolis", "uniform")]),
                ],
                repeats=[2, 1],
            ),
            "keep": {"functions": FUNCTIONS},
        },
    ),
    "dense": ("dense", {"driver": "herded", "context": "binned(8)"}),
    "factors": ("factors", {"driver": "herded", "burn_in": 4, "keep": "samples"}),
    "lattice": (
        None,
        {"driver": "random", "keep": {"functions": FUNCTIONS, "samples": True}, "thin": 5},
    ),
    "herded lattice": (None, {"driver": "herded", "burn_in": 9}),
}


def model_of(name):
    """Make the model of a case; models with zeros warn of probabilities that came out as 0."""
    kind = CASES[name][0]
    if kind is None:
        return heeler.lattice((6, 6), 0.3, 0.1)
    if kind == "factors":
        rng = np.random.default_rng(3)
        return heeler.factor_graph(
            [3, 2, 4], [([0, 1], rng.random((3, 2)) + 0.1), ([1, 2], rng.random((2, 4)) + 0.1)]
        )
    return make(kind)[0].given({2: 1})


@pytest.mark.parametrize("name", CASES)
def test_resume_equals_the_unbroken_run(name, tmp_path):
    model, options = model_of(name), CASES[name][1] | {"seed": 11, "chains": 3}
    whole = heeler.sample(model, sweeps=101, **options)
    for cuts in ((1, 100), (50, 51), (64, 1, 36)):
        run = heeler.sample(model, sweeps=cuts[0], **options)
        for more in cuts[1:]:
            run = run.resume(sweeps=more)
        assert_same(run, whole)
    # Through a file, with whatever functions there are handed in again.
    run = heeler.sample(model, sweeps=40, **options)
    before = numbers(run)
    run.save(tmp_path / "run.npz")
    functions = FUNCTIONS if run.functions else None
    loaded = heeler.load(tmp_path / "run.npz", **({"functions": functions} if functions else {}))
    for key, value in numbers(loaded).items():
        assert np.array_equal(value, before[key], equal_nan=True), key
    assert_same(loaded.resume(sweeps=61), whole)


def test_a_resumed_run_leaves_the_old_one_alone():
    model = model_of("random")
    run = heeler.sample(model, sweeps=30, driver="random", keep=["samples", "pairs"], seed=1)
    before = numbers(run)
    longer = run.resume(sweeps=30)
    assert run.samples.shape[1] == 30
    assert longer.samples.shape[1] == 60
    for key, value in numbers(run).items():
        assert np.array_equal(value, before[key], equal_nan=True), key
    with pytest.raises(ValueError, match="continued already"):
        run.resume(sweeps=1)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_show(threads):
    model = heeler.ising(symmetric(np.random.default_rng(0), 40, 0.1), np.linspace(-1, 1, 40))
    for driver in ("random", "herded"):
        run = heeler.sample(
            model, sweeps=3000, driver=driver, chains=5, seed=3, threads=threads, keep="pairs"
        )
        alone = heeler.sample(
            model, sweeps=3000, driver=driver, chains=5, seed=3, threads=1, keep="pairs"
        )
        assert_same(run, alone)


def test_another_seed_shows():
    model = model_of("random")
    runs = [
        heeler.sample(model, sweeps=50, driver=d, seed=s)
        for d in ("random", "herded")
        for s in (1, 2)
    ]
    assert not np.array_equal(runs[0].marginals.array, runs[1].marginals.array)
    assert not np.array_equal(runs[2].marginals.array, runs[3].marginals.array)


def listed():
    """Make lists of models that may share a loop, and one that may not."""
    rng = np.random.default_rng(6)
    binary = [heeler.ising(symmetric(rng, n, 0.6), rng.normal(size=n)) for n in (2, 5, 3)]
    chains = [
        heeler.chain(rng.normal(size=(n, 3)), rng.normal(size=(n - 1, 3, 3))) for n in (2, 6, 4)
    ]
    return {
        "binary": binary,
        "chains": chains,
        "mixed": [binary[1], chains[1], heeler.boltzmann(symmetric(rng, 4, 1.0))],
    }


@pytest.mark.parametrize("kind", ["binary", "chains", "mixed"])
@pytest.mark.parametrize("driver", ["random", "herded", "greedy"])
def test_a_list_gives_what_its_models_give_alone(kind, driver):
    models = listed()[kind]
    models[1] = models[1].given({1: 0})
    runs = heeler.sample(models, sweeps=60, driver=driver, seed=9, chains=2, burn_in=5)
    assert len(runs) == len(models)
    for model, run, seed in zip(models, runs, model_seeds(9, len(models)), strict=True):
        alone = heeler.sample(model, sweeps=60, driver=driver, seed=seed, chains=2, burn_in=5)
        assert run.settings["seed"] == seed
        assert np.array_equal(run.marginals.array, alone.marginals.array, equal_nan=True)
        assert np.array_equal(run.best.state, alone.best.state)
        if driver == "herded":
            assert np.array_equal(run.errors.array, alone.errors.array, equal_nan=True)
        again = heeler.sample(models, sweeps=60, driver=driver, seed=9, chains=2, burn_in=5)
        assert np.array_equal(again[0].marginals.array, runs[0].marginals.array)


def test_several_evidence_sets():
    model = listed()["binary"][1]
    sets = [{0: 1}, {0: 0, 3: 1}, {}]
    runs = heeler.sample(model, sweeps=40, driver="random", evidence=sets, seed=4)
    for evidence, run, seed in zip(sets, runs, model_seeds(4, 3), strict=True):
        alone = heeler.sample(model, sweeps=40, driver="random", evidence=evidence, seed=seed)
        assert np.array_equal(run.marginals.array, alone.marginals.array)
        for variable, value in evidence.items():
            assert run.marginals[variable][value] == 1.0
