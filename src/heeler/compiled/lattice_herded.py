"""Passes of herded updates over a lattice."""

import numpy as np

from heeler.compiled.barrier import wait_for_all
from heeler.compiled.jit import helper, kernel
from heeler.compiled.lattice_blocks import herd, herd_outcomes
from heeler.compiled.lattice_plan import FUSED, LEFT, PLANES, SEGMENT
from heeler.compiled.lattice_rows import (
    close_window,
    cold_part,
    fill_keys,
    finish_row,
    open_window,
    resolve,
    score_rows,
    settle_segment,
)
from heeler.compiled.vectors import fetch_ahead

# Passes between emptyings of the 8-bit counts: below 256, and a multiple of every window's length.
FLUSH = 240


@helper
def _herd_row(plan, watch, now, state, weights, table, table_step, counts, row, scratch, scored):
    planes = plan.shape[PLANES]
    length = plan.length[row]
    start = plan.start[row]
    old_first = np.int64(state[start])
    agree = 0
    for column in range(0, length, SEGMENT):
        count = min(SEGMENT, length - column)
        flat = plan.flat[row] + column
        fill_keys(plan, scratch.keys, state, row, column, count)
        if plan.shape[LEFT] != 0:
            herd_outcomes(
                scratch.keys, plan.shape[LEFT], weights, table, table_step, planes, flat,
                scratch.down, scratch.up, count,
            )  # fmt: skip
            resolve(plan, scratch, state, start + column, column, count, length, old_first)
        herd(
            scratch.keys,
            weights,
            table,
            table_step,
            planes,
            state,
            start + column,
            counts,
            flat,
            count,
        )
        agree += settle_segment(plan, watch, scratch.keys, state, row, column, count, now, scored)
    return agree


@helper
def _flush(plan, share, counts, totals, bits):
    rows = plan.start.size
    for row in range(rows * share.band // share.bands, rows * (share.band + 1) // share.bands):
        for k in range(plan.flat[row], plan.flat[row] + plan.length[row]):
            totals[k] += np.int64(counts[k]) << bits
            counts[k] = 0


@kernel
def advance_herded(plan, schedule, score, watch, share, scratch, states, weights, table,
                   table_step, counts, totals, since, scores):  # fmt: skip
    """Advance a share of the lanes by scores.shape[0] passes, `since` passes after the reset.

    The invariant of herding holds exactly: every weight's sum of values is its sum of probabilities
    up to the weight itself. A pass reads and writes each site's weights once.
    """
    phases = plan.phase.size - 1
    planes = plan.shape[PLANES]
    turn = 0
    for lane in range(share.first_lane, share.last_lane):
        state = states[lane]
        best_score = watch.best_score[lane]
        for n in range(0, scores.shape[0], schedule.window):
            open_window(watch, share, turn)
            for stage in range((schedule.pointer.size - 1) // share.bands):
                at = stage * share.bands + share.band
                for job in range(schedule.pointer[at], schedule.pointer[at + 1]):
                    step = schedule.jobs[job, 0]
                    first = schedule.jobs[job, 1]
                    last = schedule.jobs[job, 2]
                    if step < 0:
                        score_rows(plan, watch, share, scratch.keys, state, first, last, 0, turn)
                        continue
                    now = step // phases
                    begin, end = cold_part(plan, schedule, job)
                    if end > begin:
                        fetch_ahead(weights[lane], begin * planes, end * planes)
                        if table_step != 0:
                            fetch_ahead(table, begin * planes, end * planes)
                    scored = np.int64(plan.shape[FUSED] != 0 and step % phases == phases - 1)
                    for row in range(first, last):
                        agree = _herd_row(
                            plan,
                            watch,
                            now,
                            state,
                            weights[lane],
                            table,
                            table_step,
                            counts[lane],
                            row,
                            scratch,
                            scored,
                        )
                        finish_row(plan, score, watch, share, state, row, now, turn, agree)
                if share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
            best_score = close_window(
                plan, score, watch, share, lane, turn, schedule.window, scores, n, best_score
            )
            if (since + n + schedule.window) % FLUSH == 0:
                if share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
                _flush(plan, share, counts[lane], totals[lane], 8 * weights.itemsize)
                if share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
            turn = 1 - turn
        if share.band == 0:
            watch.best_score[lane] = best_score
        if share.bands > 1:
            # The next call starts from that score in every band.
            wait_for_all(watch.gate, share.bands)
