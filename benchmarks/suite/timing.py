"""Clocks, and speeds beside the reference kernel.

All times but those of threads are CPU seconds, the best of several: on a shared machine the clock
on the wall also counts other people's work.
"""

import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from suite.figure import RATIO, Figure

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "bench"


def processor_seconds() -> float:
    """Give the CPU seconds of this process, all its threads and its finished children."""
    spent = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        spent += usage.ru_utime + usage.ru_stime
    return spent


def best_of(run: Callable[[], object], rounds: int, *, calls: int = 1, wall: bool = False) -> float:
    """Time a call.

    Parameters
    ----------
    run
        The call, warmed up.
    rounds
        How often it is timed.
    calls
        Calls of one timing; short ones need many.
    wall
        Whether to look at the clock on the wall instead of the CPU's.

    Returns
    -------
    float
        The fewest seconds a call took.
    """
    clock = time.perf_counter if wall else processor_seconds
    best = math.inf
    for _ in range(rounds):
        start = clock()
        for _ in range(calls):
            run()
        best = min(best, (clock() - start) / calls)
    return best


def reference() -> ModuleType | None:
    """Load the reference kernels and their timing helpers, where they are."""
    if not (FOLDER / "benchlib.py").is_file():
        return None
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    import benchlib

    return benchlib


class Speed:
    """Measures updates a second as multiples of the reference kernel's.

    Parameters
    ----------
    rounds
        How often everything is timed, in turns with the reference.

    Attributes
    ----------
    fastest
        Updates a second of the reference kernel, the best seen; 0 where it is absent.
    """

    def __init__(self, rounds: int) -> None:
        """Load the reference kernel."""
        self.rounds = rounds
        self.library = reference()
        self.fastest = 0.0

    def of_call(
        self, name: str, run: Callable[[], object], updates: int, target: float | None = None
    ) -> Figure:
        """Measure a call that makes a known number of updates.

        Parameters
        ----------
        name
            The figure's name.
        run
            The call, warmed up.
        updates
            The number of updates.
        target
            The least multiple wanted.

        Returns
        -------
        Figure
            The speed.
        """
        if self.library is None:
            return self._figure(name, updates / best_of(run, self.rounds), target)
        return self._compared(name, self.library.ratio(run, updates, N=self.rounds), target)

    def of_sweeps(
        self,
        name: str,
        run: Callable[[int], object],
        sweeps: tuple[int, int],
        updates: int,
        target: float | None = None,
    ) -> Figure:
        """Measure the sweeps of a call, without what it costs to start.

        Parameters
        ----------
        name
            The figure's name.
        run
            Runs a given number of sweeps.
        sweeps
            A short and a long run: their difference is measured.
        updates
            Updates of one sweep.
        target
            The least multiple wanted.

        Returns
        -------
        Figure
            The speed.
        """
        run(sweeps[0])
        if self.library is None:
            times = [best_of(lambda k=k: run(k), self.rounds) for k in sweeps]
            rate = updates * (sweeps[1] - sweeps[0]) / (times[1] - times[0])
            return self._figure(name, rate, target)
        found = self.library.marginal(run, *sweeps, updates, N=self.rounds)
        return self._compared(name, found, target)

    def _compared(self, name: str, found: dict[str, float], target: float | None) -> Figure:
        """Make a figure of the reference's answer."""
        self.fastest = max(self.fastest, found["ref"])
        return Figure(name, float(found["ratio"]), RATIO, target, rate=float(found["rate"]))

    def _figure(self, name: str, rate: float, target: float | None) -> Figure:
        """Make a figure without a reference."""
        return Figure(name, math.nan, RATIO, target, rate=rate)


def long_enough(updates: int, total: int, first: int = 4) -> tuple[int, int]:
    """Choose two run lengths whose difference is a given number of updates.

    Parameters
    ----------
    updates
        Updates of a sweep.
    total
        Updates of the difference, about.
    first
        Sweeps of the short run.

    Returns
    -------
    tuple of int
        Sweeps of the short and of the long run.
    """
    return first, first + max(total // updates, 2)
