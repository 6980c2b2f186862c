"""Speed of factor graphs with mixed cardinalities."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import heeler
from suite.figure import Case, Figure
from suite.timing import Speed, long_enough

SIZE = 10_000
MOST_VALUES = 5
MOST_NEIGHBOURS = 6
TARGETS = {"random": 0.06, "herded": 0.03}
UPDATES = 10_000_000  # of the difference of two timed calls: half a second to a second


def cases(speed: Speed, *, quick: bool) -> Iterator[Case]:
    """List the measurements.

    Parameters
    ----------
    speed
        The stopwatch beside the reference.
    quick
        Whether to take small ones.

    Yields
    ------
    Case
        Measurements.
    """
    size, total = (300, 100_000) if quick else (SIZE, UPDATES)
    for driver in TARGETS:
        yield Case(f"{driver} {size}", partial(one_speed, speed, driver, size, total))


def random_factor_graph(n: int, seed: int = 0) -> heeler.Model:
    """Make a model of random tables: one on each variable, and on random pairs.

    Parameters
    ----------
    n
        Variables, of 2 to 5 values and at most 6 neighbours; 2.5 n pairs.
    seed
        Seed of graph and tables.

    Returns
    -------
    Model
        The model.
    """
    rng = np.random.default_rng(seed)
    cardinalities = rng.integers(2, MOST_VALUES + 1, n)
    factors = [((i,), rng.uniform(0.1, 1.1, cardinalities[i])) for i in range(n)]
    degree = np.zeros(n, int)
    known = set()
    while len(known) < int(2.5 * n):
        one, other = sorted(rng.integers(0, n, 2).tolist())
        full = max(degree[one], degree[other]) >= MOST_NEIGHBOURS
        if one == other or full or (one, other) in known:
            continue
        known.add((one, other))
        degree[[one, other]] += 1
        table = rng.normal(0.0, 0.5, (cardinalities[one], cardinalities[other]))
        factors.append(((one, other), np.exp(table)))
    return heeler.factor_graph(cardinalities, factors)


def one_speed(speed: Speed, driver: str, size: int, total: int) -> list[Figure]:
    """Measure a driver, one lane in the order of variables."""
    model = random_factor_graph(size)

    def run(sweeps: int) -> object:
        return heeler.sample(
            model, sweeps=sweeps, driver=driver, chains=1, threads=1, progress=False
        )

    lengths = long_enough(size, total)
    return [speed.of_sweeps(f"{driver} {size}", run, lengths, size, TARGETS[driver])]
