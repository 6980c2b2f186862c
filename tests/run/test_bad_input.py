"""A user's mistake is said at once, with the parameter's name; what is trivial is answered."""

import numpy as np
import pytest

import heeler
from heeler.driver import Binned, Herded, Radius
from heeler.scan import Uniform, Weighted

NAN, INF = float("nan"), float("inf")


def spins(n=4):
    """Make a ring of named-by-number spins."""
    weights = np.zeros((n, n))
    for i in range(n):
        weights[i, (i + 1) % n] = weights[(i + 1) % n, i] = 0.3
    return heeler.ising(weights, np.linspace(-0.5, 0.5, n))


def hard():
    """Make two variables that must agree."""
    return heeler.factor_graph([2, 2], [([0, 1], [[1.0, 0.0], [0.0, 3.0]])])


WRONG = {
    "how long": ({}, "sweeps"),
    "sweeps 0": ({"sweeps": 0}, "sweeps"),
    "sweeps negative": ({"sweeps": -5}, "sweeps"),
    "sweeps float": ({"sweeps": 2.5}, "sweeps"),
    "sweeps bool": ({"sweeps": True}, "sweeps"),
    "sweeps text": ({"sweeps": "10"}, "sweeps"),
    "sweeps huge": ({"sweeps": 1 << 64}, "sweeps"),
    "seconds 0": ({"seconds": 0}, "seconds"),
    "seconds nan": ({"seconds": NAN}, "seconds"),
    "seconds inf": ({"seconds": INF}, "seconds"),
    "seconds text": ({"seconds": "1"}, "seconds"),
    "seconds list": ({"seconds": [1, 2]}, "seconds"),
    "error negative": ({"error": -0.1}, "error"),
    "error nan": ({"error": NAN}, "error"),
    "error that a greedy run never knows": ({"error": 0.1, "driver": "greedy"}, "error"),
    "error that one herded chain never knows": (
        {"error": 0.1, "driver": "herded", "chains": 1},
        "error",
    ),
    "burn_in negative": ({"sweeps": 1, "burn_in": -1}, "burn_in"),
    "burn_in nan": ({"sweeps": 1, "burn_in": NAN}, "burn_in"),
    "thin 0": ({"sweeps": 1, "thin": 0}, "thin"),
    "chains 0": ({"sweeps": 1, "chains": 0}, "chains"),
    "chains huge": ({"sweeps": 1, "chains": 1 << 50}, "chains"),
    "seed negative": ({"sweeps": 1, "seed": -1}, "seed"),
    "seed huge": ({"sweeps": 1, "seed": 1 << 64}, "seed"),
    "seed None": ({"sweeps": 1, "seed": None}, "seed"),
    "threads 0": ({"sweeps": 1, "threads": 0}, "threads"),
    "driver": ({"sweeps": 1, "driver": "gibs"}, "driver"),
    "driver class": ({"sweeps": 1, "driver": Herded}, "driver"),
    "kernel and driver": ({"sweeps": 1, "driver": "random", "kernel": "herded"}, "kernel"),
    "kernel name": ({"sweeps": 1, "kernel": "gibs"}, "kernel"),
    "kernel text": ({"sweeps": 1, "kernel": "cycle(gibbs"}, "kernel"),
    "kernel brackets": ({"sweeps": 1, "kernel": "cycle(gibbs))"}, "kernel"),
    "kernel weights": ({"sweeps": 1, "kernel": "mixture(gibbs: 0, herded: 1)"}, "weights"),
    "kernel repeats": ({"sweeps": 1, "kernel": "cycle(gibbs: 1.5)"}, "kernel"),
    "kernel nothing": ({"sweeps": 1, "kernel": "cycle()"}, "kernel"),
    "kernel number": ({"sweeps": 1, "kernel": 3}, "kernel"),
    "kernel class": ({"sweeps": 1, "kernel": heeler.Mixture}, "kernel"),
    "kernel with scan": (
        {"sweeps": 1, "kernel": heeler.Cycle(["gibbs"]), "scan": "shuffled"},
        "scan",
    ),
    "kernel with restart": (
        {"sweeps": 1, "kernel": heeler.Cycle(["gibbs"]), "restart": True},
        "restart",
    ),
    "scan": ({"sweeps": 1, "scan": "sistematic"}, "scan"),
    "scan number": ({"sweeps": 1, "scan": 3}, "scan"),
    "scan empty": ({"sweeps": 1, "scan": []}, "scan"),
    "scan unknown name": ({"sweeps": 1, "scan": ["nobody"]}, "nobody"),
    "scan out of range": ({"sweeps": 1, "scan": np.array([0, 4])}, "scan"),
    "scan negative": ({"sweeps": 1, "scan": np.array([-1])}, "scan"),
    "scan of floats": ({"sweeps": 1, "scan": np.array([0.5])}, "0.5"),
    "scan weights": ({"sweeps": 1, "driver": "random", "scan": Weighted([1, 2])}, "weights"),
    "scan weights nan": (
        {"sweeps": 1, "driver": "random", "scan": Weighted([1, 2, 3, NAN])},
        "weights",
    ),
    "scan weights negative": (
        {"sweeps": 1, "driver": "random", "scan": Weighted([1, 2, 3, -1])},
        "weights",
    ),
    "scan weights 0": (
        {"sweeps": 1, "driver": "random", "scan": Weighted([0, 0, 0, 0])},
        "weights",
    ),
    "scan weights text": (
        {"sweeps": 1, "driver": "random", "scan": Weighted(["a", "b", "c", "d"])},
        "weights",
    ),
    "scan steps 0": ({"sweeps": 1, "driver": "random", "scan": Uniform(0)}, "steps"),
    "scan steps float": ({"sweeps": 1, "driver": "random", "scan": Uniform(2.5)}, "steps"),
    "scan steps text": ({"sweeps": 1, "driver": "random", "scan": Uniform("3")}, "steps"),
    "context": ({"sweeps": 1, "driver": "herded", "context": "neighbors"}, "context"),
    "context with random": ({"sweeps": 1, "driver": "random", "context": "neighbours"}, "context"),
    "context with quasi": ({"sweeps": 256, "driver": "quasi", "context": "full"}, "context"),
    "context radius 0": ({"sweeps": 1, "driver": "herded", "context": "radius(0)"}, "radius"),
    "context bins 0": ({"sweeps": 1, "driver": "herded", "context": "binned(0)"}, "bins"),
    "context bins huge": ({"sweeps": 1, "driver": "herded", "context": "binned(70000)"}, "bins"),
    "context given twice": (
        {"sweeps": 1, "driver": Herded("full"), "context": "shared"},
        "context",
    ),
    "full with schedule": (
        {"sweeps": 9, "driver": "herded", "context": "full", "temperature": [2.0, 1.0]},
        "full",
    ),
    "16 bits off the lattice": ({"sweeps": 9, "driver": Herded(bits=16)}, "bits"),
    "quasi sweeps": ({"sweeps": 1000, "driver": "quasi"}, "1024"),
    "quasi few sweeps": ({"sweeps": 3, "driver": "quasi"}, "256"),
    "quasi huge": ({"sweeps": 1 << 40, "driver": "quasi"}, "sweeps"),
    "quasi without sweeps": ({"seconds": 0.1, "driver": "quasi"}, "sweeps"),
    "temperature 0": ({"sweeps": 1, "temperature": 0}, "temperature"),
    "temperature negative": ({"sweeps": 1, "temperature": -1.0}, "temperature"),
    "temperature nan": ({"sweeps": 1, "temperature": NAN}, "temperature"),
    "temperature inf": ({"sweeps": 1, "temperature": INF}, "temperature"),
    "temperature with infinite inverse": ({"sweeps": 1, "temperature": 1e-320}, "temperature"),
    "temperature empty": ({"sweeps": 1, "temperature": []}, "temperature"),
    "temperature 2-D": ({"sweeps": 1, "temperature": [[1.0]]}, "temperature"),
    "temperature text": ({"sweeps": 1, "temperature": "hot"}, "temperature"),
    "temperature schedule with 0": ({"sweeps": 3, "temperature": [1.0, 0.0]}, "temperature"),
    "temperature function without sweeps": (
        {"seconds": 0.1, "temperature": lambda _: 1.0},
        "temperature",
    ),
    "temperature function of nan": ({"sweeps": 2, "temperature": lambda _: NAN}, "temperature"),
    "evidence unknown": ({"sweeps": 1, "evidence": {"nobody": 0}}, "nobody"),
    "evidence value": ({"sweeps": 1, "evidence": {0: 2}}, "2"),
    "evidence not a mapping": ({"sweeps": 1, "evidence": 3}, "evidence"),
    "keep typo": ({"sweeps": 1, "keep": "sampels"}, "sampels"),
    "keep one typo": ({"sweeps": 1, "keep": ["samples", "pear"]}, "pear"),
    "keep number": ({"sweeps": 1, "keep": 5}, "keep"),
    "keep pair of one": ({"sweeps": 1, "keep": {"pairs": [(0, 0)]}}, "pairs"),
    "keep pair unknown": ({"sweeps": 1, "keep": {"pairs": [(0, "nobody")]}}, "nobody"),
    "keep pair of three": ({"sweeps": 1, "keep": {"pairs": [(0, 1, 2)]}}, "pairs"),
    "keep pairs number": ({"sweeps": 1, "keep": {"pairs": 7}}, "pairs"),
    "keep functions not callable": ({"sweeps": 1, "keep": {"functions": {"f": 3}}}, "functions"),
    "keep functions list": ({"sweeps": 1, "keep": {"functions": [len]}}, "functions"),
    "keep functions without any": ({"sweeps": 1, "keep": "functions"}, "functions"),
    "function of one number": ({"sweeps": 1, "keep": {"functions": {"f": lambda _: 1.0}}}, "'f'"),
    "function of wrong shape": (
        {"sweeps": 1, "keep": {"functions": {"f": lambda _: np.ones(3)}}},
        "'f'",
    ),
    "function of text": (
        {"sweeps": 1, "keep": {"functions": {"f": lambda x: ["a"] * len(x)}}},
        "'f'",
    ),
    "init shape": ({"sweeps": 1, "init": [0, 1]}, "init"),
    "init states": ({"sweeps": 1, "init": np.zeros((3, 4), int)}, "init"),
    "init value": ({"sweeps": 1, "init": [0, 1, 0, 2]}, "2"),
    "init negative": ({"sweeps": 1, "init": [0, 1, 0, -1]}, "-1"),
    "init float": ({"sweeps": 1, "init": [0.5, 0, 0, 0]}, "init"),
    "init nan": ({"sweeps": 1, "init": [NAN, 0, 0, 0]}, "init"),
    "init text": ({"sweeps": 1, "init": ["a", "b", "c", "d"]}, "init"),
    "init against the evidence": ({"sweeps": 1, "evidence": {0: 1}, "init": [0, 0, 0, 0]}, "init"),
    "checkpoint": ({"sweeps": 1, "checkpoint": 5}, "checkpoint"),
    "checkpoint folder": ({"sweeps": 1, "checkpoint": "/nowhere/at/all.npz"}, "checkpoint"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    options, word = WRONG[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        heeler.sample(spins(), **options)
    assert word in str(caught.value)


@pytest.mark.parametrize("models", [None, 3, "asia.bif", [1, 2], np.zeros((3, 3)), {"a": 1}])
def test_not_a_model(models):
    with pytest.raises(TypeError, match="models"):
        heeler.sample(models, sweeps=1)


def test_evidence_with_a_list_of_models():
    with pytest.raises(ValueError, match="evidence"):
        heeler.sample([spins(), spins()], sweeps=1, evidence={0: 1})


def test_no_models():
    assert heeler.sample([], sweeps=1) == []


def test_user_errors_come_through():
    def broken(x):
        raise ZeroDivisionError(f"mine, {x.shape}")

    with pytest.raises(ZeroDivisionError, match=r"mine, \(4, 4\)"):
        heeler.sample(spins(), sweeps=1, keep={"functions": {"f": broken}})


def test_functions_cannot_spoil_the_run():
    def greedy_hands(x):
        x[:] = 0
        return x.sum(axis=1)

    with pytest.raises(ValueError, match="read-only"):
        heeler.sample(spins(), sweeps=3, keep={"functions": {"f": greedy_hands}, "samples": True})


def test_contradictory_evidence():
    with pytest.raises(ValueError, match=r"evidence|state|support"):
        heeler.sample(hard(), sweeps=5, evidence={0: 0, 1: 1})
    with pytest.raises(ValueError, match=r"clamp|evidence|contradict"):
        heeler.sample(hard().given({0: 0}), sweeps=5, evidence={0: 1})
    three = heeler.factor_graph([2, 2, 2], [([0, 1], np.eye(2)), ([1, 2], np.eye(2))])
    with pytest.raises(ValueError, match=r"state|support"):
        heeler.sample(three, sweeps=5, evidence={0: 0, 2: 1})


def test_init_outside_the_support():
    with pytest.raises(ValueError, match=r"init.*probability zero"):
        heeler.sample(hard(), sweeps=5, init=[0, 1])


def test_jacobi_on_zeros():
    with pytest.raises(ValueError, match="Jacobi"):
        heeler.sample(hard(), sweeps=5, scan="jacobi")


def test_jacobi_warns_and_refuses_pairs():
    with pytest.warns(UserWarning, match="approximate"):
        heeler.sample(spins(), sweeps=5, scan="jacobi", driver="random")
    for keep in ("pairs", "joint"):
        with pytest.raises(ValueError, match="Jacobi"):
            heeler.sample(spins(), sweeps=5, scan="jacobi", driver="random", keep=keep)


def test_herding_with_a_random_scan_warns():
    with pytest.warns(UserWarning, match="advantage"):
        heeler.sample(spins(), sweeps=5, scan="shuffled", driver="herded")


def test_tijdeman_with_bins_and_maps():
    model = heeler.potts(np.ones((3, 3)) - np.eye(3), 3)
    for context in ("binned(8)", "full", "radius(1)"):
        with pytest.raises(ValueError, match="tijdeman"):
            heeler.sample(model, sweeps=5, driver=Herded(context, rule="tijdeman"))
    with pytest.raises(ValueError, match="tijdeman"):
        heeler.sample(model, sweeps=5, driver=Herded(rule="tijdeman"), temperature=[2.0, 1.0])


def test_joint_of_a_large_model():
    with pytest.raises(ValueError, match="joint"):
        heeler.sample(spins(30), sweeps=5, keep="joint")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Herded("neighbors"),
        lambda: Herded(rule="argmin"),
        lambda: Herded(bits=8),
        lambda: Herded(start="zero"),
        lambda: heeler.Random("mt19937"),
        lambda: heeler.SingleSite("gibs"),
        lambda: heeler.SingleSite(scan="sistematic"),
        lambda: heeler.Mixture(["gibs"]),
        lambda: heeler.Cycle(["gibbs", "mixtur(gibbs)"]),
        lambda: Binned(0),
        lambda: Binned(2.5),
        lambda: Radius(-1),
    ],
)
def test_wrong_drivers_and_contexts(make):
    with pytest.raises(ValueError, match="parameter must be"):
        make()


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: heeler.Mixture([]), "kernels"),
        (lambda: heeler.Mixture("gibbs"), "kernels"),
        (lambda: heeler.Cycle(3), "kernels"),
        (lambda: heeler.Cycle([3]), "kernel"),
        (lambda: heeler.Cycle(["greedy"]), "invariant"),
        (lambda: heeler.Mixture(["quasi"]), "invariant"),
        (lambda: heeler.Mixture([heeler.SingleSite(temperature=2.0)]), "temperature"),
        (lambda: heeler.Mixture(["gibbs", "herded"], [1]), "weights"),
        (lambda: heeler.Mixture(["gibbs", "herded"], [1, 0]), "weights"),
        (lambda: heeler.Mixture(["gibbs", "herded"], [1, NAN]), "weights"),
        (lambda: heeler.Mixture(["gibbs", "herded"], [1, INF]), "weights"),
        (lambda: heeler.Mixture(["gibbs", "herded"], "ab"), "weights"),
        (lambda: heeler.Cycle(["gibbs"], [0]), "repeats"),
        (lambda: heeler.Cycle(["gibbs"], [1, 2]), "repeats"),
        (lambda: heeler.Cycle(["gibbs"], 2), "repeats"),
        (lambda: heeler.Cycle(["gibbs"], [1.5]), "repeats"),
    ],
)
def test_wrong_mixtures_and_cycles(make, word):
    with pytest.raises((ValueError, TypeError), match=word):
        make()


def test_huge_radius_is_the_whole_graph():
    run = heeler.sample(spins(5), sweeps=50, driver="herded", context="radius(999999999)", chains=1)
    full = heeler.sample(spins(5), sweeps=50, driver="herded", context="full", chains=1)
    assert np.array_equal(run.marginals.array, full.marginals.array)


# The right trivial answers.


@pytest.mark.parametrize("driver", ["random", "herded", "greedy"])
def test_no_free_variable(driver):
    run = heeler.sample(spins(2), sweeps=5, driver=driver, evidence={0: 1, 1: 0})
    assert run.marginals.array.tolist() == [[0, 1], [1, 0]]
    assert run.errors.array.tolist() == [[0, 0], [0, 0]]
    assert run.best.state.tolist() == [1, 0]
    assert run.best.log_score == spins(2).log_score(np.array([1, 0]))
    assert run.stats["updates"] == 0


@pytest.mark.parametrize("driver", ["random", "herded", "greedy", Herded(rule="tijdeman")])
def test_one_value_only(driver):
    model = heeler.factor_graph([1, 3, 1], [([0, 1], [[1.0, 2.0, 1.0]]), ([2], [5.0])])
    run = heeler.sample(model, sweeps=400, driver=driver)
    assert run.marginals[0].tolist() == run.marginals[2].tolist() == [1.0]
    assert run.best.state.tolist() == [0, 1, 0]
    if driver != "greedy":
        assert (
            np.abs(run.marginals[1] - [0.25, 0.5, 0.25]).max() < 1e-6
        )  # Rao-Blackwell: no neighbour moves
    only = heeler.factor_graph([1, 1], [([0, 1], [[2.0]])])
    assert heeler.sample(only, sweeps=3, driver=driver).marginals.array.tolist() == [[1.0], [1.0]]


def test_one_variable():
    for model in (
        heeler.ising([[0.0]], [0.5]),
        heeler.boltzmann([[0.0]], [1.0]),
        heeler.factor_graph([2], [([0], [1, np.e])]),
    ):
        for driver in ("random", "herded"):
            run = heeler.sample(model, sweeps=300, driver=driver, keep=["joint", "pairs"])
            assert run.marginals[0][1] == pytest.approx(1 / (1 + np.exp(-1.0)), abs=1e-9)
            assert run.best.state.tolist() == [1]
            assert len(run.pairs) == 0


def test_no_coupling_and_no_field():
    run = heeler.sample(heeler.ising(np.zeros((3, 3))), sweeps=20, driver="random")
    assert np.abs(run.marginals.array - 0.5).max() < 1e-9
    assert run.log_scores.max() == run.log_scores.min() == 0.0
    graph = heeler.factor_graph([3, 2], [])
    assert np.nanmax(np.abs(heeler.sample(graph, sweeps=20, driver="random").log_scores)) == 0.0


def test_duplicate_pairs_are_one_pair():
    run = heeler.sample(
        spins(), sweeps=50, driver="random", keep={"pairs": [(0, 1), (1, 0), (0, 1)]}
    )
    assert np.array_equal(run.pairs[0, 1], run.pairs[1, 0].T)
    assert run.pairs[0, 1].sum() == pytest.approx(1.0)


def test_a_variable_that_is_never_updated_is_nan():
    run = heeler.sample(spins(), sweeps=50, driver="random", scan=[0, 1])
    assert np.isnan(run.marginals.array[2:]).all()
    assert np.isfinite(run.marginals.array[:2]).all()


def test_thinner_than_the_run():
    run = heeler.sample(spins(), sweeps=5, thin=10, driver="random", keep="samples")
    assert run.samples.shape == (4, 0, 4)


def test_extreme_seeds_and_temperatures():
    for seed in (0, 2**32, 2**64 - 1):
        for driver in (heeler.Random(), Herded("full", start="random"), Herded(start="random")):
            assert np.isfinite(
                heeler.sample(spins(), sweeps=20, driver=driver, seed=seed).marginals.array
            ).all()
    cold = heeler.sample(spins(), sweeps=50, driver="random", temperature=1e-300)
    # Frozen: each of the 4 chains is certain, so averages are whole quarters.
    assert np.abs(4 * cold.marginals.array - np.rint(4 * cold.marginals.array)).max() < 1e-6
    hot = heeler.sample(spins(), sweeps=50, driver="random", temperature=1e300)
    assert np.abs(hot.marginals.array - 0.5).max() < 1e-9


def test_large_numbers_in_models():
    strong = heeler.ising([[0, 1e5], [1e5, 0]], [0.0, 1e3])
    run = heeler.sample(strong, sweeps=50, driver="random", init=[1, 1])
    assert run.marginals.array[:, 1].tolist() == pytest.approx([1, 1], abs=1e-8)
    forbidden = heeler.potts(np.ones((7, 7)) - np.eye(7), 3, [[0.0, -np.inf, 1.0]] * 7)
    with pytest.warns(UserWarning, match="exactly 0 or 1"):
        run = heeler.sample(forbidden, sweeps=200, driver="random", chains=1, keep="samples")
    assert (run.samples != 1).all()
    truth = forbidden.log_score(run.samples[0])
    assert np.abs(run.log_scores[0] - truth).max() < 1e-5
