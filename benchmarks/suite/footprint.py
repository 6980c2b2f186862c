"""Footprint: memory and set-up of large models, imports, the first marginals of a process."""

from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import heeler
from suite.figure import AT_MOST, Case, Figure
from suite.fresh import ask, seconds_of
from suite.graphs import random_arrays
from suite.timing import best_of

SIDE = 1_000
LATTICE_SECONDS, ISING_SECONDS = 0.3, 2.0
MODEL_MEGABYTES = 16.0
RUN_MEGABYTES = {"shared": 48.0, "neighbours": 96.0}
IMPORT_SECONDS, WARM_SECONDS, COLD_SECONDS = 0.15, 1.5, 8.0
RUNS = {
    "random": ("random", "shared", "32"),
    "herded shared u16": ("herded", "shared", "16"),
    "herded shared u32": ("herded", "shared", "32"),
    "herded neighbours": ("herded", "neighbours", "32"),
}
DRIVERS = {
    "random": {"driver": "random"},
    "random chromatic": {"driver": "random", "scan": "chromatic"},
    "herded": {"driver": "herded"},
    "herded shared": {"driver": "herded", "context": "shared"},
    "herded neighbours": {"driver": "herded", "context": "neighbours"},
}
FIRST = {
    "ising": "model = heeler.ising([(i, (i + 1) % 10, 0.3) for i in range(10)], 0.1)",
    "factor graph": (
        "model = heeler.factor_graph([3] * 10, "
        "[((i, (i + 1) % 10), [1, 2, 1, 2, 1, 3, 1, 1, 2]) for i in range(10)])"
    ),
}
PROGRAM = "import heeler\n{}\nprint(heeler.sample(model, sweeps=1000, seed=1).marginals[0])"


def cases(rounds: int, *, quick: bool) -> Iterator[Case]:
    """List the measurements.

    Parameters
    ----------
    rounds
        How often times are taken.
    quick
        Whether to leave out what takes long.

    Yields
    ------
    Case
        Measurements.
    """
    few = min(rounds, 3)
    if quick:
        # One driver each: without a warm cache most of the time would go into compiling.
        yield Case("ready lattice", partial(lattice_ready, 1, 100, ("herded shared",)))
        yield Case("ready ising", partial(ising_ready, 1, 10_000, ("random",)))
        yield Case("memory herded shared u32", partial(memory, "herded shared u32", field=False))
        yield Case("import", partial(importing, 1))
        return
    yield Case("ready lattice", partial(lattice_ready, few, SIDE))
    yield Case("ready ising", partial(ising_ready, few, SIDE**2))
    for name in RUNS:
        for field in (False, True):
            title = f"memory {name}{', field' if field else ''}"
            yield Case(title, partial(memory, name, field=field))
    yield Case("import", partial(importing, rounds))
    for kind in FIRST:
        yield Case(f"first marginals {kind}", partial(first_marginals, kind, rounds))


def ready(
    name: str,
    build: Callable[[], Any],
    rounds: int,
    target: float,
    drivers: tuple[str, ...],
) -> Iterator[Figure]:
    """Time the building of a model, and of model, run and first pass together."""
    yield Figure(f"ready {name}, the model alone", best_of(build, rounds), "s")
    for title in drivers:
        options = DRIVERS[title]

        def start(options: dict = options) -> object:
            return heeler.sample(build(), sweeps=1, chains=1, threads=1, progress=False, **options)

        start()
        spent = best_of(start, rounds)
        yield Figure(f"ready {name}, with one pass, {title}", spent, "s", target, AT_MOST)


def lattice_ready(
    rounds: int,
    side: int,
    drivers: tuple[str, ...] = ("random", "herded shared", "herded neighbours"),
) -> Iterator[Figure]:
    """Time a lattice with a field on every site."""
    field = np.random.default_rng(0).normal(0, 0.4, (side, side))
    build = partial(heeler.lattice, (side, side), 0.4, field, periodic=True)
    return ready(f"lattice {side}^2", build, rounds, LATTICE_SECONDS, drivers)


def ising_ready(
    rounds: int, n: int, drivers: tuple[str, ...] = ("random", "herded", "random chromatic")
) -> Iterator[Figure]:
    """Time an Ising model made from arrays of 2 n pairs."""
    build = partial(heeler.ising, *random_arrays(n))
    return ready(f"ising {n}", build, rounds, ISING_SECONDS, drivers)


def memory(name: str, *, field: bool) -> Iterator[Figure]:
    """Measure the memory of a lattice of 10^6 sites in fresh processes."""
    driver, context, bits = RUNS[name]
    arguments = ("memory", driver, context, bits, "field" if field else "none")
    ask(*arguments, "warm")  # kernels come from the disk from here on, as for a user's second run
    warm, bare = ask(*arguments, "warm"), ask(*arguments, "bare")
    title = f"memory {name}{', field' if field else ''}"
    yield Figure(f"{title}, model", warm["model"], "MB", MODEL_MEGABYTES, AT_MOST)
    target = RUN_MEGABYTES[context]
    yield Figure(
        f"{title}, model and run", warm["run"], "MB", target, AT_MOST, "beyond the loaded kernels"
    )
    note = f"all since `import heeler`; Numba and its kernels alone {warm['kernels']:.0f} MB"
    yield Figure(f"{title}, with Numba", bare["run"], "MB", note=note)


def importing(rounds: int) -> Iterator[Figure]:
    """Time imports in fresh processes, and look for packages that should not come along."""
    answers = [ask("imports") for _ in range(rounds)]
    spent = min(answer["import"] for answer in answers)
    yield Figure("import heeler", spent, "s", IMPORT_SECONDS, AT_MOST)
    slow = answers[0]["slow"]
    note = ", ".join(slow)
    yield Figure("import heeler, slow packages", len(slow), "packages", 0, AT_MOST, note)
    spent = min(answer["names"] for answer in answers)
    note = f"then loaded: {', '.join(answers[0]['slow_names']) or 'nothing slow'}"
    yield Figure("import heeler and look up every public name", spent, "s", note=note)


def first_marginals(kind: str, rounds: int) -> Iterator[Figure]:
    """Time a whole new process, from the interpreter's start to the first marginals."""
    program = PROGRAM.format(FIRST[kind])
    cold, warm = [], []
    for _ in range(2):
        with TemporaryDirectory(prefix="heeler-cold-") as folder:
            cold.append(seconds_of(program, folder))
            warm += [seconds_of(program, folder) for _ in range(rounds)]
    for name, times, target in (("warm", warm, WARM_SECONDS), ("cold", cold, COLD_SECONDS)):
        spent, wall = min(times)
        note = f"{wall:.2f} s on the wall"
        yield Figure(f"first marginals {kind}, {name}", spent, "s", target, AT_MOST, note)
