"""Rows of a lattice: keys, the chain of a systematic scan, borders, what a pass counts."""

import numpy as np

from heeler.compiled.barrier import wait_for_all
from heeler.compiled.jit import helper, kernel
from heeler.compiled.lattice_blocks import (
    SITES,
    WORD_SITES,
    add_left,
    count_agreement,
    count_neighbours,
    count_up,
    load_bits,
    settle,
    spread_bits,
    sum_field,
)
from heeler.compiled.lattice_plan import FUSED, LEFT, NEIGHBOURS, PARTNERS, PATTERN, RIGHT, WRAPS

_ONE = np.uint64(1)


@helper
def fill_keys(plan, keys, state, row, column, count):
    """Store the keys of a segment (the left neighbour left out where a chain follows)."""
    count_neighbours(
        keys,
        state,
        plan.neighbours,
        row,
        column,
        count,
        plan.shape[NEIGHBOURS],
        plan.shape[PATTERN],
    )


@helper
def solve_chain(down, up, left):
    """Return bits with bit c = up[c] if bit c - 1 is set, else down[c]; bit -1 is `left`.

    Where the two outcomes differ the value is down[c] xor its left neighbour, so the prefix parity
    of `down` turns "differ" into "copy the left neighbour": a carry that one addition hands on
    through all 64 places.
    """
    differ = down ^ up
    parity = down
    parity ^= parity << _ONE
    parity ^= parity << np.uint64(2)
    parity ^= parity << np.uint64(4)
    parity ^= parity << np.uint64(8)
    parity ^= parity << np.uint64(16)
    parity ^= parity << np.uint64(32)
    made = ~differ & (parity << _ONE)
    either = made | differ
    carried = either ^ made ^ (either + made + left)
    return parity ^ (made | (differ & carried))


@helper
def resolve(plan, scratch, state, at, column, count, length, old_first):
    """Finish a segment's keys, given the bits that its sites get from either left neighbour."""
    keys = scratch.keys
    for block in range(0, count, SITES):
        left = np.uint64(state[at + block - 1])
        bits = solve_chain(
            np.uint64(load_bits(scratch.down, block // 8)),
            np.uint64(load_bits(scratch.up, block // 8)),
            left,
        )
        spread_bits(np.int64(bits), state, at + block)
        add_left(keys, block, state, at + block, plan.shape[LEFT])
    if plan.shape[WRAPS] != 0 and column + count == length:
        # The row's last site has the first one on its right, which this pass has changed already.
        change = np.int64(state[at - column]) - old_first
        keys[count - 1] = np.uint8(np.int64(keys[count - 1]) + change * plan.shape[RIGHT])


@helper
def count_bonds(plan, keys, state, row):
    """Return the agreements of a row's sites with their partners."""
    partners = plan.shape[PARTNERS]
    total = 0
    for column in range(0, plan.length[row], SITES):
        count_neighbours(keys, state, plan.partners, row, column, SITES, partners, 0)
        total += count_agreement(
            keys, 0, state, plan.start[row] + column, partners, plan.length[row] - column
        )
    return total


@helper
def count_field(plan, score, state, row):
    """Return the sum of the fixed-point fields of a row's up sites."""
    total = 0
    length = plan.length[row]
    start = plan.start[row]
    if score.field.size > 0:
        flat = plan.flat[row]
        for column in range(0, length, WORD_SITES):
            total += sum_field(score.field, flat + column, state, start + column)
    elif score.unit != 0.0:
        for column in range(0, length, SITES):
            total += count_up(state, start + column, length - column)
    return total


@helper
def settle_segment(plan, watch, keys, state, row, column, count, now, scored):
    """Finish a segment after its update; return its agreements by its keys if `scored` is 1."""
    return settle(
        keys,
        state,
        plan.start[row] + column,
        watch.recent[now],
        row * watch.recent.shape[2] + column // SITES,
        plan.shape[NEIGHBOURS],
        plan.shape[PATTERN],
        scored,
        count,
    )


@helper
def finish_row(plan, score, watch, share, state, row, now, turn, agree):
    """Renew a row's borders and count its agreements and field."""
    start = plan.start[row]
    if plan.shape[WRAPS] != 0:
        state[start - 1] = state[start + plan.length[row] - 1]
        state[start + plan.length[row]] = state[start]
    watch.partial[turn, share.band, now, 0] += agree
    if score.unit != 0.0:
        watch.partial[turn, share.band, now, 1] += count_field(plan, score, state, row)


@helper
def score_rows(plan, watch, share, keys, state, first, last, window_pass, turn):
    """Count the bonds of a range of rows."""
    agree = 0
    for row in range(first, last):
        agree += count_bonds(plan, keys, state, row)
    watch.partial[turn, share.band, window_pass, 0] += agree


@helper
def cold_part(plan, schedule, job):
    """Return the range of sites, by accumulators, that a job fetches for later jobs."""
    row = schedule.jobs[job, 3]
    if row < 0:
        return 0, 0
    size = schedule.jobs[job, 4] * (plan.flat[1] if plan.flat.size > 1 else 0)
    share, shares = schedule.jobs[job, 5], schedule.window
    return plan.flat[row] + size * share // shares, plan.flat[row] + size * (share + 1) // shares


@helper
def log_score(score, agree, field):
    """Return the log score that belongs to the counts of a state."""
    return score.coupling * (2 * agree - score.bonds) + score.unit * (2 * field - score.offset)


@helper
def open_window(watch, share, turn):
    """Clear a band's counts."""
    for k in range(watch.partial.shape[2]):
        watch.partial[turn, share.band, k, 0] = 0
        watch.partial[turn, share.band, k, 1] = 0


@helper
def close_window(plan, score, watch, share, lane, turn, window, scores, n, best_score):
    """Store the scores of a window's passes; keep the best state; return its score.

    Every band computes the same numbers; each copies its part of the rows.
    """
    best = -1
    for k in range(window):
        agree = 0
        field = 0
        for band in range(share.bands):
            agree += watch.partial[turn, band, k, 0]
            field += watch.partial[turn, band, k, 1]
        value = log_score(score, agree, field)
        if share.band == 0:
            scores[n + k, lane] = value
        if value > best_score:
            best_score = value
            best = k
    if best >= 0:
        rows, words = watch.recent.shape[1], watch.recent.shape[2]
        for row in range(rows * share.band // share.bands, rows * (share.band + 1) // share.bands):
            for word in range(words):
                watch.best[lane, row * words + word] = watch.recent[best, row, word]
        if share.bands > 1:
            wait_for_all(watch.gate, share.bands)
    return best_score


@kernel
def score_states(plan, score, keys, states, out):
    """Store the log scores of states (lanes, state)."""
    for lane in range(states.shape[0]):
        agree = 0
        field = 0
        for row in range(plan.start.size):
            field += count_field(plan, score, states[lane], row)
            if plan.shape[FUSED] == 0 or row >= plan.phase[plan.phase.size - 2]:
                agree += count_bonds(plan, keys, states[lane], row)
        out[lane] = log_score(score, agree, field)
