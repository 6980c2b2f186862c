"""Rows of a lattice: keys, the left-to-right chain of a systematic scan, borders, and what a pass counts."""

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
    spread_bits,
    sum_field,
)
from heeler.compiled.lattice_plan import LEFT, NEIGHBOURS, PARTNERS, PATTERN, RIGHT, WRAPS

_ONE = np.uint64(1)


@helper
def part(first, last, band, bands):
    """Return the part of a range of rows that belongs to a band."""
    count = last - first
    return first + count * band // bands, first + count * (band + 1) // bands


@helper
def fill_keys(plan, keys, state, row, column, count):
    """Store the keys of a segment (the left neighbour left out where a chain follows)."""
    for at in range(0, count, SITES):
        count_neighbours(
            keys, at, state, plan.neighbours, row, column + at, plan.shape[NEIGHBOURS], plan.shape[PATTERN]
        )


@helper
def solve_chain(down, up, left):
    """Return 64 values where bit c is up[c] if bit c - 1 of the result is set, else down[c]; bit -1 is `left`.

    Where the two outcomes differ the value is down[c] xor its left neighbour, so the prefix parity of `down`
    turns "differ" into "copy the left neighbour": a carry that one addition hands on through all 64 places.
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
    """Finish a segment's keys, given the bits that its sites get from a left neighbour that is down, or up."""
    keys = scratch.keys
    for block in range(0, count, SITES):
        left = np.uint64(state[at + block - 1])
        bits = solve_chain(np.uint64(load_bits(scratch.down, block // 8)), np.uint64(load_bits(scratch.up, block // 8)), left)
        spread_bits(np.int64(bits), state, at + block)
        add_left(keys, block, state, at + block, plan.shape[LEFT])
    if plan.shape[WRAPS] != 0 and column + count == length:
        # The row's last site has the first one on its right, which this pass has changed already.
        change = np.int64(state[at - column]) - old_first
        keys[count - 1] = np.uint8(np.int64(keys[count - 1]) + change * plan.shape[RIGHT])


@helper
def mend_borders(plan, state, start, length, written):
    """Clear what block stores left behind a row's end and renew the copies of its end sites beside it."""
    for k in range(start + length, start + written):
        state[k] = 0
    if plan.shape[WRAPS] != 0:
        state[start - 1] = state[start + length - 1]
        state[start + length] = state[start]


@helper
def count_bonds(plan, keys, state, row):
    """Return the agreements of a row's sites with their partners."""
    partners = plan.shape[PARTNERS]
    total = 0
    for column in range(0, plan.length[row], SITES):
        count_neighbours(keys, 0, state, plan.partners, row, column, partners, 0)
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
def finish_pass(plan, score, watch, share, scratch, state, field):
    """Return the log score after a pass and keep the state if it is the best so far."""
    if plan.phase.size > 2 and plan.scored[0] != plan.phase[plan.phase.size - 2]:
        wait_for_all(watch.gate, share.bands)
    agree = 0
    first, last = part(plan.scored[0], plan.scored[1], share.band, share.bands)
    for row in range(first, last):
        agree += count_bonds(plan, scratch.keys, state, row)
    watch.partial[share.band, 0] = agree
    watch.partial[share.band, 1] = field
    if share.bands > 1:
        wait_for_all(watch.gate, share.bands)
    agree = 0
    field = 0
    for band in range(share.bands):
        agree += watch.partial[band, 0]
        field += watch.partial[band, 1]
    return log_score(score, agree, field)


@helper
def log_score(score, agree, field):
    """Return the log score that belongs to the counts of a state."""
    return score.coupling * (2 * agree - score.bonds) + score.unit * (2 * field - score.offset)


@helper
def keep_best(plan, watch, share, state, lane, score, best_score):
    """Copy the band's rows and return the new best score if this one is better."""
    if score <= best_score:
        return best_score
    for phase in range(plan.phase.size - 1):
        first, last = part(plan.phase[phase], plan.phase[phase + 1], share.band, share.bands)
        for row in range(first, last):
            for k in range(plan.start[row], plan.start[row] + plan.length[row]):
                watch.best[lane, k] = state[k]
    return score


@kernel
def score_states(plan, score, keys, states, out):
    """Store the log scores of states (lanes, state)."""
    for lane in range(states.shape[0]):
        agree = 0
        field = 0
        for row in range(plan.start.size):
            field += count_field(plan, score, states[lane], row)
            if plan.scored[0] <= row < plan.scored[1]:
                agree += count_bonds(plan, keys, states[lane], row)
        out[lane] = log_score(score, agree, field)
