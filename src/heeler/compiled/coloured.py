"""One lane on a sparse graph, class by class: 256 conditionals at a time, then 256 values.

Members of a class do not touch each other, so their conditionals may all be computed before any of
their values is drawn. That splits the work into loops that each do one thing: gather log-odds
(waiting for the neighbours of many variables at once), quantise them (arithmetic alone), draw, and
store. Probabilities are computed from the couplings: their tables would be larger than the caches.
The arithmetic and its order are those of the general loop, and so are all bits.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import overload

from heeler.compiled.barrier import wait_for_all
from heeler.compiled.coloured_layout import GROUP
from heeler.compiled.conditionals import is_type
from heeler.compiled.drivers import (
    Greedy,
    Herded,
    Metropolis,
    Modified,
    Quasi,
    Random,
    as_move,
    binary_credit,
    count_moves,
    draw_binary,
    fill,
)
from heeler.compiled.jit import INLINE, helper, kernel
from heeler.compiled.lane_blocks import prefetch
from heeler.compiled.loop import watch_pass
from heeler.compiled.quantise import quantised_sigmoid
from heeler.compiled.vectors import vector_operation
from heeler.compiled.words import BLOCK

_BYTE, _HALF, _WORD, _FLOAT = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


class SlotChain(NamedTuple):
    """The arrays of a running chain in slots; rows are lanes."""

    x: np.ndarray  # uint8 (lanes, n + 1): the last is always 0
    sums: np.ndarray  # uint64 (lanes, n): credits of the Rao-Blackwell sums
    score: np.ndarray  # int64 (lanes, 1): log score, fixed point
    best_score: np.ndarray  # int64 (lanes, 1)
    best: np.ndarray  # like x


class Meeting(NamedTuple):
    """Where the bands of a chain meet; shared by its threads."""

    gate: np.ndarray  # int64 (8), zeros at first
    parts: (
        np.ndarray
    )  # int64 (2, bands, 8): each band's part of the score's change and its moves, a line for each


class ColouredScratch(NamedTuple):
    """Working memory of one thread: what is known of the slots of one block."""

    words: np.ndarray  # uint32 (256)
    log_odds: np.ndarray  # float64 (256)
    context: np.ndarray  # int64 (256)
    p: np.ndarray  # int64 (256)
    gain: np.ndarray  # int64 (256)
    new: np.ndarray  # uint8 (256)


def coloured_scratch() -> ColouredScratch:
    """Return the working memory of one thread."""
    kinds = (np.uint32, np.float64, np.int64, np.int64, np.int64, np.uint8)
    return ColouredScratch(*(np.zeros(BLOCK, kind) for kind in kinds))


def meeting(bands: int) -> Meeting:
    """Return the place where that many threads meet."""
    return Meeting(np.zeros(8, np.int64), np.zeros((2, bands, 8), np.int64))


@vector_operation(types.void)
def _gather_group(
    e, x, index, minus_coupling, entry, width, field, base, slot, log_odds, context, at
):
    """Store log-odds and contexts of the 8 slots from `slot` on, neighbours taken in order."""
    b = e.builder
    words = ir.VectorType(_WORD, GROUP)
    total = e.variable(e.load(field, slot, GROUP))
    pattern = e.variable(e.load(base, slot, GROUP))
    with cgutils.for_range(b, width) as loop:
        here = b.add(entry, b.mul(loop.index, _WORD(GROUP)))
        values = ir.Constant(ir.VectorType(_BYTE, GROUP), ir.Undefined)
        for k in range(GROUP):
            neighbour = b.load(e.pointer(index, b.add(here, _WORD(k)), _HALF), align=1)
            value = b.load(e.pointer(x, b.zext(neighbour, _WORD), _BYTE), align=1)
            values = b.insert_element(values, value, _HALF(k))
        values = b.zext(values, words)
        b.store(b.add(b.load(pattern), b.shl(values, e.splat(loop.index, GROUP))), pattern)
        # coupling * (2 x - 1) is minus_coupling with its sign changed where x is 1.
        sign = b.shl(values, e.constant(_WORD, GROUP, 63))
        term = b.xor(b.bitcast(e.load(minus_coupling, here, GROUP), words), sign)
        b.store(b.fadd(b.load(total), b.bitcast(term, ir.VectorType(_FLOAT, GROUP))), total)
    half = b.load(total)
    e.store(b.fadd(half, half), log_odds, at)
    e.store(b.load(pattern), context, at)


def _fetch_weights(driver, lane, context, slot):
    """Ask for the weights of a block of slots long before they are needed."""


@overload(_fetch_weights, inline="always", jit_options=INLINE)
def _fetch_weights_of(driver, lane, context, slot):
    if is_type(driver, Herded):

        def herded(driver, lane, context, slot):
            weights = driver.weights[lane]
            for k in range(context.size):
                if driver.bin_base[slot + k] < 0:
                    at = context[k]
                    if driver.key.size > 0:
                        at = np.int64(driver.key[at])
                    prefetch(weights, at)

        return herded
    if any(is_type(driver, cls) for cls in (Random, Quasi, Greedy, Metropolis, Modified)):
        return lambda driver, lane, context, slot: None
    return None  # contexts beyond the Markov blanket change within a class: Numba refuses them here


@helper
def _advance_block(plan, driver, lane, x, sums, beta, start, first, last, scratch):
    """Update the slots first ... last - 1, which lie in the block that begins at `start`."""
    for group in range(first // GROUP, (last + GROUP - 1) // GROUP):
        slot = group * GROUP
        entry = plan.group[group]
        _gather_group(
            x,
            plan.index,
            plan.minus_coupling,
            entry,
            (plan.group[group + 1] - entry) // GROUP,
            plan.field,
            plan.base,
            slot,
            scratch.log_odds,
            scratch.context,
            slot - start,
        )
    # Views that begin at 0: a loop over them has no negative index to think of, and vectorises.
    context = scratch.context[first - start : last - start]
    _fetch_weights(driver, lane, context, first)
    log_odds = scratch.log_odds[first - start : last - start]
    words = scratch.words[first - start : last - start]
    p, gain, new = scratch.p, scratch.gain, scratch.new
    for k in range(log_odds.size):
        p[k] = quantised_sigmoid(beta * log_odds[k])
        gain[k] = np.int64(log_odds[k] * plan.scale)
    own, credit = x[first:last], sums[first:last]
    for k in range(context.size):
        new[k] = draw_binary(driver, lane, words[k], first + k, p[k], context[k], own[k])
    change, moved = np.int64(0), np.int64(0)
    for k in range(own.size):
        change += (np.int64(new[k]) - np.int64(own[k])) * gain[k]
        moved += as_move(driver, new[k], own[k])
        credit[k] += binary_credit(driver, p[k], np.int64(new[k]))
        own[k] = new[k]
    return change, moved


@helper
def _part(plan, number, share):
    """Return the blocks of a class that a band treats."""
    first = plan.classes[number] // BLOCK
    count = (plan.classes[number + 1] + BLOCK - 1) // BLOCK - first
    return first + count * share.band // share.bands, first + count * (
        share.band + 1
    ) // share.bands


@helper
def _advance_pass(plan, driver, share, meeting, lane, x, sums, beta, pass_number, scratch):
    """Update every class once; return the change of the score and the moves by this band."""
    change, moved = np.int64(0), np.int64(0)
    held = np.int64(-1)
    for number in range(plan.classes.size - 1):
        if number > 0 and share.bands > 1:
            wait_for_all(meeting.gate, share.bands)
        low, high = _part(plan, number, share)
        for block in range(low, high):
            start = block * BLOCK
            first = max(start, plan.classes[number])
            last = min(start + BLOCK, plan.classes[number + 1])
            if block != held:  # the last block of a class is often the first of the next
                fill(driver, scratch.words, 0, pass_number, lane, block)
                held = block
            gained, moves = _advance_block(
                plan, driver, lane, x, sums, beta, start, first, last, scratch
            )
            change += gained
            moved += moves
    return change, moved


@helper
def _keep_part(plan, share, x, best):
    """Copy what this band has drawn, and in the last band what is never drawn."""
    for number in range(plan.classes.size - 1):
        low, high = _part(plan, number, share)
        for k in range(
            max(low * BLOCK, plan.classes[number]), min(high * BLOCK, plan.classes[number + 1])
        ):
            best[k] = x[k]
    if share.band == share.bands - 1:
        for k in range(plan.classes[-1], x.size - 1):
            best[k] = x[k]


@kernel
def advance_coloured(
    plan, driver, chain, watch, betas, first_pass, share, meeting, scores, scratch
):
    """Advance a share of the lanes by betas.size passes, class by class (chain: a SlotChain).

    With the driver `Random` every pass leaves p invariant (up to the rounding of probabilities to
    2^-32); it costs one visit of every edge from both ends. The watch is in slots too, and so is
    the driver's `bin_base`. All bands of a share's lanes must run at the same time.
    """
    turn = 0
    for lane in range(share.first_lane, share.last_lane):
        x = chain.x[lane]
        sums = chain.sums[lane]
        score = chain.score[lane, 0]
        best_score = chain.best_score[lane, 0]
        for t in range(betas.size):
            change, moved = _advance_pass(
                plan, driver, share, meeting, lane, x, sums, betas[t], first_pass + t, scratch
            )
            if share.bands > 1:
                # Two sets of parts in turn: a band may write the next while another still reads
                # these.
                parts = meeting.parts[turn & 1]
                turn += 1
                parts[share.band, 0] = change
                parts[share.band, 1] = moved
                wait_for_all(meeting.gate, share.bands)
                change, moved = np.int64(0), np.int64(0)
                for band in range(share.bands):
                    change += parts[band, 0]
                    moved += parts[band, 1]
            score += change
            if score > best_score:
                best_score = score
                _keep_part(plan, share, x, chain.best[lane])
            if share.band == 0:
                count_moves(driver, lane, moved)
                if scores.size > 0:
                    scores[t, lane] = score
                watch_pass(watch, lane, x)
            if share.bands > 1 and (watch.first.size > 0 or watch.stride.size > 0):
                wait_for_all(meeting.gate, share.bands)
        if share.band == 0 and betas.size > 0:
            chain.score[lane, 0] = score
            chain.best_score[lane, 0] = best_score
