"""Passes of herded updates over a lattice."""

import numpy as np

from heeler.compiled.barrier import wait_for_all
from heeler.compiled.jit import helper, kernel
from heeler.compiled.lattice_blocks import herd, herd_outcomes
from heeler.compiled.lattice_plan import LEFT, PLANES, SEGMENT
from heeler.compiled.lattice_rows import (
    count_field,
    fill_keys,
    finish_pass,
    keep_best,
    mend_borders,
    part,
    resolve,
)

FLUSH = 255  # passes that an 8-bit count can take


@helper
def _herd_row(plan, state, weights, table, table_step, counts, row, scratch):
    lanes = 64 // weights.itemsize
    planes = plan.shape[PLANES]
    length = plan.length[row]
    start = plan.start[row]
    flat = plan.flat[row]
    chained = plan.shape[LEFT] != 0
    old_first = np.int64(state[start])
    for column in range(0, length, SEGMENT):
        count = min(SEGMENT, length - column)
        fill_keys(plan, scratch.keys, state, row, column, count)
        if chained:
            for at in range(0, count, lanes):
                where = (flat + column + at) * planes
                herd_outcomes(
                    scratch.keys, at, plan.shape[LEFT], weights, where, table, where * table_step, planes,
                    scratch.down, scratch.up, at // 8,
                )  # fmt: skip
            resolve(plan, scratch, state, start + column, column, count, length, old_first)
        for at in range(0, count, lanes):
            here = flat + column + at
            where = here * planes
            herd(
                scratch.keys, at, weights, where, table, where * table_step, planes,
                state, start + column + at, counts, here,
            )  # fmt: skip
    mend_borders(plan, state, start, length, (length + 63) // 64 * 64)


@helper
def _flush(plan, share, counts, totals, one):
    for phase in range(plan.phase.size - 1):
        first, last = part(plan.phase[phase], plan.phase[phase + 1], share.band, share.bands)
        for row in range(first, last):
            for k in range(plan.flat[row], plan.flat[row] + plan.length[row]):
                totals[k] += np.int64(counts[k]) << one
                counts[k] = 0


@kernel
def advance_herded(plan, score, watch, share, scratch, states, weights, table, table_step, counts, totals, since, scores):
    """Advance a share of the lanes by scores.shape[0] passes; `since` passes have been counted before.

    The invariant of herding holds exactly: every weight's sum of values is its sum of probabilities up to the
    weight itself. A pass reads and writes each site's weights once.
    """
    one = 8 * weights.itemsize
    for lane in range(share.first_lane, share.last_lane):
        state = states[lane]
        best_score = watch.best_score[lane]
        for n in range(scores.shape[0]):
            field = 0
            for phase in range(plan.phase.size - 1):
                if phase > 0 and share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
                first, last = part(plan.phase[phase], plan.phase[phase + 1], share.band, share.bands)
                for row in range(first, last):
                    _herd_row(
                        plan, state, weights[lane], table, table_step, counts[lane], row, scratch
                    )
                    field += count_field(plan, score, state, row)
            value = finish_pass(plan, score, watch, share, scratch, state, field)
            best_score = keep_best(plan, watch, share, state, lane, value, best_score)
            if share.band == 0:
                scores[n, lane] = value
            if (since + n + 1) % FLUSH == 0:
                _flush(plan, share, counts[lane], totals[lane], one)
        if share.band == 0:
            watch.best_score[lane] = best_score
