"""Many lanes side by side: all lanes of a variable are updated before the next variable.

The lanes of a variable are contiguous, so what one lane does alone (wait for a neighbour's value,
look up, draw) 8 lanes do in one vector, on any graph and without a colouring. Lanes share their
scan and nothing else; each has the bits that the general loop would give it.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from heeler.compiled.conditionals import is_type
from heeler.compiled.drivers import Metropolis, Quasi, Random
from heeler.compiled.jit import INLINE, helper, kernel
from heeler.compiled.lane_blocks import (
    WIDE,
    WIDTH,
    add_sums,
    move_computed,
    move_computed_wide,
    move_from_table,
    prefetch,
    take_computed,
    take_computed_wide,
    take_from_table,
)
from heeler.compiled.scans import counts_visits, prepare, site
from heeler.compiled.words import BLOCK, DRAW_VALUE, DRAW_WEIGHT, fill_block_lanes

# How many updates ahead the neighbours' values are asked for: an update of 32 lanes takes about 60
# ns, the second cache answers in 5 ns, the third in 20 to 50, memory in 100. Measured best of 2, 3,
# 4, 6, 8 and 16.
AHEAD = 6
NEAR = (
    1 << 19
)  # bytes of state that the second cache holds beside the rest: nothing is asked for ahead
LINE = 64  # bytes of a cache line


class LaneChain(NamedTuple):
    """The arrays of the running chains; the last axis of x and score is lanes."""

    x: np.ndarray  # uint8 (n + 1, lanes): the last row is always 0
    sums: (
        np.ndarray
    )  # uint64 (n, groups): credits of the Rao-Blackwell sums; lane l counts in column l % groups
    score: np.ndarray  # int64 (lanes): log score, fixed point
    best_score: np.ndarray  # int64 (1): of the best lane
    best: np.ndarray  # uint8 (n): the best lane's best state
    visits: (
        np.ndarray
    )  # int64 (n): updates of each variable, counted for scans that do not visit evenly


class LaneScratch(NamedTuple):
    """Working memory of one thread; lanes are rounded up to a multiple of 8."""

    words: np.ndarray  # uint32 (256, lanes)
    more_words: np.ndarray  # uint32 (2, 256), for the scan and for quasi sequences
    order: np.ndarray  # uint32 (sites of a pass), for scans that make them
    log_odds: np.ndarray  # float64 (lanes)
    p: np.ndarray  # int64 (lanes)
    gain: np.ndarray  # int64 (lanes)
    credit: np.ndarray  # uint64 (8)


def lane_scratch(lanes: int, sites: int = 0) -> LaneScratch:
    """Return the working memory of one thread; `sites` is the length of a pass made anew."""
    width = (lanes + WIDTH - 1) // WIDTH * WIDTH
    return LaneScratch(
        np.zeros((BLOCK, width), np.uint32),
        np.zeros((2, BLOCK), np.uint32),
        np.zeros(sites, np.uint32),
        np.zeros(width),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(8, np.uint64),
    )


def fill_lanes(driver, scratch, pass_number, first_lane, block):
    """Prepare the words of 256 positions for all lanes."""


@overload(fill_lanes, inline="always", jit_options=INLINE)
def _fill_lanes(driver, scratch, pass_number, first_lane, block):
    if is_type(driver, Random) or is_type(driver, Metropolis):

        def random(driver, scratch, pass_number, first_lane, block):
            fill_block_lanes(
                scratch.words, driver.keys[0], pass_number, DRAW_VALUE, first_lane, block
            )

        return random
    if is_type(driver, Quasi):
        return _fill_quasi_lanes
    return None


def _fill_quasi_lanes(driver, scratch, pass_number, first_lane, block):
    words = scratch.words
    key = driver.keys[0]
    if pass_number < driver.first_pass:
        fill_block_lanes(words, key, pass_number, DRAW_VALUE, first_lane, block)
    else:
        fill_block_lanes(words, key, 0, DRAW_WEIGHT, first_lane, block)  # the digital shifts
        at = pass_number - driver.first_pass - driver.zero_passes
        if at >= 0:  # before, the zero point
            period = driver.sequence.size
            at = (at % period * driver.stride + block * BLOCK) % period
            for k in range(BLOCK):
                for lane in range(words.shape[1]):
                    words[k, lane] ^= driver.sequence[at]
                at = at + 1 if at + 1 < period else 0


@helper
def _computed(conditional):
    """Say whether p comes from the couplings, which was faster than tables at every size."""
    return conditional.coupling.size > 0 or conditional.table.size == 0


@helper
def _draw(conditional, driver, chain, scratch, i, position, beta):
    """Draw one variable in all lanes."""
    x = chain.x
    lanes = x.shape[1]
    width = conditional.near.shape[1]
    base = conditional.base[i]
    whole = lanes - WIDTH
    at = np.int64(i) * lanes
    word_at = position * scratch.words.shape[1]
    if not _computed(conditional):
        for step in range(0, lanes, WIDTH):
            # The last step overlaps the one before it where lanes are not a multiple of 8: updating
            # twice with the same word and neighbours changes nothing.
            lane = min(step, whole)
            take_from_table(
                x, at + lane, conditional.near, np.int64(i) * width, width, lanes, lane, base,
                conditional.table, conditional.gain, scratch.words, word_at + lane, scratch.p,
                chain.score, chain.score,
            )  # fmt: skip
        return
    field = conditional.field[i]
    first = conditional.pointer[i]
    last = conditional.pointer[i + 1]
    wide = lanes // WIDE * WIDE
    for lane in range(0, wide, WIDE):
        take_computed_wide(
            x, at + lane, conditional.index, conditional.coupling, first, last, lanes, lane, field,
            beta, conditional.scale, scratch.words, word_at + lane, scratch.p, chain.score,
            chain.score,
        )  # fmt: skip
    for step in range(wide, lanes, WIDTH):
        lane = min(step, whole)
        take_computed(
            x, at + lane, conditional.index, conditional.coupling, first, last, lanes, lane, field,
            beta, conditional.scale, scratch.words, word_at + lane, scratch.p, chain.score,
            chain.score,
        )  # fmt: skip


@helper
def _move(conditional, driver, chain, scratch, i, position, beta):
    """Flip one variable or leave it, in all lanes: a multiple of 8, as nothing may move twice."""
    x = chain.x
    lanes = x.shape[1]
    width = conditional.near.shape[1]
    base = conditional.base[i]
    whole = lanes - WIDTH
    at = np.int64(i) * lanes
    word_at = position * scratch.words.shape[1]
    if not _computed(conditional):
        for step in range(0, lanes, WIDTH):
            lane = min(step, whole)
            move_from_table(
                x, at + lane, conditional.near, np.int64(i) * width, width, lanes, lane, base,
                conditional.table, conditional.gain, scratch.words, word_at + lane, scratch.p,
                chain.score, driver.moves,
            )  # fmt: skip
        return
    field = conditional.field[i]
    first = conditional.pointer[i]
    last = conditional.pointer[i + 1]
    wide = lanes // WIDE * WIDE
    for lane in range(0, wide, WIDE):
        move_computed_wide(
            x, at + lane, conditional.index, conditional.coupling, first, last, lanes, lane, field,
            beta, conditional.scale, scratch.words, word_at + lane, scratch.p, chain.score,
            driver.moves,
        )  # fmt: skip
    for step in range(wide, lanes, WIDTH):
        lane = min(step, whole)
        move_computed(
            x, at + lane, conditional.index, conditional.coupling, first, last, lanes, lane, field,
            beta, conditional.scale, scratch.words, word_at + lane, scratch.p, chain.score,
            driver.moves,
        )  # fmt: skip


def _update(conditional, driver, chain, scratch, i, position, beta):
    """Update one variable in all lanes."""


@overload(_update, inline="always", jit_options=INLINE)
def _update_by(conditional, driver, chain, scratch, i, position, beta):
    rule = _move if is_type(driver, Metropolis) else _draw
    return lambda conditional, driver, chain, scratch, i, position, beta: rule(
        conditional, driver, chain, scratch, i, position, beta
    )


@helper
def _add_sums(chain, scratch, i):
    """Add the probabilities of all lanes to the sums of their groups."""
    sums = chain.sums
    groups = sums.shape[1]
    if groups == WIDTH:
        add_sums(scratch.p, scratch.p.size, sums, np.int64(i) * WIDTH)
    else:
        credit = scratch.credit
        for k in range(WIDTH):
            credit[k] = 0
        add_sums(scratch.p, scratch.p.size, credit, 0)
        for k in range(WIDTH):
            sums[i, k % groups] += credit[k]


@helper
def _fetch_row(x, i):
    """Ask for one variable's values in all lanes."""
    lanes = x.shape[1]
    at = np.int64(i) * lanes
    prefetch(x, at)
    for lane in range(LINE, lanes, LINE):
        prefetch(x, at + lane)


@helper
def _fetch_neighbours(conditional, x, i):
    """Ask for the values of a variable's neighbours."""
    if conditional.coupling.size > 0:
        # Always eight: a loop of varying length would cost a mispredicted branch.
        first = conditional.pointer[i]
        last = max(conditional.pointer[i + 1] - 1, 0)
        for step in range(8):
            _fetch_row(x, conditional.index[min(first + step, last)])
    elif conditional.table.size > 0:
        for j in range(conditional.near.shape[1]):
            _fetch_row(x, conditional.near[i, j])


@helper
def _fetch_variable(conditional, chain, i):
    """Ask for what belongs to a variable itself."""
    prefetch(conditional.pointer, i)
    prefetch(conditional.base, i)
    prefetch(conditional.field, i)
    prefetch(chain.sums, i * chain.sums.shape[1])
    _fetch_row(chain.x, i)


@helper
def _fetch_conditional(conditional, i):
    """Ask for a variable's couplings or tables (the first lines of them)."""
    if _computed(conditional):
        first = conditional.pointer[i]
        for e in (first, first + 8):
            prefetch(conditional.index, e)
            prefetch(conditional.coupling, e)
    else:
        prefetch(conditional.near, i * conditional.near.shape[1])
        for context in (conditional.base[i], conditional.base[i] + 16):
            prefetch(conditional.table, context)
            prefetch(conditional.gain, context)


@helper
def _look_ahead(conditional, chain, scan, scratch, k, count, jumps):
    """Ask for what coming updates need, in up to three steps, as each must wait for the last."""
    if k + 3 * AHEAD < count:
        if jumps:
            _fetch_variable(conditional, chain, np.int64(site(scan, scratch, 0, k + 3 * AHEAD)))
            _fetch_conditional(conditional, np.int64(site(scan, scratch, 0, k + 2 * AHEAD)))
        _fetch_neighbours(conditional, chain.x, np.int64(site(scan, scratch, 0, k + AHEAD)))


@helper
def _jumps(scan, scratch, count):
    """Say whether a pass jumps about, so that the processor does not see what comes next."""
    steps = 0
    most = min(count, BLOCK)
    for k in range(1, most):
        if np.int64(site(scan, scratch, 0, k)) - np.int64(site(scan, scratch, 0, k - 1)) != 1:
            steps += 1
    return 2 * steps > most


@helper
def _keep_best_lane(chain):
    """Copy the state of the best lane if it is the best so far; the first of equals."""
    top = 0
    for lane in range(1, chain.score.size):
        if chain.score[lane] > chain.score[top]:
            top = lane
    if chain.score[top] > chain.best_score[0]:
        chain.best_score[0] = chain.score[top]
        for i in range(chain.best.size):
            chain.best[i] = chain.x[i, top]


@helper
def _watch_lanes(watch, x):
    """Count the pairs and the joint states of all lanes after a pass."""
    for k in range(watch.first.size):
        for lane in range(x.shape[1]):
            cell = x[watch.first[k], lane] * watch.width[k] + x[watch.second[k], lane]
            watch.pairs[lane, watch.offset[k] + cell] += 1
    if watch.stride.size > 0:
        for lane in range(x.shape[1]):
            state = np.int64(0)
            for i in range(watch.stride.size):
                state += watch.stride[i] * x[i, lane]
            watch.joint[lane, state] += 1


@kernel
def advance_lanes(
    conditional, driver, scan, chain, watch, betas, first_pass, first_lane, scores, scratch
):
    """Advance all lanes by betas.size passes.

    The conditional is a Sparse, the chain a LaneChain of at least 8 lanes.
    Every pass leaves p invariant in every lane (up to the rounding of probabilities to 2^-32); it
    costs one visit of every edge from both ends. Lane l uses the words of lane first_lane + l.
    Where there are no couplings every variable needs a table. sums may have 1, 2, 4 or 8 columns.
    Metropolis counts its moves lane by lane in the first row of `driver.moves` and needs a number
    of lanes that is a multiple of 8.
    """
    lanes = chain.x.shape[1]
    for t in range(betas.size):
        pass_number = first_pass + t
        count = prepare(scan, scratch, 0, pass_number)
        far = chain.x.size > NEAR
        jumps = far and _jumps(scan, scratch, count)
        for block in range((count + BLOCK - 1) // BLOCK):
            fill_lanes(driver, scratch, pass_number, first_lane, block)
            start = block * BLOCK
            for k in range(start, min(start + BLOCK, count)):
                i = site(scan, scratch, 0, k)
                if far:
                    _look_ahead(conditional, chain, scan, scratch, k, count, jumps)
                _update(conditional, driver, chain, scratch, i, k - start, betas[t])
                _add_sums(chain, scratch, i)
        if counts_visits(scan):
            for k in range(count):
                chain.visits[scratch.order[k]] += 1
        if scores.size > 0:
            for lane in range(lanes):
                scores[t, lane] = chain.score[lane]
        _keep_best_lane(chain)
        _watch_lanes(watch, chain.x)
