"""What the lattice kernels know of a lattice: rows of sites updated together.

A row is a maximal run of sites along the last axis that one SIMD loop updates: all sites of a line
for the systematic scan, those of one colour for the chromatic one. The rows stand in the order of
their updates.
"""

import math
from typing import NamedTuple

import numpy as np

# Sites of a row treated at a time: their weights (20 KB) and words (4 KB) stay in the first cache.
SEGMENT = 1024
HALO = 64  # bytes beside the rows of a state
LINE = 64  # bytes of a cache line


class Plan(NamedTuple):
    """The rows of a lattice in the order of a pass."""

    start: np.ndarray  # int64 (rows): where the row's first site stands in the state
    length: np.ndarray  # int64 (rows)
    flat: np.ndarray  # int64 (rows): where the row's accumulators start (a multiple of the block)
    position: np.ndarray  # int64 (rows): position in the pass of the first site
    neighbours: (
        np.ndarray
    )  # int64 (rows, neighbours), flattened: where the sites' i-th neighbours start
    partners: (
        np.ndarray
    )  # int64 (rows, partners), flattened: every bond of the lattice at one of its ends
    phase: (
        np.ndarray
    )  # int64 (phases + 1): ranges of rows that do not touch each other (chromatic scan)
    shape: np.ndarray  # int64, in the order of the names below


# Numbers of neighbours and partners; 1 if keys are patterns; planes; what an up neighbour on the
# left or right adds to a key where a chain follows; 1 if lines are periodic; 1 if every bond has an
# end in the last phase.
NEIGHBOURS, PARTNERS, PATTERN, PLANES, LEFT, RIGHT, WRAPS, FUSED = range(8)


class Score(NamedTuple):
    """How the log score follows from the counts of a pass."""

    coupling: float
    bonds: int  # partners of all scored rows
    unit: float  # nats of one step of the fixed-point field
    offset: int  # sum of the fixed-point field over all sites
    field: (
        np.ndarray
    )  # int32, in the layout of the accumulators; empty where all sites share the field


class Watch(NamedTuple):
    """The best state of each lane, and where threads meet."""

    best: np.ndarray  # uint64 (lanes, rows, words): states as bits
    best_score: np.ndarray  # float64 (lanes)
    recent: (
        np.ndarray
    )  # uint64 (passes, rows, words): the states after the passes of the present window
    partial: np.ndarray  # int64 (2, bands, passes, 8): agreements and field; a cache line each
    gate: np.ndarray  # int64 (8)


class Share(NamedTuple):
    """What one thread does: a range of lanes, and one of `bands` parts of every range of rows."""

    first_lane: int
    last_lane: int
    band: int
    bands: int


class Scratch(NamedTuple):
    """A thread's working memory."""

    keys: np.ndarray  # uint8: a segment's keys
    down: np.ndarray  # uint8: bits that sites get from a left neighbour that is down
    up: np.ndarray  # uint8: likewise up
    words: (
        np.ndarray
    )  # uint32 (steps, words): every half pass of a window walks through its own words
    held: np.ndarray  # int64 (steps, 2): the blocks of words that are in `words`
    streams: (
        np.ndarray
    )  # uint64 (steps, 2): where the fast generator's words of that pass come from


def aligned(shape, dtype, fill=0):
    """Return a new array that starts at a cache line: straddling vectors cost twice."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    room = np.empty(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    out = room[start : start + size].view(dtype).reshape(shape)
    out[...] = fill
    return out


def make_scratch(steps):
    """Return working memory for one thread, with room for whole blocks past a segment."""
    size = SEGMENT + 64
    return Scratch(
        aligned((size,), np.uint8),
        aligned((size // 8,), np.uint8),
        aligned((size // 8,), np.uint8),
        aligned((steps, size + 512), np.uint32),
        np.zeros((steps, 2), np.int64),
        np.zeros((steps, 2), np.uint64),
    )
