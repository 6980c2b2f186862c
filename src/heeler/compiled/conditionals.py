"""What a variable's distribution is, given the rest: a NamedTuple for each way to know it.

The loops call the functions declared here; each is overloaded on the tuple's type, so a loop
compiles into one specialised piece of code per conditional, inlined and cached on disk.

Binary conditionals give (p, gain, context): P(value 1) in units of 2^-32, the log-odds in the
score's fixed-point units, and the number of the neighbours' assignment (-1 where those are too many
to be numbered). Those of K values return (number of values, row, whether it is tabulated): a table
holds p and gain of every value side by side (one line of the cache), otherwise the scratch has p,
and weights or their logarithms, from which `score_change` and `later_change` make the gains.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from heeler.compiled.jit import INLINE, helper
from heeler.compiled.quantise import logarithm, quantise_row, quantised_sigmoid, weigh_row
from heeler.compiled.rows import add_4, add_8, multiply_4, multiply_8, row_width


class Sparse(NamedTuple):
    """Binary variables on a sparse graph: a table for each where it fits, couplings where not."""

    pointer: (
        np.ndarray
    )  # int64 (n + 1): the neighbours of i are index[pointer[i]:pointer[i + 1]], ascending
    index: np.ndarray  # uint32
    near: (
        np.ndarray
    )  # uint32 (n, 4 or 8): the neighbours of a variable with contexts, filled up with n
    base: np.ndarray  # int64 (n): number of the first context of i, or -1
    table: np.ndarray  # uint32 or uint64 (contexts): P(1), or empty when the temperature varies
    gain: np.ndarray  # int32 (contexts): log-odds, fixed point
    coupling: np.ndarray  # float64 beside index (empty when every variable has a table)
    field: np.ndarray  # float64 (n)
    scale: float  # fixed-point units of a nat


class Dense(NamedTuple):
    """Binary units that all touch: local fields kept up to date as integers never drift."""

    weights: np.ndarray  # int32 (n, n), symmetric, diagonal 0
    bias: np.ndarray  # int64 (n)
    fields: np.ndarray  # int64 (lanes, n): log-odds of each unit
    unit: float  # nats of one integer step; the score is counted in the same steps


class Bipartite(NamedTuple):
    """Visible and hidden binary units (RBM), local fields kept as integers."""

    weights: np.ndarray  # int32 (visible, hidden)
    transposed: np.ndarray  # int32 (hidden, visible)
    bias: np.ndarray  # int64 (n)
    fields: np.ndarray  # int64 (lanes, n)
    unit: float


class Potts(NamedTuple):
    """K values, an edge pays its coupling when its ends agree; computed on the fly."""

    pointer: np.ndarray
    index: np.ndarray
    coupling: np.ndarray  # float64 beside index
    field: np.ndarray  # float64 (n, values filled up with -inf to 4 or a multiple of 8)
    values: int
    table: np.ndarray  # int32, empty: nothing is tabulated
    scale: float


class Factors(NamedTuple):
    """Any factor graph: a table for each variable where it fits, products of factors where not."""

    cardinalities: np.ndarray  # int32 (n)
    pointer: np.ndarray  # int64 (n + 1): Markov blankets
    index: np.ndarray  # uint32
    stride: np.ndarray  # int64 beside index: entries that one step of that neighbour skips
    base: np.ndarray  # int64 (n): first row of i, counted in entries (one a value), or -1
    table: (
        np.ndarray
    )  # int32: for row r of K entries, K probabilities at 2 r (sum 2^30) and K gains behind them
    # Rows of i's values side by side, 4 or a multiple of 8 wide. i's own row holds all factors of i
    # alone and is filled up with impossible values; what fills up the others does not matter.
    own: np.ndarray  # int64 (n): where i's own row starts
    pair_pointer: np.ndarray  # int64 (n + 1): the factors of i and one other variable
    pair_row: np.ndarray  # int64 (pairs): where the rows of the other's values start
    pair_other: np.ndarray  # uint32 (pairs)
    slot_pointer: np.ndarray  # int64 (n + 1): the factors of i and several other variables
    slot_row: np.ndarray  # int64 (slots)
    other_pointer: np.ndarray  # int64 (slots + 1)
    other_index: np.ndarray  # uint32: the factor's other variables
    other_stride: np.ndarray  # int64: entries that one step of the other variable skips
    linear: np.ndarray  # uint8 (n): 1 where weights are multiplied, 0 where logarithms are added
    weights: np.ndarray  # float64: exp(beta * log), or empty where no variable is linear
    log_tables: np.ndarray  # float64 at the same places, or empty where all are; the largest are 0
    scale: float


def binary_conditional(conditional, lane, x, i, beta):
    """Return (p, gain, context) of binary variable i."""


def kary_conditional(conditional, lane, x, i, beta, scratch):
    """Return (number of values, row, tabulated) of variable i; fill scratch.p if not tabulated."""


def score_change(conditional, i, scratch, k, p, at, count, tabulated, old, new):
    """Return what update number k of a block adds to the score, as far as it is known by now."""


def later_change(conditional, scratch, updates, beta):
    """Return the rest for a whole block: logarithms of ratios, many at a time."""


def note_change(conditional, lane, i, old, new):
    """Tell a conditional that keeps something about the state that variable i has changed."""


def is_type(value, cls):
    """Say whether a Numba type is the NamedTuple `cls` (for choosing an overload)."""
    return isinstance(value, types.BaseNamedTuple) and value.instance_class is cls


def _sparse(conditional, lane, x, i, beta):
    context = conditional.base[i]
    if context >= 0:
        # Always 4 or 8 neighbours (x has a zero at place n to fill up with): a loop of varying
        # length would cost a mispredicted branch in every update, half its time.
        near = conditional.near
        pattern = np.uint32(x[near[i, 0]]) | np.uint32(x[near[i, 1]]) << 1
        pattern |= np.uint32(x[near[i, 2]]) << 2 | np.uint32(x[near[i, 3]]) << 3
        if near.shape[1] == 8:
            pattern |= np.uint32(x[near[i, 4]]) << 4 | np.uint32(x[near[i, 5]]) << 5
            pattern |= np.uint32(x[near[i, 6]]) << 6 | np.uint32(x[near[i, 7]]) << 7
        context += np.int64(pattern)
    if context >= 0 and conditional.table.size > 0:
        p = np.int64(conditional.table[np.uintp(context)])
        gain = np.int64(conditional.gain[np.uintp(context)])
    else:
        log_odds = conditional.field[i]
        for e in range(conditional.pointer[i], conditional.pointer[i + 1]):
            log_odds += conditional.coupling[e] * (2.0 * x[conditional.index[e]] - 1.0)
        log_odds *= 2.0
        p = quantised_sigmoid(beta * log_odds)
        gain = np.int64(log_odds * conditional.scale)
    return p, gain, context


def _fields(conditional, lane, x, i, beta):
    field = conditional.fields[lane, i]
    return quantised_sigmoid(beta * (field * conditional.unit)), field, np.int64(-1)


@overload(binary_conditional, inline="always", jit_options=INLINE)
def _binary_conditional(conditional, lane, x, i, beta):
    return _sparse if is_type(conditional, Sparse) else _fields


def _potts(conditional, lane, x, i, beta, scratch):
    work = scratch.work
    count = np.int64(conditional.values)
    for v in range(conditional.field.shape[1]):  # filled up with -inf
        work[v] = conditional.field[i, v]
    for e in range(conditional.pointer[i], conditional.pointer[i + 1]):
        work[x[conditional.index[e]]] += conditional.coupling[e]
    weigh_row(work, count, beta, scratch.weights)
    quantise_row(scratch.weights, count, scratch.p)
    return count, np.int64(-1), False


def _factors(conditional, lane, x, i, beta, scratch):
    count = np.int64(conditional.cardinalities[i])
    row = conditional.base[i]
    if row >= 0:
        for e in range(conditional.pointer[i], conditional.pointer[i + 1]):
            row += conditional.stride[e] * x[conditional.index[e]]
    tabulated = row >= 0 and conditional.table.size > 0
    if not tabulated:
        if conditional.linear[i]:
            multiply_rows(conditional, conditional.weights, x, i, count, scratch.weights)
        else:
            add_rows(conditional, conditional.log_tables, x, i, count, scratch.work)
            weigh_row(scratch.work, count, beta, scratch.weights)
        quantise_row(scratch.weights, count, scratch.p)
    return count, row, tabulated


def _rows_combined(combine_4, combine_8, operation):
    """Make the function that combines one row of each factor of a variable."""

    def combine(conditional, values, x, i, count, out):
        rows, others = conditional.pair_row, conditional.pair_other
        first, last = conditional.pair_pointer[i], conditional.pair_pointer[i + 1]
        own = conditional.own[i]
        width = row_width(count)
        if count <= 4:
            combine_4(out, 0, values, own, rows, others, x, first, last, width)
        else:
            for block in range(0, width, 8):
                combine_8(out, block, values, own, rows, others, x, first, last, width)
        for slot in range(conditional.slot_pointer[i], conditional.slot_pointer[i + 1]):
            at = conditional.slot_row[slot]
            for e in range(conditional.other_pointer[slot], conditional.other_pointer[slot + 1]):
                at += conditional.other_stride[e] * x[conditional.other_index[e]]
            for v in range(width):
                out[v] = operation(out[v], values[at + v])

    return helper(combine)


multiply_rows = _rows_combined(multiply_4, multiply_8, helper(lambda u, v: u * v))
add_rows = _rows_combined(add_4, add_8, helper(lambda u, v: u + v))


@overload(kary_conditional, inline="always", jit_options=INLINE)
def _kary_conditional(conditional, lane, x, i, beta, scratch):
    return _potts if is_type(conditional, Potts) else _factors


@helper
def log_gain(work, scale, v):
    """Return the fixed-point log weight of value v, 0 if it is impossible."""
    return np.int64((work[v] if work[v] > -np.inf else 0.0) * scale)


@helper
def weight_gain(weights, scale, v):
    """Return the same of a weight."""
    return np.int64(logarithm(weights[v] if weights[v] > 0.0 else 1.0) * scale)


def _potts_change(conditional, i, scratch, k, p, at, count, tabulated, old, new):
    scale = conditional.scale
    return log_gain(scratch.work, scale, new) - log_gain(scratch.work, scale, old)


def _factors_change(conditional, i, scratch, k, p, at, count, tabulated, old, new):
    scratch.ratio[k] = 1.0
    if tabulated:
        return np.int64(p[at + count + new]) - p[at + count + old]
    if conditional.linear[i]:
        weights = scratch.weights
        ratio = weights[new] / weights[old]
        # Neither is impossible, unless all variables change at once.
        scratch.ratio[k] = ratio if (weights[new] > 0.0) & (weights[old] > 0.0) else 1.0
        return np.int64(0)
    scale = conditional.scale
    return log_gain(scratch.work, scale, new) - log_gain(scratch.work, scale, old)


@overload(score_change, inline="always", jit_options=INLINE)
def _score_change(conditional, i, scratch, k, p, at, count, tabulated, old, new):
    return _potts_change if is_type(conditional, Potts) else _factors_change


def _factors_later(conditional, scratch, updates, beta):
    total = np.int64(0)
    if conditional.weights.size > 0 and conditional.table.size == 0:
        scale = conditional.scale / beta
        for k in range(updates):
            total += np.int64(logarithm(scratch.ratio[k]) * scale)
    return total


@overload(later_change, inline="always", jit_options=INLINE)
def _later_change(conditional, scratch, updates, beta):
    if is_type(conditional, Factors):
        return _factors_later
    return lambda conditional, scratch, updates, beta: np.int64(0)


@overload(note_change, inline="always", jit_options=INLINE)
def _note_change(conditional, lane, i, old, new):
    if is_type(conditional, Dense):

        def dense(conditional, lane, i, old, new):
            row = conditional.weights[i]
            step = np.int64(new) - np.int64(old)
            for j in range(row.size):
                conditional.fields[lane, j] += step * row[j]

        return dense
    if is_type(conditional, Bipartite):

        def bipartite(conditional, lane, i, old, new):
            visible = conditional.weights.shape[0]
            step = np.int64(new) - np.int64(old)
            if i < visible:
                row = conditional.weights[i]
                for j in range(row.size):
                    conditional.fields[lane, visible + j] += step * row[j]
            else:
                row = conditional.transposed[i - visible]
                for j in range(row.size):
                    conditional.fields[lane, j] += step * row[j]

        return bipartite
    return lambda conditional, lane, i, old, new: None
