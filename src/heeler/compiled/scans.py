"""Which variable is updated: the sites of one pass, made from the pass's number alone."""

from typing import NamedTuple

import numpy as np
from numba.extending import overload

from heeler.compiled.conditionals import binary_conditional, is_type, kary_conditional
from heeler.compiled.jit import INLINE, part
from heeler.compiled.words import BLOCK, DRAW_PROPOSAL, DRAW_SITE, fill_block

# The lanes of a run share their scan, which costs nothing in accuracy: given the scan they are
# independent chains.
SCAN_LANE = 0xFFFFFFFF


class Fixed(NamedTuple):
    """The same sequence in every pass, in classes whose members do not touch (or one class)."""

    order: np.ndarray  # uint32: the components' sequences, one after the other
    start: np.ndarray  # int64 (components + 1)
    class_pointer: np.ndarray  # int64 (classes + 1): for one component and threads


class Jacobi(NamedTuple):
    """All variables at once from the old state (approximate)."""

    order: np.ndarray
    start: np.ndarray


class Shuffled(NamedTuple):
    """Every variable once, in a new random order each pass."""

    order: np.ndarray
    start: np.ndarray
    key: np.uint64


class Weighted(NamedTuple):
    """Independent draws of a site by Walker's alias method."""

    order: np.ndarray  # uint32: the sites that can be drawn
    start: np.ndarray
    accept: np.ndarray  # uint32: below this word the column itself is taken
    alias: np.ndarray  # int32 columns
    key: np.uint64


def prepare(scan, scratch, component, pass_number):
    """Make the sites of one pass of one component; return how many."""


def site(scan, scratch, component, k):
    """Return the k-th site of the pass that was prepared."""


@overload(prepare, inline="always", jit_options=INLINE)
def _prepare(scan, scratch, component, pass_number):
    if is_type(scan, Shuffled):
        return _shuffled
    if is_type(scan, Weighted):
        return _weighted
    return lambda scan, scratch, component, pass_number: (
        scan.start[component + 1] - scan.start[component]
    )


@overload(site, inline="always", jit_options=INLINE)
def _site(scan, scratch, component, k):
    if is_type(scan, Shuffled) or is_type(scan, Weighted):
        return lambda scan, scratch, component, k: scratch.order[k]
    return lambda scan, scratch, component, k: scan.order[scan.start[component] + k]


def _shuffled(scan, scratch, component, pass_number):
    buffer = scratch.order
    words = scratch.more_words[0]
    count = scan.order.size
    for k in range(count):
        buffer[k] = scan.order[k]
    for k in range(count - 1):  # Fisher-Yates; a 32-bit word is uneven by less than count / 2^32
        if k % BLOCK == 0:
            fill_block(words, 0, scan.key, pass_number, DRAW_SITE, SCAN_LANE, k // BLOCK)
        j = k + ((np.int64(words[k % BLOCK]) * (count - k)) >> 32)
        buffer[k], buffer[j] = buffer[j], buffer[k]
    return np.int64(count)


def _weighted(scan, scratch, component, pass_number):
    buffer = scratch.order
    columns = scratch.more_words[0]
    words = scratch.more_words[1]
    count = scan.order.size
    for k in range(buffer.size):
        if k % BLOCK == 0:
            fill_block(columns, 0, scan.key, pass_number, DRAW_SITE, SCAN_LANE, k // BLOCK)
            fill_block(words, 0, scan.key, pass_number, DRAW_PROPOSAL, SCAN_LANE, k // BLOCK)
        column = (np.int64(columns[k % BLOCK]) * count) >> 32
        if words[k % BLOCK] >= scan.accept[column]:
            column = np.int64(scan.alias[column])
        buffer[k] = scan.order[column]
    return np.int64(buffer.size)


def changes_at_once(scan):
    """Say whether all conditionals of a pass see the state before the pass."""


def counts_visits(scan):
    """Say whether the visits of a pass differ from site to site and pass to pass."""


@overload(changes_at_once, inline="always", jit_options=INLINE)
def _changes_at_once(scan):
    answer = is_type(scan, Jacobi)
    return (lambda scan: True) if answer else (lambda scan: False)


@overload(counts_visits, inline="always", jit_options=INLINE)
def _counts_visits(scan):
    answer = is_type(scan, Weighted)
    return (lambda scan: True) if answer else (lambda scan: False)


# A score follows the state as it is by now. Where the conditionals saw the state before the pass,
# the gain has to be worked out again; in functions of their own, so that the loops hold each
# conditional's code once.


@part
def _gain_now(conditional, lane, x, i, beta):
    return binary_conditional(conditional, lane, x, i, beta)[1]


@part
def _row_now(conditional, lane, x, i, beta, scratch):
    _, row, tabulated = kary_conditional(conditional, lane, x, i, beta, scratch)
    return 2 * row if tabulated else np.int64(0)


def present_gain(scan, conditional, lane, x, i, beta, gain):
    """Return the gain of binary variable i in the present state; `gain` is the conditional's."""


def present_row(scan, conditional, lane, x, i, beta, scratch, at):
    """Return where variable i's gains in the present state are; `at` is the conditional's place."""


@overload(present_gain, inline="always", jit_options=INLINE)
def _present_gain(scan, conditional, lane, x, i, beta, gain):
    if is_type(scan, Jacobi):
        return lambda scan, conditional, lane, x, i, beta, gain: _gain_now(
            conditional, lane, x, i, beta
        )
    return lambda scan, conditional, lane, x, i, beta, gain: gain


@overload(present_row, inline="always", jit_options=INLINE)
def _present_row(scan, conditional, lane, x, i, beta, scratch, at):
    if is_type(scan, Jacobi):
        return lambda scan, conditional, lane, x, i, beta, scratch, at: _row_now(
            conditional, lane, x, i, beta, scratch
        )
    return lambda scan, conditional, lane, x, i, beta, scratch, at: at
