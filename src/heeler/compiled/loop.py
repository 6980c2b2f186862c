"""The one loop: passes of single-site updates of one lane at a time.

A job is a lane of a component (a component is one model of a batch; usually there is one). Jobs do
not touch each other's memory, so threads take jobs. Within a job everything is a function of (pass,
position), so a run may be cut into calls anywhere.
"""

from typing import NamedTuple

import numpy as np

from heeler.compiled.conditionals import (
    binary_conditional,
    kary_conditional,
    later_change,
    note_change,
    score_change,
)
from heeler.compiled.drivers import (
    add_credits,
    binary_credit,
    count_moves,
    draw_binary,
    draw_kary,
    fill,
    note_move,
    room_for,
)
from heeler.compiled.jit import helper, kernel
from heeler.compiled.scans import (
    changes_at_once,
    counts_visits,
    prepare,
    present_gain,
    present_row,
    site,
)
from heeler.compiled.words import BLOCK


class Chain(NamedTuple):
    """The arrays of a running chain; the rows of all but `visits` are lanes."""

    x: np.ndarray  # uint8 or uint16 (lanes, n + 1): the last is always 0
    sums: np.ndarray  # uint64 (lanes, n or entries): credits of the Rao-Blackwell sums
    score: np.ndarray  # int64 (lanes, components): log score, fixed point
    best_score: np.ndarray  # int64 (lanes, components)
    best: np.ndarray  # like x
    visits: (
        np.ndarray
    )  # int64 (n): updates of each variable, counted for scans that do not visit evenly
    variables: np.ndarray  # int64 (components + 1): each component's range of variables
    entry: np.ndarray  # int64 (n): first column of each variable in sums (K values only)
    restart: (
        np.ndarray
    )  # like x: the state that every pass starts from, or no rows for a chain that goes on
    restart_score: np.ndarray  # int64 (lanes, components)
    # What such a pass can change, and all that has to be put back and counted: a short scan of a
    # large model costs as much as of a small one.
    touched: np.ndarray  # int64: the sites of each component's scan, ascending
    touched_start: np.ndarray  # int64 (components + 1)


class Scratch(NamedTuple):
    """Working memory of one thread."""

    words: np.ndarray  # uint32 (256)
    more_words: np.ndarray  # uint32 (2, 256)
    order: np.ndarray  # int32 (sites of a pass) for scans that make them
    x: np.ndarray  # like a row of x, for scans that change all variables at once
    p: np.ndarray  # int32 (most values, filled up to a multiple of 8): probabilities
    work: np.ndarray  # float64, as many: log weights
    weights: np.ndarray  # float64, as many: weights
    ratio: np.ndarray  # float64 (256): weight of each update's new value over that of the old one


class Watch(NamedTuple):
    """What is counted after every pass, when asked for."""

    first: np.ndarray  # int32 (pairs)
    second: np.ndarray  # int32 (pairs)
    offset: np.ndarray  # int64 (pairs): where the pair's table starts
    width: np.ndarray  # int64 (pairs): values of the second variable
    pairs: np.ndarray  # int64 (lanes, cells)
    stride: np.ndarray  # int64 (n): weight of each variable in the joint state's number, or empty
    joint: np.ndarray  # int64 (lanes, states)


@helper
def watch_pass(watch, lane, x):
    """Count the pairs and the joint state after a pass."""
    for k in range(watch.first.size):
        watch.pairs[
            lane, watch.offset[k] + x[watch.first[k]] * watch.width[k] + x[watch.second[k]]
        ] += 1
    if watch.stride.size > 0:
        state = np.int64(0)
        for i in range(watch.stride.size):
            state += watch.stride[i] * x[i]
        watch.joint[lane, state] += 1


@helper
def keep_best(chain, lane, component, score):
    """Copy the state if it is the best so far."""
    if score > chain.best_score[lane, component]:
        chain.best_score[lane, component] = score
        for i in range(chain.variables[component], chain.variables[component + 1]):
            chain.best[lane, i] = chain.x[lane, i]


@helper
def start_afresh(chain, conditional, driver, lane, component):
    """Put the starting state back, tell those who follow the state, and return its score."""
    for k in range(chain.touched_start[component], chain.touched_start[component + 1]):
        i = chain.touched[k]
        old = np.int64(chain.x[lane, i])
        new = np.int64(chain.restart[lane, i])
        if new != old:
            chain.x[lane, i] = new
            note_change(conditional, lane, i, old, new)
            note_move(driver, lane, i, old, new)
    return chain.restart_score[lane, component]


@helper
def count_state(chain, lane, component):
    """Count the values after a pass that started afresh: they have a whole scan behind them."""
    for k in range(chain.touched_start[component], chain.touched_start[component + 1]):
        i = chain.touched[k]
        if chain.entry.size > 0:
            chain.sums[lane, chain.entry[i] + chain.x[lane, i]] += np.uint64(1)
        else:
            chain.sums[lane, i] += np.uint64(chain.x[lane, i])


@kernel
def advance_binary(
    conditional, driver, scan, chain, watch, betas, first_pass, jobs, scores, done, scratch
):
    """Advance the jobs by betas.size passes (fewer where a driver's memory is full: see done)."""
    words = scratch.words
    for job in jobs:
        lane = job % chain.x.shape[0]
        component = job // chain.x.shape[0]
        x = chain.x[lane]
        sums = chain.sums[lane]
        score = chain.score[lane, component]
        for t in range(done[job], betas.size):
            pass_number = first_pass + t
            count = prepare(scan, scratch, component, pass_number)
            if not room_for(driver, lane, count):
                break
            beta = betas[t]
            if chain.restart.size > 0:
                score = start_afresh(chain, conditional, driver, lane, component)
            seen = x
            if changes_at_once(scan):
                seen = scratch.x
                for i in range(x.size):
                    seen[i] = x[i]
            for block in range((count + BLOCK - 1) // BLOCK):
                fill(driver, words, component, pass_number, lane, block)
                start = block * BLOCK
                for k in range(start, min(start + BLOCK, count)):
                    i = site(scan, scratch, component, k)
                    p, gain, context = binary_conditional(conditional, lane, seen, i, beta)
                    old = np.int64(x[i])
                    new = draw_binary(driver, lane, words[k - start], i, p, context, old)
                    count_moves(driver, lane, new != old)
                    gain = present_gain(scan, conditional, lane, x, i, beta, gain)
                    x[i] = new
                    if chain.restart.size == 0:
                        sums[i] += binary_credit(driver, p, new)
                    score += (new - old) * gain
                    if new != old:
                        note_change(conditional, lane, i, old, new)
                        note_move(driver, lane, i, old, new)
            done[job] = t + 1
            if counts_visits(scan) and lane == 0:
                for k in range(count):
                    chain.visits[scratch.order[k]] += 1
            if scores.size > 0:
                scores[t, job] = score
            keep_best(chain, lane, component, score)
            watch_pass(watch, lane, x)
            if chain.restart.size > 0:
                count_state(chain, lane, component)
        chain.score[lane, component] = score


@kernel
def advance_kary(
    conditional, driver, scan, chain, watch, betas, first_pass, jobs, scores, done, scratch
):
    """Advance the jobs of a model whose variables have any numbers of values."""
    words = scratch.words
    for job in jobs:
        lane = job % chain.x.shape[0]
        component = job // chain.x.shape[0]
        x = chain.x[lane]
        sums = chain.sums[lane]
        score = chain.score[lane, component]
        for t in range(done[job], betas.size):
            pass_number = first_pass + t
            count = prepare(scan, scratch, component, pass_number)
            if not room_for(driver, lane, count):
                break
            beta = betas[t]
            if chain.restart.size > 0:
                score = start_afresh(chain, conditional, driver, lane, component)
            seen = x
            if changes_at_once(scan):
                seen = scratch.x
                for i in range(x.size):
                    seen[i] = x[i]
            for block in range((count + BLOCK - 1) // BLOCK):
                fill(driver, words, component, pass_number, lane, block)
                start = block * BLOCK
                for k in range(start, min(start + BLOCK, count)):
                    i = site(scan, scratch, component, k)
                    values, row, tabulated = kary_conditional(
                        conditional, lane, seen, i, beta, scratch
                    )
                    p = scratch.p
                    at = np.int64(0)
                    if tabulated:
                        p = conditional.table
                        at = 2 * row
                    old = np.int64(x[i])
                    new = draw_kary(driver, lane, words[k - start], i, values, p, at, row, old)
                    x[i] = new
                    count_moves(driver, lane, new != old)
                    if chain.restart.size == 0:
                        add_credits(driver, sums, chain.entry[i], p, at, values, new)
                    at = present_row(scan, conditional, lane, x, i, beta, scratch, at)
                    score += score_change(
                        conditional, i, scratch, k - start, p, at, values, tabulated, old, new
                    )
                    if new != old:
                        note_move(driver, lane, i, old, new)
                score += later_change(conditional, scratch, min(BLOCK, count - start), beta)
            done[job] = t + 1
            if counts_visits(scan) and lane == 0:
                for k in range(count):
                    chain.visits[scratch.order[k]] += 1
            if scores.size > 0:
                scores[t, job] = score
            keep_best(chain, lane, component, score)
            watch_pass(watch, lane, x)
            if chain.restart.size > 0:
                count_state(chain, lane, component)
        chain.score[lane, component] = score
