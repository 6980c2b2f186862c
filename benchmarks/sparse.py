"""Speed of the sparse kernels beside the C reference kernel (`gibbs_seq` = 1), accumulators on.

Random graphs with two edges a variable, couplings and fields uniform in (-1/2, 1/2). `figures()`
gives the ratios; run as a script it prints them. CPU time, one core, best of several rounds in
which the reference takes turns with what is measured.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from heeler.compiled.colour import first_fit
from heeler.compiled.coloured import SlotChain, advance_coloured, coloured_scratch, meeting
from heeler.compiled.coloured_layout import (
    colour_order,
    herded_in_slots,
    lay_out,
    slot_variables,
)
from heeler.compiled.conditionals import Sparse
from heeler.compiled.drivers import Herded, Random
from heeler.compiled.lanes import LaneChain, advance_lanes, lane_scratch
from heeler.compiled.lattice_plan import Share
from heeler.compiled.loop import Watch
from heeler.compiled.scans import Fixed, Shuffled

UPDATES = 10_000_000  # of one timed call: 20 to 60 ms
ROUNDS = 12
BINS = 64
MOST_CONTEXTS = 8  # neighbours of a variable that is herded by their assignment
SIZES = (10_000, 100_000)
LANES = (8, 16, 32, 64)


def reference() -> SimpleNamespace:
    """Load the reference kernels and their timing helpers."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "bench"
    if not (folder / "benchlib.py").is_file():
        raise FileNotFoundError(f"the reference kernels are not in {folder}")
    sys.path.insert(0, str(folder))
    import benchlib

    return benchlib


def random_graph(n: int, seed: int = 0) -> Sparse:
    """Make a random graph without tables."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n, (2 * n, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    weight = rng.uniform(-0.5, 0.5, ends.shape[0])
    source = np.concatenate((ends[:, 0], ends[:, 1]))
    target = np.concatenate((ends[:, 1], ends[:, 0]))
    order = np.lexsort((target, source))
    pointer = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n))))
    return Sparse(
        pointer.astype(np.int64),
        target[order].astype(np.uint32),
        np.full((n, 4), n, np.uint32),
        np.full(n, -1, np.int64),
        np.zeros(0, np.uint32),
        np.zeros(0, np.int32),
        np.concatenate((weight, weight))[order],
        rng.uniform(-0.5, 0.5, n),
        2.0**26,
    )


def no_watch(lanes: int) -> Watch:
    """Return counters of nothing."""
    none32, none64 = np.zeros(0, np.int32), np.zeros(0, np.int64)
    rows = np.zeros((lanes, 0), np.int64)
    return Watch(none32, none32, none64, none64, rows, none64, rows)


def coloured_job(n: int, driver_name: str) -> tuple[Callable, int]:
    """Return one lane's passes by colours, and the number of updates."""
    sparse = random_graph(n)
    degree = np.diff(sparse.pointer)
    colours = np.full(n, -1, np.int32)
    by_degree = np.argsort(-degree, kind="stable")
    first_fit(
        sparse.pointer, sparse.index, by_degree, colours, np.full(degree.max() + 2, -1, np.int64)
    )
    order, classes = colour_order(sparse.pointer, sparse.index, colours)
    variables = slot_variables(order, n)
    # Contexts numbered in the order of the pass: neighbours in time are neighbours in memory.
    small = degree[variables] <= MOST_CONTEXTS
    size = np.where(small, 1 << np.minimum(degree[variables], MOST_CONTEXTS), 0)
    sparse.base[variables] = np.where(small, np.cumsum(size) - size, -1)
    contexts = int(size.sum())
    plan = lay_out(sparse, Fixed(order, np.array([0, n]), classes))
    driver: Random | Herded = Random(np.array([5], np.uint64))
    if driver_name == "herded":
        many = sparse.base < 0
        bin_base = np.where(many, contexts + BINS * (np.cumsum(many) - 1), -1)
        weights = np.full((1, contexts + BINS * int(many.sum())), 1 << 31, np.uint32)
        driver = herded_in_slots(Herded(weights, np.zeros(0, np.int32), bin_base, BINS), order)
    x = np.random.default_rng(1).integers(0, 2, (1, n + 1)).astype(np.uint8)
    x[:, n] = 0
    chain = SlotChain(
        x,
        np.zeros((1, n), np.uint64),
        np.zeros((1, 1), np.int64),
        np.full((1, 1), -(1 << 62)),
        x.copy(),
    )
    passes = max(UPDATES // n, 1)
    rest = (Share(0, 1, 0, 1), meeting(1), np.zeros((passes, 1), np.int64), coloured_scratch())
    watch, betas = no_watch(1), np.ones(passes)
    done = [0]

    def run() -> None:
        advance_coloured(plan, driver, chain, watch, betas, done[0], *rest)
        done[0] += passes

    return run, n * passes


def lanes_job(n: int, lanes: int, scan_name: str) -> tuple[Callable, int]:
    """Return the passes of lanes side by side, and the number of updates."""
    sparse = random_graph(n)
    order, start = np.arange(n, dtype=np.uint32), np.array([0, n])
    scan: Fixed | Shuffled = Fixed(order, start, start)
    if scan_name == "shuffled":
        scan = Shuffled(order, start, np.uint64(3))
    x = np.random.default_rng(1).integers(0, 2, (n + 1, lanes)).astype(np.uint8)
    x[n] = 0
    chain = LaneChain(
        x,
        np.zeros((n, 8), np.uint64),
        np.zeros(lanes, np.int64),
        np.full(1, -(1 << 62)),
        np.zeros(n, np.uint8),
        np.zeros(n, np.int64),
    )
    passes = max(UPDATES // n // lanes, 1)
    driver, watch, betas = Random(np.array([5], np.uint64)), no_watch(lanes), np.ones(passes)
    rest = (0, np.zeros((passes, lanes), np.int64), lane_scratch(lanes, n))
    done = [0]

    def run() -> None:
        advance_lanes(sparse, driver, scan, chain, watch, betas, done[0], *rest)
        done[0] += passes

    return run, n * lanes * passes


def figures(sizes: tuple[int, ...] = SIZES, lanes: tuple[int, ...] = LANES) -> dict[str, float]:
    """Return updates per second as multiples of the reference kernel's."""
    jobs: dict[str, tuple[Callable, int]] = {}
    for n in sizes:
        for name in ("random", "herded"):
            jobs[f"sparse {name} coloured {n}"] = coloured_job(n, name)
        for count in lanes:
            jobs[f"sparse random {count} lanes {n}"] = lanes_job(n, count, "fixed")
        jobs[f"sparse random 32 lanes shuffled {n}"] = lanes_job(n, 32, "shuffled")
    bench = reference()
    for run, _ in jobs.values():
        run()  # compiled, and burnt in: no more best states
        run()
    answers = bench.ratios(
        {name: run for name, (run, _) in jobs.items()},
        {name: updates for name, (_, updates) in jobs.items()},
        N=ROUNDS,
    )
    return {name: float(answer["ratio"]) for name, answer in answers.items()}


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:40s} {value:.3f}")
