"""Speed of random sparse graphs: one lane, many lanes, size, blocks of lanes in threads."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import heeler
from suite.figure import Case, Figure, LeftOut
from suite.timing import Speed, best_of, long_enough

TARGETS = {
    ("random", 1, 10_000): 0.25,
    ("herded", 1, 10_000): 0.3,
    ("random", 1, 100_000): 0.2,
    ("herded", 1, 100_000): 0.15,
    ("random", 32, 10_000): 1.3,
    ("random", 32, 100_000): 1.0,
}
SIZES = (1_000, 10_000, 100_000, 1_000_000)
BLOCKS = 64  # lanes that make two blocks of 32
BLOCKS_TARGET = 1.8
ONE_LANE = 20_000_000  # updates of the difference of two timed calls: 0.2 to 0.4 s
MANY_LANES = 100_000_000
THREAD_ROUNDS = 8


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
        yield Case("random 1 lane 1000", partial(one_speed, speed, "random", 1, 1_000, 2_000_000))
        yield Case(
            "random 32 lanes 1000", partial(one_speed, speed, "random", 32, 1_000, 4_000_000)
        )
        yield Case("second thread 64 lanes 1000", partial(second_thread, 1_000, 1_000_000, 1))
        return
    for size in SIZES:
        for driver, lanes in (("random", 1), ("herded", 1), ("random", 32)):
            total = ONE_LANE if lanes == 1 else MANY_LANES
            call = partial(one_speed, speed, driver, lanes, size, total)
            yield Case(title(driver, lanes, size), call)
    for size in (10_000, 100_000):
        call = partial(second_thread, size, MANY_LANES, THREAD_ROUNDS)
        yield Case(f"second thread {BLOCKS} lanes {size}", call)


def random_graph(n: int, seed: int = 0) -> heeler.Model:
    """Make an Ising model of 2 n random pairs, couplings and fields uniform in (-1/2, 1/2).

    Parameters
    ----------
    n
        Variables.
    seed
        Seed of the graph.

    Returns
    -------
    Model
        The model.
    """
    return heeler.ising(*random_arrays(n, seed))


def random_arrays(n: int, seed: int = 0) -> tuple[tuple[Any, ...], Any]:
    """Draw the pairs with their couplings, and the fields.

    Parameters
    ----------
    n
        Variables.
    seed
        Seed of the graph.

    Returns
    -------
    couplings : tuple
        First ends, second ends, couplings.
    field : ndarray
        One number a variable.
    """
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n, (2 * n, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    weights = rng.uniform(-0.5, 0.5, len(ends))
    return (ends[:, 0].copy(), ends[:, 1].copy(), weights), rng.uniform(-0.5, 0.5, n)


def title(driver: str, lanes: int, size: int) -> str:
    """Name a measurement."""
    return f"{driver} {lanes} lane{'s' if lanes > 1 else ''} {size}"


def one_speed(speed: Speed, driver: str, lanes: int, size: int, total: int) -> list[Figure]:
    """Measure a driver: one lane by colours, many side by side in the order of variables."""
    model = random_graph(size)
    scan = "chromatic" if lanes == 1 else "systematic"

    def run(sweeps: int) -> object:
        return heeler.sample(
            model, sweeps=sweeps, driver=driver, scan=scan, chains=lanes, threads=1, progress=False
        )

    updates = size * lanes
    name, target = title(driver, lanes, size), TARGETS.get((driver, lanes, size))
    return [speed.of_sweeps(name, run, long_enough(updates, total), updates, target)]


def second_thread(size: int, total: int, rounds: int) -> list[Figure]:
    """Measure how much sooner two threads are done with two blocks of lanes than one."""
    if (os.cpu_count() or 1) < 2:
        raise LeftOut("there is one processor only")
    model = random_graph(size)

    def run(sweeps: int, threads: int) -> object:
        return heeler.sample(
            model, sweeps=sweeps, driver="random", chains=BLOCKS, threads=threads, progress=False
        )

    lengths = long_enough(size * BLOCKS, total)
    run(lengths[0], 2)
    pairs = [(sweeps, threads) for threads in (1, 2) for sweeps in lengths]
    times = [[best_of(partial(run, *p), 1, wall=True) for p in pairs] for _ in range(rounds)]
    short_one, long_one, short_two, long_two = np.min(times, axis=0)
    gain = float((long_one - short_one) / (long_two - short_two))
    return [Figure(f"second thread {BLOCKS} lanes {size}", gain, "x sooner", BLOCKS_TARGET)]
