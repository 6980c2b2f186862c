"""Passes of random (Gibbs) and greedy updates over a lattice."""

import numpy as np

from heeler.compiled.barrier import wait_for_all
from heeler.compiled.jit import helper, kernel
from heeler.compiled.lattice_blocks import WORD_SITES, draw, draw_outcomes
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
from heeler.compiled.lattice_words import GREEDY, fast_stream, words_at
from heeler.compiled.words import DRAW_VALUE

FLUSH = 255  # passes that a 32-bit sum of probabilities in units of 2^-24 can take
_HALF = np.uint32(1 << 31)


@helper
def _draw_row(plan, state, generator, key, stream, number, lane, table, table_step, sums, row,
              scratch):  # fmt: skip
    planes = plan.shape[PLANES]
    length = plan.length[row]
    start = plan.start[row]
    flat = plan.flat[row]
    chained = plan.shape[LEFT] != 0
    old_first = np.int64(state[start])
    for column in range(0, length, SEGMENT):
        count = min(SEGMENT, length - column)
        fill_keys(plan, scratch.keys, state, row, column, count)
        if generator == GREEDY:
            # The likelier value; in a tie the word lies on the side that keeps the old one.
            word = 0
            for k in range(count):
                scratch.words[k] = _HALF - np.uint32(state[start + column + k])
        else:
            word = words_at(
                scratch.words, scratch.held, generator, key, stream, number, lane, plan.position[row] + column, count
            )
        if chained:
            for at in range(0, count, WORD_SITES):
                where = (flat + column + at) * planes
                draw_outcomes(
                    scratch.keys, at, plan.shape[LEFT], scratch.words, word + at, table, where * table_step, planes,
                    scratch.down, scratch.up, at // 8,
                )  # fmt: skip
            resolve(plan, scratch, state, start + column, column, count, length, old_first)
        for at in range(0, count, WORD_SITES):
            here = flat + column + at
            draw(
                scratch.keys, at, scratch.words, word + at, table, here * planes * table_step, planes,
                state, start + column + at, sums, here,
            )  # fmt: skip
    mend_borders(plan, state, start, length, (length + 63) // 64 * 64)


@helper
def _flush(plan, share, sums, totals):
    for phase in range(plan.phase.size - 1):
        first, last = part(plan.phase[phase], plan.phase[phase + 1], share.band, share.bands)
        for row in range(first, last):
            for k in range(plan.flat[row], plan.flat[row] + plan.length[row]):
                totals[k] += np.int64(sums[k])
                sums[k] = 0


@kernel
def advance_random(plan, score, watch, share, scratch, states, table, table_step, sums, totals, since, generator, key,
                   first_pass, first_lane, scores):  # fmt: skip
    """Advance a share of the lanes by scores.shape[0] passes of independent draws.

    Every update leaves p invariant, up to the rounding of p to 2^-32.
    """
    for lane in range(share.first_lane, share.last_lane):
        state = states[lane]
        best_score = watch.best_score[lane]
        for n in range(scores.shape[0]):
            field = 0
            number = first_pass + n
            stream = fast_stream(key, number, DRAW_VALUE, first_lane + lane)
            scratch.held[1] = 0
            for phase in range(plan.phase.size - 1):
                if phase > 0 and share.bands > 1:
                    wait_for_all(watch.gate, share.bands)
                first, last = part(plan.phase[phase], plan.phase[phase + 1], share.band, share.bands)
                for row in range(first, last):
                    _draw_row(
                        plan, state, generator, key, stream, number, first_lane + lane,
                        table, table_step, sums[lane], row, scratch,
                    )  # fmt: skip
                    field += count_field(plan, score, state, row)
            value = finish_pass(plan, score, watch, share, scratch, state, field)
            best_score = keep_best(plan, watch, share, state, lane, value, best_score)
            if share.band == 0:
                scores[n, lane] = value
            if (since + n + 1) % FLUSH == 0:
                _flush(plan, share, sums[lane], totals[lane])
        if share.band == 0:
            watch.best_score[lane] = best_score
