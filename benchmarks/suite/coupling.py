"""Coupled chains and exact draws: what pairs cost beside plain chains, and draws a second."""

from collections.abc import Iterator
from functools import partial

import heeler
from suite.figure import AT_MOST, Case, Figure
from suite.timing import best_of

# Two chains, a comparison of their states after every sweep, and the lag's head start.
PAIR_COST = 3.0
SIDE, COUPLING = 64, 0.3
PAIRS, LAG = 64, 40


def cases(rounds: int, *, quick: bool) -> Iterator[Case]:
    """List the measurements.

    Parameters
    ----------
    rounds
        How often everything is timed.
    quick
        Whether to take smaller models.

    Yields
    ------
    Case
        Measurements.
    """
    side = 16 if quick else SIDE
    yield Case(f"pairs {side}x{side}", partial(pairs, min(rounds, 3), side))
    for coupling in (0.3,) if quick else (0.3, 0.4):
        yield Case(f"exact draws {side}x{side} {coupling}", partial(draws, 1, side, coupling))


def pairs(rounds: int, side: int) -> Iterator[Figure]:
    """Measure what coupling costs beside sampling as many chains for as many sweeps.

    Parameters
    ----------
    rounds
        How often it is timed.
    side
        Side of the lattice.

    Yields
    ------
    Figure
        The ratio.
    """
    model = heeler.lattice((side, side), coupling=COUPLING)

    def coupled() -> heeler.Model:
        return heeler.couple(model, pairs=PAIRS, lag=LAG, threads=1)

    found = coupled()
    sweeps = int(found.meetings.max())

    def plain() -> heeler.Run:
        return heeler.sample(
            model, driver="random", chains=PAIRS, sweeps=LAG + 2 * sweeps, threads=1,
            progress=False,
        )  # fmt: skip

    plain()
    updates = PAIRS * side * side * (LAG + 2 * sweeps)
    seconds = best_of(coupled, rounds)
    ratio = seconds / best_of(plain, rounds)
    yield Figure(
        f"pairs {side}x{side}: time of coupled chains over plain chains", ratio, "x plain",
        PAIR_COST, AT_MOST, f"{PAIRS} pairs met in {sweeps} sweeps", updates / seconds,
    )  # fmt: skip


def draws(rounds: int, side: int, coupling: float) -> Iterator[Figure]:
    """Measure exact draws a second.

    Parameters
    ----------
    rounds
        How often it is timed.
    side
        Side of the lattice.
    coupling
        Its coupling.

    Yields
    ------
    Figure
        Draws a second.
    """
    model = heeler.lattice((side, side), coupling=coupling)
    count = 32
    found = heeler.exact_draws(model, count, threads=1)
    seconds = best_of(partial(heeler.exact_draws, model, count, threads=1), rounds)
    back = int(found.sweeps.max())
    yield Figure(
        f"exact draws {side}x{side} {coupling}", count / seconds, "draws/s",
        note=f"from up to {back} sweeps in the past",
    )  # fmt: skip
