"""Passes of random (Gibbs) and greedy updates over a lattice."""

import numpy as np

from heeler.compiled.barrier import wait_for_all
from heeler.compiled.jit import helper, kernel
from heeler.compiled.lattice_blocks import draw, draw_outcomes
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
from heeler.compiled.lattice_words import GREEDY, open_streams, words_at
from heeler.compiled.vectors import fetch_ahead

# Passes between emptyings of the 32-bit sums of probabilities in units of 2^-24: below 256, and a
# multiple of every window's length.
FLUSH = 240
_HALF = np.uint32(1 << 31)


@helper
def _segment_words(scratch, step, generator, key, number, lane, position, state, at, count):
    if generator != GREEDY:
        return words_at(scratch, step, generator, key, number, lane, position, count)
    # The likelier value; in a tie the word lies on the side that keeps the old one.
    for k in range(count):
        scratch.words[step, k] = _HALF - np.uint32(state[at + k])
    return 0


@helper
def _draw_row(plan, watch, now, state, table, table_step, sums, row, scratch, step, generator, key,
              number, lane, scored):  # fmt: skip
    planes = plan.shape[PLANES]
    length = plan.length[row]
    start = plan.start[row]
    old_first = np.int64(state[start])
    agree = 0
    for column in range(0, length, SEGMENT):
        count = min(SEGMENT, length - column)
        flat = plan.flat[row] + column
        fill_keys(plan, scratch.keys, state, row, column, count)
        word = _segment_words(
            scratch,
            step,
            generator,
            key,
            number,
            lane,
            plan.position[row] + column,
            state,
            start + column,
            count,
        )
        words = scratch.words[step]
        if plan.shape[LEFT] != 0:
            draw_outcomes(
                scratch.keys, plan.shape[LEFT], words, word, table, table_step, planes, flat,
                scratch.down, scratch.up, count,
            )  # fmt: skip
            resolve(plan, scratch, state, start + column, column, count, length, old_first)
        draw(
            scratch.keys,
            words,
            word,
            table,
            table_step,
            planes,
            state,
            start + column,
            sums,
            flat,
            count,
        )
        agree += settle_segment(plan, watch, scratch.keys, state, row, column, count, now, scored)
    return agree


@helper
def _flush(plan, share, sums, totals):
    rows = plan.start.size
    for row in range(rows * share.band // share.bands, rows * (share.band + 1) // share.bands):
        for k in range(plan.flat[row], plan.flat[row] + plan.length[row]):
            totals[k] += np.int64(sums[k])
            sums[k] = 0


@kernel
def advance_random(plan, schedule, score, watch, share, scratch, states, table, table_step, sums,
                   totals, since, generator, key, first_pass, first_lane, scores):  # fmt: skip
    """Advance a share of the lanes by scores.shape[0] passes of independent draws.

    Every update leaves p invariant, up to the rounding of p to 2^-32.
    """
    phases = plan.phase.size - 1
    planes = plan.shape[PLANES]
    turn = 0
    for lane in range(share.first_lane, share.last_lane):
        state = states[lane]
        best_score = watch.best_score[lane]
        for n in range(0, scores.shape[0], schedule.window):
            open_window(watch, share, turn)
            open_streams(scratch, phases, generator, key, first_pass + n, first_lane + lane)
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
                        fetch_ahead(sums[lane], begin, end)
                        if table_step != 0:
                            fetch_ahead(table, begin * planes, end * planes)
                    scored = np.int64(plan.shape[FUSED] != 0 and step % phases == phases - 1)
                    for row in range(first, last):
                        agree = _draw_row(
                            plan, watch, now, state, table, table_step, sums[lane], row, scratch,
                            step, generator, key, first_pass + n + now, first_lane + lane, scored,
                        )  # fmt: skip
                        finish_row(plan, score, watch, share, state, row, now, turn, agree)
                if share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
            best_score = close_window(
                plan, score, watch, share, lane, turn, schedule.window, scores, n, best_score
            )
            if (since + n + schedule.window) % FLUSH == 0:
                if share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
                _flush(plan, share, sums[lane], totals[lane])
                if share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
            turn = 1 - turn
        if share.band == 0:
            watch.best_score[lane] = best_score
        if share.bands > 1:
            # The next call starts from that score in every band.
            wait_for_all(watch.gate, share.bands)
