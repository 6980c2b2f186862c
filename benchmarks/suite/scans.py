"""Optimised scans: a million variables, one marginal, and what the descent costs by length."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import heeler
from suite.figure import AT_MOST, Case, Figure
from suite.timing import best_of

SIDE = 1000
JOB_SECONDS = 0.5
LOCAL_SECONDS = 0.01
GRID_SECONDS = 0.05
PAPER_JOB_SECONDS = 15.0
PAPER_SEGMENTATION_MILLISECONDS = 11.5
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
DRAWS = (1_000, 100_000)


def cases(rounds: int, *, quick: bool) -> Iterator[Case]:
    """List the measurements.

    Parameters
    ----------
    rounds
        How often everything is timed.
    quick
        Whether to take small models and short scans.

    Yields
    ------
    Case
        Measurements.
    """
    side = 60 if quick else SIDE
    yield Case("a million variables", partial(million, rounds, side))
    yield Case("40 x 40", partial(grid, rounds, 1_600 if quick else 16_000))
    yield Case("segmentation", partial(segmentation, rounds))
    yield Case("length", partial(by_length, rounds, LENGTHS[: 2 if quick else None]))
    yield Case("one marginal", partial(one_marginal, side, (5, 20) if quick else DRAWS))


def big_model(side: int) -> heeler.Model:
    """Make the grid of the paper: couplings uniform in (0, 1/4), no field."""
    rng = np.random.default_rng(0)
    down = rng.uniform(0, 0.25, (side - 1, side))
    return heeler.lattice((side, side), (down, rng.uniform(0, 0.25, (side, side - 1))))


def usual_scan(side: int) -> np.ndarray:
    """Give the paper's systematic scan, which begins with the second variable."""
    return np.roll(np.arange(side * side, dtype=np.int32), -1)


def million(rounds: int, side: int) -> Iterator[Figure]:
    """Time everything from couplings to a scan, and the descent alone."""
    rng = np.random.default_rng(0)
    couplings = rng.uniform(0, 0.25, (side - 1, side)), rng.uniform(0, 0.25, (side, side - 1))
    scan = usual_scan(side)

    def job() -> heeler.scan.Scan:
        matrix = heeler.influence(heeler.lattice((side, side), couplings))
        epsilon = heeler.variation(matrix, scan, 0, passes=2)
        return heeler.shortest_scan(matrix, epsilon, 0, scan)

    steps = len(job())
    job()
    name = f"{side * side} variables, model to scan"
    spent = best_of(job, rounds)
    note = f"{steps} steps; the paper's took {PAPER_JOB_SECONDS:g} s"
    yield Figure(name, spent, "s", JOB_SECONDS, AT_MOST, note)
    matrix = heeler.influence(big_model(side))
    alone = partial(heeler.optimise_scan, matrix, scan[:16], 0)
    alone()
    name = f"{side * side} variables, 16 steps optimised"
    yield Figure(name, best_of(alone, rounds, calls=10), "s", LOCAL_SECONDS, AT_MOST)


def grid(rounds: int, length: int) -> Iterator[Figure]:
    """Time the long scans of the paper's grid."""
    matrix = heeler.influence(heeler.lattice((40, 40), 1 / 3.915), "binary")
    once = partial(heeler.optimise_scan, matrix, "systematic", 0, length=length)
    once()
    yield Figure(f"40 x 40, {length} steps", best_of(once, rounds), "s", GRID_SECONDS, AT_MOST)
    many = partial(once, rounds=None)
    yield Figure(f"40 x 40, {length} steps, iterated", best_of(many, 1), "s")


def segmentation(rounds: int) -> Iterator[Figure]:
    """Time the search for the paper's scan of 110 steps."""
    first, second, _ = heeler.lattice((31, 20), 1.0).to_ising().edges()
    model = heeler.potts((first, second, np.full(len(first), 0.48)), 23)
    matrix = heeler.influence(model, "oscillation")
    central = [20 * row + column for row in range(9, 21) for column in range(6, 14)]
    epsilon = heeler.variation(matrix, "systematic", central)
    search = partial(heeler.shortest_scan, matrix, epsilon, central)
    note = f"{len(search())} steps; the paper's doubling took {PAPER_SEGMENTATION_MILLISECONDS} ms"
    yield Figure("segmentation, shortest scan", best_of(search, rounds) * 1e3, "ms", note=note)


def by_length(rounds: int, lengths: tuple[int, ...]) -> Iterator[Figure]:
    """Time a step of the descent at several lengths: the paper's cost is linear in the length."""
    matrix = heeler.influence(heeler.lattice((300, 300), 0.2, periodic=True), "binary")
    each = []
    for length in lengths:
        # From a uniform start nothing is kept, and the target is in the middle of nowhere.
        run = partial(heeler.optimise_scan, matrix, "systematic", 45_150, length=length)
        run()
        each.append(best_of(run, rounds) / length * 1e6)
        yield Figure(f"length {length}", each[-1], "us a step")
    yield Figure("length, flat", max(each) / min(each), "x the cheapest step")


def one_marginal(side: int, draws: tuple[int, ...]) -> Iterator[Figure]:
    """Time independent draws of one variable with the same guarantee, setting up included."""
    model, scan = big_model(side), usual_scan(side)

    def with_scan(made: object, count: int) -> object:
        return heeler.sample(
            model, driver="random", scan=made, restart=True, sweeps=count, chains=1, threads=1
        )

    def optimised(count: int) -> object:
        matrix = heeler.influence(model)
        epsilon = heeler.variation(matrix, scan, 0, passes=2)
        return with_scan(heeler.shortest_scan(matrix, epsilon, 0, scan), count)

    twice = np.tile(scan, 2)
    with_scan(twice, 1)
    optimised(1)
    slow = best_of(partial(with_scan, twice, 3), 1) - best_of(partial(with_scan, twice, 1), 1)
    yield Figure("one marginal, a draw, systematic", slow / 2 * 1e3, "ms")
    once = best_of(partial(optimised, 1), 2)
    yield Figure("one marginal, first draw, optimised", once * 1e3, "ms")
    matrix = heeler.influence(model)
    made = heeler.shortest_scan(matrix, heeler.variation(matrix, scan, 0, passes=2), 0, scan)
    few, many = (best_of(partial(with_scan, made, draws[-1] * k), 2) for k in (1, 11))
    each = (many - few) / (10 * draws[-1])
    yield Figure("one marginal, a draw more, optimised", each * 1e6, "us")
    spent = [best_of(partial(optimised, count), 2) for count in draws]
    for count, seconds in zip(draws, spent, strict=True):
        ratio = slow / 2 * count / seconds
        yield Figure(f"one marginal, {count} draws", ratio, "x sooner", note="setting up included")
