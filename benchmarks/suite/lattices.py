"""Speed of lattices: each kernel, flatness with size, a second thread."""

import os
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from lattice import CASES, make_engine

import heeler
from suite.figure import AT_MOST, Case, Figure, LeftOut
from suite.timing import Speed, best_of, long_enough

SIZES = (256, 1024)
TARGETS = {
    "random systematic": 0.9,
    "random chromatic": 4.0,
    "random chromatic fast": 6.0,
    "herded u16 chromatic": 7.0,
    "herded u16 chromatic field": 5.0,
    "herded u32 chromatic": 5.0,
    "herded u32 chromatic field": 2.4,
    "herded neighbours chromatic": 1.2,
}
UPDATES = 20_000_000  # of one timed call
EXTENTS = (100, 316, 1_000, 3_162)  # 10^4 to 10^7 sites, even so that colours alternate
FLAT = 1.3
FLAT_KERNELS = (
    "random systematic",
    "random chromatic",
    "herded u16 chromatic",
    "herded u32 chromatic",
    "herded neighbours chromatic",
)
SECOND_THREAD = 1.7
THREADED = (512, 1024)
THREADED_KERNELS = FLAT_KERNELS[1:]
THREAD_ROUNDS = 12


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
        for name in ("random chromatic", "herded u32 chromatic"):
            yield Case(f"{name} 256", partial(kernel, speed, name, 256))
        yield Case("flat random chromatic", partial(flat, speed, "random chromatic", (64, 128)))
        yield Case("second thread 256", partial(second_thread, "random chromatic", 256, 2))
        return
    for size in SIZES:
        for name in CASES:
            yield Case(f"{name} {size}", partial(kernel, speed, name, size))
    yield Case("through heeler.sample 1024", partial(public, speed, 1024))
    for name in FLAT_KERNELS:
        yield Case(f"flat {name}", partial(flat, speed, name, EXTENTS))
    for size in THREADED:
        for name in THREADED_KERNELS:
            call = partial(second_thread, name, size, THREAD_ROUNDS)
            yield Case(f"second thread {name} {size}", call)


def job(name: str, size: int) -> tuple[Callable[[int], object], int]:
    """Make an engine's call.

    Parameters
    ----------
    name
        Name of one of `lattice.CASES`.
    size
        Extent of the square.

    Returns
    -------
    call : callable
        Runs all passes with a number of threads; has been run once.
    updates : int
        Updates of a call.
    """
    engine = make_engine(size, **CASES[name])
    passes = max(16, UPDATES // size**2)
    scores = np.empty((passes, 1))
    engine.advance(passes, scores)
    return lambda threads: engine.advance(passes, scores, threads), passes * size**2


def kernel(speed: Speed, name: str, size: int) -> list[Figure]:
    """Measure one kernel on one lattice."""
    run, updates = job(name, size)
    figure = speed.of_call(f"{name} {size}", lambda: run(1), updates, TARGETS.get(name))
    return [figure]


def public(speed: Speed, size: int) -> Iterator[Figure]:
    """Measure the same kernels as a user reaches them."""
    model = heeler.lattice((size, size), 0.4, periodic=True)
    for name, options in (
        ("random chromatic", {"driver": "random"}),
        ("herded neighbours chromatic", {"driver": "herded", "context": "neighbours"}),
    ):

        def run(sweeps: int, options: dict[str, str] = options) -> object:
            return heeler.sample(
                model,
                sweeps=sweeps,
                chains=1,
                threads=1,
                scan="chromatic",
                progress=False,
                **options,
            )

        lengths = long_enough(size**2, 5 * UPDATES)
        yield speed.of_sweeps(
            f"through heeler.sample, {name} {size}", run, lengths, size**2, TARGETS[name]
        )


def flat(speed: Speed, name: str, extents: tuple[int, ...]) -> list[Figure]:
    """Measure how much more an update costs at the worst size than at the best."""
    rates = []
    for extent in extents:
        run, updates = job(name, extent)
        rates.append(speed.of_call(name, lambda run=run: run(1), updates).rate or 0.0)
        del run  # the largest lattices take hundreds of megabytes
    costs = ", ".join(
        f"{rates[0] / rate:.2f} at {extent}^2" for rate, extent in zip(rates, extents, strict=True)
    )
    worst = max(rates) / min(rates)
    return [Figure(f"flat {name}", worst, "x cost", FLAT, AT_MOST, f"costs {costs}")]


def second_thread(name: str, size: int, rounds: int) -> list[Figure]:
    """Measure how much sooner two threads are done than one."""
    if (os.cpu_count() or 1) < 2:
        raise LeftOut("there is one processor only")
    run, _ = job(name, size)
    run(2)
    times = [[best_of(partial(run, k), 1, wall=True) for k in (1, 2)] for _ in range(rounds)]
    one, two = np.min(times, axis=0)
    gain = float(one / two)
    return [Figure(f"second thread {name} {size}", gain, "x sooner", SECOND_THREAD)]
