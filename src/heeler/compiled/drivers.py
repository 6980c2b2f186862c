"""Which value is taken: the drivers as NamedTuples of flat arrays, and how each draws.

Herding adds the probability first and compares after: with a weight in fixed point the carry of one
addition is the new value. Changing that order would make values of probability zero possible (see
docs/design.md).
"""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from heeler.compiled.conditionals import is_type
from heeler.compiled.hashed import Hashed, find_slot, move_context
from heeler.compiled.jit import INLINE, helper
from heeler.compiled.rows import MOST, add_row, herd_row, inverted, likeliest
from heeler.compiled.words import DRAW_VALUE, DRAW_WEIGHT, fill_block


class Random(NamedTuple):
    """Independent choices: Gibbs sampling."""

    keys: np.ndarray  # uint64 (components): Philox keys


class Quasi(NamedTuple):
    """Choices from a completely uniformly distributed sequence, shifted by lane and position."""

    keys: np.ndarray  # uint64 (components)
    sequence: np.ndarray  # uint32: the generator's whole period
    stride: int  # words that one pass takes from the sequence; coprime to the period
    first_pass: int  # passes before this one (burn-in) are random
    zero_passes: int  # 1: the period is preceded by the zero point


class Herded(NamedTuple):
    """Herding with weights in a table: keyed by neighbours' values, by equal p, or by bins of p."""

    weights: np.ndarray  # uint32 (binary) or int64 (K values), (lanes, weights)
    key: np.ndarray  # int32: context -> weight, empty when they are the same
    bin_base: (
        np.ndarray
    )  # int64 (n): first weight of i's bins, or -1 when i is keyed by its context
    bins: int


class Tijdeman(NamedTuple):
    """Chairman assignment: the discrepancy of every value stays below 1 - 1/(2K - 2)."""

    weights: np.ndarray  # int64 deficits, as in Herded
    key: np.ndarray
    bin_base: np.ndarray
    bins: int


class Metropolis(NamedTuple):
    """A value other than the present one, each as likely, accepted or not: Metropolis."""

    keys: np.ndarray  # uint64 (components)
    moves: (
        np.ndarray
    )  # int64 (lanes, 8): accepted proposals at column 0, a cache line for each lane


class Modified(NamedTuple):
    """Never the present value where that can be helped: Liu's modified Gibbs sampler."""

    keys: np.ndarray  # uint64 (components)
    moves: np.ndarray  # as in Metropolis


class Greedy(NamedTuple):
    """The likeliest value, the present one in a tie: iterated conditional modes."""

    unused: int


def fill(driver, out, component, pass_number, lane, block):
    """Prepare the 256 words of one block of positions, if the driver uses words."""


def draw_binary(driver, lane, word, i, p, context, old):
    """Return the new value of binary variable i."""


def draw_kary(driver, lane, word, i, count, p, at, row, old):
    """Return the new value of variable i; its probabilities are p[at:at + count]."""


def binary_credit(driver, p, new):
    """Return what a binary update adds to the Rao-Blackwell sum, in units of 2^-32."""


def add_credits(driver, sums, entry, p, at, count, new):
    """Add what an update gives to the sums of its variable's values, in units of 2^-30."""


def note_move(driver, lane, i, old, new):
    """Tell a driver whose contexts reach beyond the Markov blanket that variable i has changed."""


def count_moves(driver, lane, moved):
    """Add to the accepted moves, where a driver counts them."""


def as_move(driver, new, old):
    """Return 1 for a changed value where a driver counts moves; else 0, so nothing is added up."""


def room_for(driver, lane, updates):
    """Say whether another pass of that many updates cannot overflow the driver's memory."""


def _fill_quasi(driver, out, component, pass_number, lane, block):
    key = driver.keys[component]
    if pass_number < driver.first_pass:
        fill_block(out, 0, key, pass_number, DRAW_VALUE, lane, block)
        return
    fill_block(out, 0, key, 0, DRAW_WEIGHT, lane, block)  # the digital shift of every position
    at = pass_number - driver.first_pass - driver.zero_passes
    if at < 0:
        return  # the zero point
    period = driver.sequence.size
    at = (at % period * driver.stride + block * out.size) % period
    for k in range(out.size):
        out[k] ^= driver.sequence[at]
        at = at + 1 if at + 1 < period else 0


@overload(fill, inline="always", jit_options=INLINE)
def _fill(driver, out, component, pass_number, lane, block):
    if is_type(driver, Random) or is_type(driver, Metropolis) or is_type(driver, Modified):

        def random(driver, out, component, pass_number, lane, block):
            fill_block(out, 0, driver.keys[component], pass_number, DRAW_VALUE, lane, block)

        return random
    if is_type(driver, Quasi):
        return _fill_quasi
    return lambda driver, out, component, pass_number, lane, block: None


@helper
def _herd(weights, lane, slot, p):
    total = np.int64(weights[lane, slot]) + p
    weights[lane, slot] = np.uint32(total)
    return total >> 32


@helper
def _slot_binary(driver, i, p, context):
    base = driver.bin_base[i]
    if base >= 0:
        bin_number = (p * driver.bins) >> 32
        return base + (bin_number if bin_number < driver.bins else driver.bins - 1)
    return np.int64(driver.key[context]) if driver.key.size > 0 else context


@helper
def _metropolis_binary(word, p, old):
    # The chance is min(1, other / mine). Both numbers of the comparison are below 2^64: nothing is
    # divided or rounded, and a vector of lanes has the same bits. `mine` is 2^32 only where the
    # other value is impossible: its lowest bits, 0, then refuse to go there.
    one = np.int64(1) << 32
    mine = p if old == 1 else one - p
    word_mine = np.uint64(word) * np.uint64(mine & (one - 1))
    moved = word_mine < np.uint64(one - mine) << np.uint64(32)
    return np.int64(1) - old if moved else np.int64(old)


@helper
def _metropolis_kary(word, count, p, at, old):
    # One word proposes and decides: with K - 1 others, word (K - 1) / 2^32 is the number of one
    # of them and a fraction that is uniform and independent of it, but for one step of the word.
    if count < 2:
        return np.int64(old)
    scaled = np.int64(word) * (count - 1)
    other = scaled >> 32
    other = other + 1 if other >= old else other
    fraction = scaled & ((np.int64(1) << 32) - 1)
    moved = fraction * np.int64(p[at + old]) < np.int64(p[at + other]) << 32  # both below 2^63
    return other if moved else np.int64(old)


@helper
def modified_share(mine, other, one):
    """Return `one` times other / max(one - mine, one - other): Liu's chance to go there."""
    rest = one - (mine if mine < other else other)
    return np.int64(np.float64(other) / np.float64(rest) * one) if rest > 0 else np.int64(0)


@helper
def _modified_kary(word, count, p, at, old):
    one = np.int64(1) << 30
    target = np.int64(word) >> 2
    below = np.int64(0)
    chosen = np.int64(old)
    # The present value takes what the others leave: the chances of the others come first.
    for v in range(count):
        if v != old:
            before = below
            below += modified_share(np.int64(p[at + old]), np.int64(p[at + v]), one)
            if before <= target < below:
                chosen = np.int64(v)
    return chosen


@overload(draw_binary, inline="always", jit_options=INLINE)
def _draw_binary(driver, lane, word, i, p, context, old):
    if is_type(driver, Herded):
        return lambda driver, lane, word, i, p, context, old: _herd(
            driver.weights, lane, _slot_binary(driver, i, p, context), p
        )
    if is_type(driver, Hashed):

        def hashed(driver, lane, word, i, p, context, old):
            return _herd(driver.weights, lane, find_slot(driver, lane, i, old), p)

        return hashed
    if is_type(driver, Greedy):

        def greedy(driver, lane, word, i, p, context, old):
            if p == np.int64(1) << 31:
                return np.int64(old)
            return np.int64(1) if p > np.int64(1) << 31 else np.int64(0)

        return greedy
    if is_type(driver, Metropolis):
        return lambda driver, lane, word, i, p, context, old: _metropolis_binary(word, p, old)
    return lambda driver, lane, word, i, p, context, old: (
        np.int64(1) if np.int64(word) < p else np.int64(0)
    )


@helper
def _argmax_rule(weights, lane, slot, count, p, at):
    if count <= MOST:
        return herd_row(weights[lane], slot, p, at, count)
    chosen = np.int64(-1)
    most = np.int64(-(1 << 62))
    for v in range(count):  # selects, not branches: which value wins cannot be predicted
        weight = weights[lane, slot + v] + p[at + v]
        weights[lane, slot + v] = weight
        better = (p[at + v] > 0) & (weight > most)
        chosen = np.int64(v) if better else chosen
        most = weight if better else most
    weights[lane, slot + chosen] -= np.int64(1) << 30
    return chosen


@helper
def _tijdeman_rule(weights, lane, slot, count, p, at):
    # Candidates have deficit + p >= 1/(2K - 2); the earliest deadline wins, that is the smallest
    # (1 - 1/(2K - 2) - deficit) / p, compared by cross-multiplication.
    one = np.int64(1) << 30
    slack = one // (2 * count - 2) if count > 1 else np.int64(0)
    chosen = np.int64(-1)
    for v in range(count):
        q = np.int64(p[at + v])
        if q > 0 and weights[lane, slot + v] + q >= slack:
            if chosen < 0:
                chosen = np.int64(v)
            else:
                mine = one - slack - weights[lane, slot + v]
                other = one - slack - weights[lane, slot + chosen]
                if mine * np.int64(p[at + chosen]) < other * q:
                    chosen = np.int64(v)
    if chosen < 0:  # rounding of the slack: take the largest claim
        most = np.int64(-(1 << 62))
        for v in range(count):
            claim = weights[lane, slot + v] + p[at + v]
            if p[at + v] > 0 and claim > most:
                chosen = np.int64(v)
                most = claim
    for v in range(count):
        weights[lane, slot + v] += p[at + v]
    weights[lane, slot + chosen] -= one
    return chosen


@helper
def _slot_kary(driver, i, count, p, at, row):
    base = driver.bin_base[i]
    slot = np.int64(0)
    if base >= 0:
        # The bin is (likeliest value, level of its probability); the true p is added all the same.
        top = np.int64(0)
        if count <= MOST:
            top = likeliest(p, at, count)
        else:
            for v in range(1, count):
                top = np.int64(v) if p[at + v] > p[at + top] else top
        levels = driver.bins // count if driver.bins > count else np.int64(1)
        level = (np.int64(p[at + top]) * levels) >> 30
        level = level if level < levels else levels - 1
        slot = base + (top * levels + level) * count
    else:
        slot = np.int64(driver.key[row]) if driver.key.size > 0 else row
    return slot


@overload(draw_kary, inline="always", jit_options=INLINE)
def _draw_kary(driver, lane, word, i, count, p, at, row, old):
    if is_type(driver, Herded):
        return lambda driver, lane, word, i, count, p, at, row, old: _argmax_rule(
            driver.weights, lane, _slot_kary(driver, i, count, p, at, row), count, p, at
        )
    if is_type(driver, Tijdeman):
        return lambda driver, lane, word, i, count, p, at, row, old: _tijdeman_rule(
            driver.weights, lane, _slot_kary(driver, i, count, p, at, row), count, p, at
        )
    if is_type(driver, Hashed):
        return lambda driver, lane, word, i, count, p, at, row, old: _argmax_rule(
            driver.weights, lane, find_slot(driver, lane, i, old) * driver.width, count, p, at
        )
    if is_type(driver, Greedy):

        def greedy(driver, lane, word, i, count, p, at, row, old):
            chosen = np.int64(old)
            for v in range(count):
                if p[at + v] > p[at + chosen]:
                    chosen = np.int64(v)
            return chosen

        return greedy
    if is_type(driver, Metropolis):
        return lambda driver, lane, word, i, count, p, at, row, old: _metropolis_kary(
            word, count, p, at, old
        )
    if is_type(driver, Modified):
        return lambda driver, lane, word, i, count, p, at, row, old: _modified_kary(
            word, count, p, at, old
        )

    def inversion(driver, lane, word, i, count, p, at, row, old):
        # Values in a fixed order: nearby words give nearby values (what quasi streams need).
        target = np.int64(word) >> 2
        if count <= MOST:
            return inverted(p, at, count, target)
        below = np.int64(0)
        chosen = np.int64(0)
        for v in range(
            count - 1
        ):  # counts the cumulative sums that do not exceed the word: no branch to mispredict
            below += p[at + v]
            chosen += np.int64(1) if target >= below else np.int64(0)
        return chosen

    return inversion


@overload(binary_credit, inline="always", jit_options=INLINE)
def _binary_credit(driver, p, new):
    if is_type(driver, Herded) or is_type(driver, Hashed):
        return lambda driver, p, new: np.uint64(new)  # the weights hold the rest of the sum
    return lambda driver, p, new: np.uint64(p)


@overload(add_credits, inline="always", jit_options=INLINE)
def _add_credits(driver, sums, entry, p, at, count, new):
    if is_type(driver, Herded) or is_type(driver, Tijdeman) or is_type(driver, Hashed):

        def count_choice(driver, sums, entry, p, at, count, new):
            sums[entry + new] += np.uint64(1)  # the weights hold the rest of the sum

        return count_choice

    def add_all(driver, sums, entry, p, at, count, new):
        if count <= MOST:
            add_row(sums, entry, p, at, count)
        else:
            for v in range(count):
                sums[entry + v] += np.uint64(p[at + v])

    return add_all


@overload(note_move, inline="always", jit_options=INLINE)
def _note_move(driver, lane, i, old, new):
    if is_type(driver, Hashed):
        return lambda driver, lane, i, old, new: move_context(driver, lane, i, old, new)
    return lambda driver, lane, i, old, new: None


@overload(count_moves, inline="always", jit_options=INLINE)
def _count_moves(driver, lane, moved):
    if is_type(driver, Metropolis) or is_type(driver, Modified):

        def count(driver, lane, moved):
            driver.moves[lane, 0] += np.int64(moved)

        return count
    return lambda driver, lane, moved: None


@overload(as_move, inline="always", jit_options=INLINE)
def _as_move(driver, new, old):
    if is_type(driver, Metropolis) or is_type(driver, Modified):
        return lambda driver, new, old: np.int64(new != old)
    return lambda driver, new, old: np.int64(0)


@overload(room_for, inline="always", jit_options=INLINE)
def _room_for(driver, lane, updates):
    if is_type(driver, Hashed):
        return lambda driver, lane, updates: (
            driver.used[lane] + updates <= (driver.keys.shape[1] * 7) // 10
        )
    return lambda driver, lane, updates: True
