"""What the lattice kernels know of a lattice: rows of sites that are updated together, as flat arrays.

A row is a maximal run of sites along the last axis that one SIMD loop updates: all sites of a line for the
systematic scan, those of one colour for the chromatic one. The rows stand in the order of their updates.
"""

import math
from typing import NamedTuple

import numpy as np

SEGMENT = 1024  # sites of a row treated at a time: their weights (20 KB) and words (4 KB) stay in the first cache
HALO = 64
LINE = 64  # bytes


class Plan(NamedTuple):
    """The rows of a lattice in the order of a pass."""

    start: np.ndarray  # int64 (rows): where the row's first site stands in the state
    length: np.ndarray  # int64 (rows)
    flat: np.ndarray  # int64 (rows): where the row's accumulators start (a multiple of the block)
    position: np.ndarray  # int64 (rows): position in the pass of the first site
    neighbours: np.ndarray  # int64 (rows, neighbours), flattened: where the sites' i-th neighbours start
    partners: np.ndarray  # int64 (rows, partners), flattened: every bond of the lattice at one of its ends
    phase: np.ndarray  # int64 (phases + 1): ranges of rows that do not touch each other (chromatic scan)
    scored: np.ndarray  # int64 (2): the range of rows whose partners are counted
    shape: np.ndarray  # int64: neighbours, partners, 1 if keys are patterns, planes, left step, right step, wraps


NEIGHBOURS, PARTNERS, PATTERN, PLANES, LEFT, RIGHT, WRAPS = range(7)


class Score(NamedTuple):
    """How the log score follows from the counts of a pass."""

    coupling: float
    bonds: int  # partners of all scored rows
    unit: float  # nats of one step of the fixed-point field
    offset: int  # sum of the fixed-point field over all sites
    field: np.ndarray  # int32, in the layout of the accumulators; empty where all sites share the field


class Watch(NamedTuple):
    """The best state of each lane, and where threads meet."""

    best: np.ndarray  # uint8 (lanes, state)
    best_score: np.ndarray  # float64 (lanes)
    partial: np.ndarray  # int64 (bands, 8): agreements and field of each band; a cache line each
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
    words: np.ndarray  # uint32
    held: np.ndarray  # int64 (2): the blocks of words that are in `words`


def aligned(shape, dtype, fill=0):
    """Return a new array that starts at a cache line: vectors that straddle two cost twice (measured 1.5x in all)."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    room = np.empty(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    out = room[start : start + size].view(dtype).reshape(shape)
    out[...] = fill
    return out


def make_scratch():
    """Return working memory for one thread, with room for reading whole blocks past a segment's end."""
    size = SEGMENT + 64
    return Scratch(
        aligned((size,), np.uint8),
        aligned((size // 8,), np.uint8),
        aligned((size // 8,), np.uint8),
        aligned((size + 512,), np.uint32),
        np.zeros(2, np.int64),
    )
