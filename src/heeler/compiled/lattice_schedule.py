"""In which order the rows of several passes are updated: the same result with less traffic.

A pass of a large lattice reads and writes all weights once, and memory is slower than arithmetic.
But half a pass (one colour) changes a line as soon as the half pass before it has done the lines
beside it, so several half passes can follow each other line by line through the lattice while its
weights are in the cache. Bands of lines belong to threads: first every band is done as far as it
does not need the bands beside it, then the gaps between bands.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

DEPTH = 8  # passes that follow each other; more gain nothing once arithmetic is the limit
# Bytes of a window that pay: more than a core's own cache (1 MB on current processors), since what
# is fetched ahead only has to stay until the step that follows (measured at 10^7 sites).
NEAR = 3 << 20
SHALLOW = 4  # windows of fewer passes lose more by their broken streams than they save (measured)
SMALL = 1 << 20  # a lattice of so many bytes stays there anyway
UNIT = 12 << 10  # bytes of lines that are treated together, so that jobs are few
SCORE = -1  # the step of a job that counts bonds instead of updating


class Schedule(NamedTuple):
    """Jobs for every stage and band; all bands meet after every stage."""

    # int64 (jobs, 6): step (half pass) in the window or SCORE, first row, last row; and what the
    # job fetches for those after it: first row (or -1), rows, which part of them (of as many as the
    # window has passes).
    jobs: np.ndarray
    pointer: np.ndarray  # int64 (stages * bands + 1)
    window: int  # passes


def _collect(stages, window):
    ends = np.cumsum([0] + [len(jobs) for stage in stages for jobs in stage])
    jobs = np.concatenate(
        [np.asarray(jobs, np.int64).reshape(-1, 6) for stage in stages for jobs in stage]
    )
    return Schedule(np.ascontiguousarray(jobs), ends.astype(np.int64), window)


def cut(first, last, bands):
    """Return the bands' ranges of a range."""
    edges = [first + (last - first) * k // bands for k in range(bands + 1)]
    return list(pairwise(edges))


def plain(plan, bands, fused):
    """Return the schedule of one pass, phase by phase."""
    ends = plan.phase.tolist()
    stages = [
        [[(step, a, b, -1, 0, 0)] for a, b in cut(ends[step], ends[step + 1], bands)]
        for step in range(len(ends) - 1)
    ]
    if not fused:
        stages.append([[(SCORE, a, b, -1, 0, 0)] for a, b in cut(0, ends[-1], bands)])
    return _collect(stages, 1)


def skewed(lines, per_group, per_unit, window, bands, wraps):
    """Return the schedule of `window` passes in two colours, or None if the lattice is too short.

    Parameters
    ----------
    lines : int
        Rows of one colour.
    per_group : int
        Lines of one position along the first axis (neighbours are in the groups beside).
    per_unit : int
        Groups treated together.
    window, bands : int
        Passes and threads.
    wraps : bool
        Whether the first axis is periodic.
    """
    groups = lines // per_group
    units = -(-groups // per_unit)
    steps = 2 * window
    bounds = cut(0, units, bands)
    if (wraps or bands > 1) and min(b - a for a, b in bounds) < 2 * steps:
        return None
    edge = np.minimum(np.arange(units + 1) * per_unit, groups) * per_group

    def jobs_of(step, unit):
        # The rows that steps 0 and 1 will touch next are in no cache: everybody fetches a part of
        # them.
        cold = unit + step + 1 - step % 2
        known = cold < units
        cold = np.where(known, cold, 0)
        unit = unit % units
        colour = (step % 2) * lines
        return np.stack(
            [
                step, colour + edge[unit], colour + edge[unit + 1],
                np.where(known, colour + edge[cold], -1), edge[cold + 1] - edge[cold], step // 2,
            ], 1,
        )  # fmt: skip

    whole, gaps = [], []
    for band, (low, high) in enumerate(bounds):
        step, unit = np.meshgrid(np.arange(steps), np.arange(low, high), indexing="ij")
        before = step if wraps or band > 0 else 0
        behind = step if wraps or band < bands - 1 else 0
        keep = (unit >= low + before) & (unit < high - behind)
        step, unit = step[keep], unit[keep]
        order = np.lexsort((step, unit + step))
        whole.append(jobs_of(step[order], unit[order]))
        if not (wraps or band > 0):
            gaps.append(np.zeros((0, 6), np.int64))
            continue
        step = np.repeat(np.arange(steps), 2 * np.arange(steps))
        inside = np.concatenate([np.arange(2 * s) - s for s in range(steps)])
        gaps.append(jobs_of(step, low + inside.astype(np.int64)))
    return _collect([whole, gaps], window)


def depth(bytes_per_group, groups):
    """Return (passes of a window, groups of a unit) for a lattice of two colours."""
    if bytes_per_group * groups <= SMALL:
        return 1, 1
    per_unit = max(1, UNIT // bytes_per_group)
    passes = min(DEPTH, NEAR // (2 * per_unit * bytes_per_group))
    return (passes, per_unit) if passes >= SHALLOW else (1, 1)
