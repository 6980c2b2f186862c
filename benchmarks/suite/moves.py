"""Speed of Metropolis on sparse graphs, and of moves on a log density beside emcee's."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numba import njit

import heeler
from suite.figure import Case, Figure, LeftOut
from suite.graphs import MANY_LANES, ONE_LANE, one_speed
from suite.packages import installed
from suite.timing import Speed, processor_seconds

DIMENSIONS = 10
DEVIATIONS = np.arange(1.0, DIMENSIONS + 1)
WALKERS = 32
MANY_WALKERS = 512
ALONE, VECTORISED = 20.0, 6.0  # times emcee's evaluations a second
EVALUATIONS = 2_000_000
EMCEE_STEPS = 400  # of 32 walkers: 12,800 evaluations, .1 s


def cases(speed: Speed, *, quick: bool) -> Iterator[Case]:
    """List the measurements.

    Parameters
    ----------
    speed
        The stopwatch beside the reference.
    quick
        Whether to take a few small ones.

    Yields
    ------
    Case
        Measurements.
    """
    if quick:
        call = partial(one_speed, speed, "metropolis", 1, 1_000, 2_000_000)
        yield Case("metropolis 1 lane 1000", call)
        yield Case("walk beside emcee", partial(beside_emcee, "walk", 1, 20_000))
        return
    for lanes, target in ((1, 0.2), (32, 1.0)):
        total = ONE_LANE if lanes == 1 else MANY_LANES
        call = partial(graph, speed, lanes, total, target)
        yield Case(f"metropolis {lanes} lane{'s' if lanes > 1 else ''} 100000", call)
    for name in ("walk", "slice"):
        call = partial(beside_emcee, name, speed.rounds, EVALUATIONS)
        yield Case(f"{name} beside emcee", call)
    yield Case("mixture of walk and global", partial(mixture, speed.rounds, EVALUATIONS // 8))


def graph(speed: Speed, lanes: int, total: int, target: float) -> list[Figure]:
    """Measure Metropolis on a random sparse graph of 100,000 spins.

    Parameters
    ----------
    speed
        The stopwatch beside the reference.
    lanes
        Chains side by side.
    total
        Updates of the difference of two timed calls.
    target
        The least multiple of the reference wanted.

    Returns
    -------
    list of Figure
        The speed.
    """
    (figure,) = one_speed(speed, "metropolis", lanes, 100_000, total)
    return [Figure(figure.name, figure.value, figure.unit, target, rate=figure.rate)]


@njit
def _compiled(x: Any) -> float:
    """Give the log density of a Gaussian whose deviations are 1, 2, ..., d."""
    total = 0.0
    for i in range(x.size):
        total += (x[i] / (1.0 + i)) ** 2
    return -0.5 * total


def _plain(x: Any) -> Any:
    """Give the same with numpy, of one state or of many rows."""
    return -0.5 * ((x / DEVIATIONS) ** 2).sum(axis=-1)


def _kernel(name: str) -> heeler.Kernel:
    """Make a kernel with steps that fit the Gaussian."""
    if name == "walk":
        return heeler.Walk(2.38 / np.sqrt(DIMENSIONS) * DEVIATIONS)
    return heeler.Slice(2.5 * DEVIATIONS)


def rate_of(run: Callable[[], float]) -> float:
    """Give the evaluations a CPU second of a call that tells how many it made.

    Parameters
    ----------
    run
        The call.

    Returns
    -------
    float
        Evaluations a second.
    """
    start = processor_seconds()
    evaluations = run()
    return evaluations / (processor_seconds() - start)


def beside_emcee(name: str, rounds: int, evaluations: int) -> list[Figure]:
    """Compare evaluations a second with emcee's, one by one and vectorised, in the same run.

    Parameters
    ----------
    name
        The kernel: ``"walk"`` or ``"slice"``.
    rounds
        How often each is timed, in turns.
    evaluations
        About how many heeler makes in a timed call.

    Returns
    -------
    list of Figure
        The rate, and how many times emcee's it is.
    """
    density, kernel = heeler.Density(_compiled, DIMENSIONS), _kernel(name)
    each = 1 if name == "walk" else 5 * DIMENSIONS
    sweeps = max(evaluations // (4 * each), 10)

    def mine() -> float:
        run = heeler.sample(density, kernel, sweeps=sweeps, chains=4, threads=1, progress=False)
        return run.stats["evaluations"]

    calls: dict[str, Callable[[], float]] = {"heeler": mine}
    if installed("emcee"):
        calls["default"] = partial(_emcee, WALKERS, vectorised=False)
        calls["vectorised"] = partial(_emcee, WALKERS, vectorised=True)
        calls[f"vectorised, {MANY_WALKERS} walkers"] = partial(
            _emcee, MANY_WALKERS, vectorised=True
        )
    mine()  # compiles
    best = dict.fromkeys(calls, 0.0)
    for _ in range(rounds):
        for way, call in calls.items():
            best[way] = max(best[way], rate_of(call))
    figures = [Figure(f"{name} beside emcee, rate", best["heeler"] / 1e6, "M evaluations/s")]
    targets = {"default": ALONE, "vectorised": VECTORISED}
    for way, rate in best.items():
        if way != "heeler":
            title, times = f"{name} beside emcee, {way}", best["heeler"] / rate
            figures.append(Figure(title, times, "x emcee", targets.get(way)))
    if len(figures) == 1:
        raise LeftOut("emcee is not installed")
    return figures


def _emcee(walkers: int, *, vectorised: bool) -> float:
    """Run emcee's default ensemble; give its evaluations."""
    emcee = import_module("emcee")
    sampler = emcee.EnsembleSampler(walkers, DIMENSIONS, _plain, vectorize=vectorised)
    start = np.random.default_rng(0).normal(size=(walkers, DIMENSIONS))
    sampler.run_mcmc(start, EMCEE_STEPS)
    return walkers * EMCEE_STEPS


def mixture(rounds: int, passes: int) -> list[Figure]:
    """Measure what handing states over costs: the notes' mixture of two kinds of proposals.

    Parameters
    ----------
    rounds
        How often it is timed.
    passes
        About how many evaluations a timed call makes.

    Returns
    -------
    list of Figure
        Evaluations a second of 32 chains.
    """
    density = heeler.Density(_compiled, DIMENSIONS)
    wide = heeler.Global(0.0, 1.5 * DEVIATIONS**2)
    kernel = heeler.Mixture([wide, _kernel("walk")], [0.2, 0.8])
    sweeps = max(passes // 32, 10)

    def run() -> float:
        heeler.sample(density, kernel, sweeps=sweeps, chains=32, threads=1, progress=False)
        return 32.0 * sweeps

    run()
    best = max(rate_of(run) for _ in range(rounds))
    return [Figure("mixture of walk and global, 32 chains", best / 1e6, "M evaluations/s")]
