"""Mixtures and cycles: a twin that hands states over by itself, exact answers, what is kept."""

import json
import warnings

import numpy as np
import pytest

import heeler
from heeler.model import first_state
from heeler.run.build import build_engine
from heeler.run.kernels.composite import part_seed
from heeler.run.settings import Settings
from heeler.scan import Systematic, as_scan
from zoo import ZOO, all_states

PASSES = 60


def part(model, driver, states, seed):
    """Make the engine of a single-site part, alone."""
    from heeler.driver import as_driver

    driver = as_driver(driver)
    context = "auto" if driver.name == "herded" else None
    settings = Settings(driver, as_scan("systematic"), context, len(states), seed)
    return build_engine(model, settings, states, None)


def truth(model):
    """Give the exact marginals as one flat array."""
    exact = heeler.exact.marginals(model)
    return np.concatenate([exact[v] for v in range(model.n_variables)])


def flat(run):
    """Give a run's marginals as one flat array."""
    return np.concatenate([run.marginals[v] for v in range(run.model.n_variables)])


@pytest.mark.parametrize("kind", ["ising", "graph", "chain"])
@pytest.mark.parametrize("mixed", [True, False], ids=["mixture", "cycle"])
def test_parts_are_what_they_are_alone(kind, mixed):
    model = ZOO[kind](np.random.default_rng(5))
    names = ["gibbs", "metropolis", "herded"]
    kernels = [heeler.SingleSite(name) for name in names]
    kernel = heeler.Mixture(kernels, [1, 2, 2]) if mixed else heeler.Cycle(kernels, [1, 3, 2])
    states = first_state(model, 9, 3)
    state = kernel.init(model, 3, 9, states)
    parts = [part(model, name, states, part_seed(9, k)) for k, name in enumerate(names)]
    order = []
    if mixed:
        order = state.engine.choices(0, PASSES).tolist()
        assert set(order) == {0, 1, 2}
    else:
        order = [0, 1, 1, 1, 2, 2] * PASSES
    state = kernel.advance(state, PASSES)
    holder, scores = 0, np.atleast_1d(model.log_score(states))
    for k in order:
        if k != holder:
            parts[k].adopt(parts[holder].states().copy(), scores)
        buffer = np.empty((1, 3))
        parts[k].advance(1, buffer)
        holder, scores = k, buffer[0]
    assert np.array_equal(state.values, parts[holder].states())
    assert np.array_equal(state.engine.scores, scores)
    assert np.allclose(scores, model.log_score(state.values), atol=1e-6)
    assert np.array_equal(state.engine.sums(), sum(p.sums() for p in parts))
    assert np.array_equal(state.engine.visits(), sum(p.visits() for p in parts))


def test_choices_follow_the_weights_and_not_the_chunks():
    model = ZOO["ising"](np.random.default_rng(5))
    engine = heeler.Mixture(["gibbs", "metropolis", "gibbs"], [0.2, 0.5, 0.3]).init(model).engine
    chosen = engine.choices(0, 100_000)
    share = np.bincount(chosen, minlength=3) / len(chosen)
    # Five standard deviations of a share of 100,000 draws: a false alarm in a million.
    assert np.abs(share - [0.2, 0.5, 0.3]).max() < 5 * 0.5 / np.sqrt(len(chosen))
    for first, count in ((0, 1), (255, 2), (1000, 700), (99_999, 1)):
        assert np.array_equal(engine.choices(first, count), chosen[first : first + count])


NESTED = {
    "mixture": heeler.Mixture(["gibbs", "metropolis"], [1, 3]),
    "cycle": heeler.Cycle(["modified", heeler.SingleSite("metropolis", "uniform")]),
    "nested": heeler.Cycle(
        ["gibbs", heeler.Mixture(["metropolis", heeler.Cycle(["modified"] * 2)])]
    ),
    "herded": heeler.Mixture(["herded", "modified"]),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("kind", ["ising", "potts", "net", "torus"])
def test_against_exact_answers(name, kind):
    model = ZOO[kind](np.random.default_rng(2))
    if kind == "net":
        model = model.given({1: int(first_state(model, 0)[0, 1])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zeros, and herding after a random choice
        run = heeler.sample(model, NESTED[name], sweeps=6000, burn_in=20, seed=3, keep=["pairs"])
    off = np.abs(flat(run) - truth(model))
    errors = np.concatenate([run.errors[v] for v in range(model.n_variables)])
    # Errors are from 15 batches of 4 chains: six of them, and a floor for batches that saw nothing.
    assert (off <= 6 * errors + 2e-3).all()
    parts = run.stats["parts"]
    assert sum(p["passes"] for p in parts) in (6020, 2 * 6020)
    for u, v in run.pairs:
        table = run.pairs[u, v]
        assert table.sum() == pytest.approx(1.0)
        assert np.abs(table.sum(axis=1) - run.marginals[u]).max() < 0.08
    best = model.log_score(all_states(model)).max()
    assert run.best.log_score == pytest.approx(best)
    assert json.dumps({k: v for k, v in run.settings.items() if k != "model"})


def test_lanes_and_threads_do_not_show():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.normal(size=(40, 40)) * (rng.random((40, 40)) < 0.1), 1)
    model = heeler.ising(weights + weights.T, rng.normal(size=40))
    kernel = heeler.Cycle(["gibbs", "metropolis"])
    runs = [heeler.sample(model, kernel, sweeps=300, chains=16, seed=3, threads=t) for t in (1, 2)]
    assert np.array_equal(runs[0].marginals.array, runs[1].marginals.array)
    engine = runs[0].stats["engine"]
    assert engine == "CycleEngine"
    few = heeler.sample(model, kernel, sweeps=300, chains=4, seed=3, keep="samples", thin=300)
    many = heeler.sample(model, kernel, sweeps=300, chains=16, seed=3, keep="samples", thin=300)
    assert np.array_equal(many.samples[:4], few.samples)


def test_lattices_large_enough_for_their_own_engine():
    model = heeler.lattice((32, 32), 0.2, 0.1)
    kernel = heeler.Mixture(["gibbs", "herded", "metropolis"])
    run = heeler.sample(model, kernel, sweeps=400, seed=1)
    whole = heeler.sample(model, sweeps=2000, driver="random", seed=2)
    assert np.abs(run.marginals.array - whole.marginals.array).max() < 0.1
    score = model.log_score(run._session.engine.states())
    assert np.allclose(run._session.engine.scores, score, atol=1e-5)
    assert run.resume(sweeps=10).stats["sweeps"] == 410


def test_step_level_copies():
    model = ZOO["potts"](np.random.default_rng(2))
    kernel = NESTED["nested"]
    state = kernel.advance(kernel.init(model, 2, 7), 11)
    other = state.copy()
    state, other = kernel.advance(state, 20), kernel.advance(kernel.advance(other, 5), 15)
    assert np.array_equal(state.values, other.values)
    assert np.array_equal(state.marginals, other.marginals)
    assert state.passes == 31


def test_metropolis_by_name_and_object():
    model = ZOO["potts"](np.random.default_rng(2))
    run = heeler.sample(model, "metropolis", scan="shuffled", sweeps=50, seed=1)
    for same in (
        heeler.sample(model, driver="metropolis", scan="shuffled", sweeps=50, seed=1),
        heeler.sample(model, driver=heeler.Metropolis(), scan="shuffled", sweeps=50, seed=1),
        heeler.sample(model, heeler.SingleSite("metropolis", "shuffled"), sweeps=50, seed=1),
    ):
        assert np.array_equal(same.marginals.array, run.marginals.array)
        assert same.stats["acceptance"] == run.stats["acceptance"]
    assert 0 < run.stats["acceptance"] < 1
    assert run.stats["proposals"] == run.stats["updates"]


@pytest.mark.filterwarnings("ignore:.*exactly 0 or 1")  # the net has zeros
@pytest.mark.parametrize("lanes", [1, 8, 24, 40])
@pytest.mark.parametrize("kind", ["ising", "net", "lattice"])
def test_engines_agree(kind, lanes):
    model = ZOO[kind](np.random.default_rng(2))
    run = heeler.sample(model, "metropolis", sweeps=40, chains=lanes, seed=5, scan="systematic")
    from engines import general

    states = first_state(model, 5, lanes)
    engine = general(model, "metropolis", Systematic(), states=states, seed=5)
    engine.advance(40)
    assert np.array_equal(run._session.engine.states(), engine.states())
    assert run.stats["accepted"] == engine.statistics()["accepted"]
    mine = run.marginals.array[:, 1] if engine.binary else flat(run)
    assert np.allclose(mine, engine.sums().mean(axis=0) / 40, atol=1e-12)


def test_kernels_as_text():
    model = ZOO["ising"](np.random.default_rng(2))
    text = "cycle(gibbs, mixture(metropolis: 3, cycle(modified: 2, gibbs): 1): 2)"
    inner = heeler.Mixture(["metropolis", heeler.Cycle(["modified", "gibbs"], [2, 1])], [3, 1])
    kernel = heeler.Cycle(["gibbs", inner], [1, 2])
    runs = [heeler.sample(model, k, sweeps=30, seed=4) for k in (text, kernel)]
    assert runs[0].settings["kernel"] == runs[1].settings["kernel"]
    assert np.array_equal(runs[0].marginals.array, runs[1].marginals.array)
