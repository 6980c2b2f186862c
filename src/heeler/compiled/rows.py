"""Rows of up to 8 values as vectors: what an update of a variable with K values is made of.

A row is 4 or 8 values wide whatever the number of values: an update has no loop whose length
depends on the variable and so nothing to mispredict. Longer rows are taken 8 values at a time, or
by plain loops where the whole row is needed at once.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from heeler.compiled.jit import helper
from heeler.compiled.vectors import vector_operation

MOST = 8  # values of a row that is one vector

_WORD, _HALF, _FLOAT = ir.IntType(64), ir.IntType(32), ir.DoubleType()
_ONE = 1 << 30  # quantise.KARY_ONE
_LOWEST = -(1 << 62)


@helper
def row_width(count):
    """Return how many values are stored for a row of `count`."""
    return np.int64(4) if count <= 4 else (count + 7) & ~7


def _masked(e, array, index, kind, mask, value=None):
    """Load array[index:] where the mask says so, zeros elsewhere; or store `value` there."""
    b = e.builder
    pointer = e.pointer(array, index, kind)
    flags = ir.VectorType(ir.IntType(1), kind.count)
    name = f"v{kind.count}i{kind.element.width}.p0"
    align = _HALF(1)
    if value is not None:
        of = ir.FunctionType(ir.VoidType(), [kind, pointer.type, _HALF, flags])
        store = cgutils.get_or_insert_function(b.module, of, f"llvm.masked.store.{name}")
        return b.call(store, [value, pointer, align, mask])
    of = ir.FunctionType(kind, [pointer.type, _HALF, flags, kind])
    load = cgutils.get_or_insert_function(b.module, of, f"llvm.masked.load.{name}")
    return b.call(load, [pointer, align, mask, e.constant(kind.element, kind.count, 0)])


def _first_lanes(e, count):
    """Return the mask of a row's values."""
    numbers = e.constant(_WORD, MOST, list(range(MOST)))
    return e.builder.icmp_signed("<", numbers, e.splat(count, MOST))


def _probabilities(e, p, at, count):
    """Load a row of integer probabilities, zeros behind it; there are 8 to be read."""
    zeros = e.constant(_HALF, MOST, 0)
    return e.builder.select(_first_lanes(e, count), e.load(p, at, MOST), zeros)


def _folded(e, value, combine):
    """Combine all lanes: the upper half with the lower, until one is left."""
    b = e.builder
    lanes = value.type.count
    while lanes > 1:
        lanes //= 2
        halves = [
            b.shuffle_vector(value, value, e.constant(_HALF, lanes, list(range(s, s + lanes))))
            for s in (0, lanes)
        ]
        value = combine(*halves)
    return b.extract_element(value, _HALF(0))


def _largest(e, value, ordered):
    """Return the first lane that holds the largest value, as an int64."""
    b = e.builder
    compare = b.fcmp_ordered if value.type.element == _FLOAT else b.icmp_signed
    top = _folded(e, value, lambda u, v: b.select(compare(">", v, u), v, u))
    lanes = value.type.count
    same = b.bitcast(ordered("==", value, e.splat(top, lanes)), ir.IntType(lanes))
    return b.zext(b.cttz(b.zext(same, _HALF), ir.IntType(1)(0)), _WORD)


def _combine(lanes, operation):
    """Make the product (or sum) of one row of each factor: the inner loop of every update."""

    @vector_operation(types.void)
    def combine(e, out, block, values, own, rows, others, x, first, last, step):
        b = e.builder
        total = e.variable(e.load(values, b.add(own, block), lanes))

        def slot(k):
            number = b.add(first, k)
            other = _scalar(e, others, number)
            start = b.add(_scalar(e, rows, number), b.mul(_scalar(e, x, other), step))
            row = e.load(values, b.add(start, block), lanes)
            b.store(getattr(b, operation)(b.load(total), row), total)

        e.repeat(b.sub(last, first), slot)
        e.store(b.load(total), out, block)

    return combine


def _scalar(e, array, index):
    """Load one unsigned integer as an int64."""
    kind = e.context.get_value_type(array[0].dtype)
    value = e.builder.load(e.pointer(array, index, kind))
    return value if kind == _WORD else e.builder.zext(value, _WORD)


# out[block:block + lanes] = values[own + block:...] combined with a row of each slot's factor.
multiply_4, multiply_8 = _combine(4, "fmul"), _combine(8, "fmul")
add_4, add_8 = _combine(4, "fadd"), _combine(8, "fadd")


def _quantise(lanes):
    """Make the quantising of one row of weights."""

    @vector_operation(types.void)
    def quantise(e, weights, out):
        b = e.builder
        integers = ir.VectorType(_HALF, lanes)
        weight = e.load(weights, _WORD(0), lanes)
        total = _folded(e, weight, b.fadd)
        factor = e.splat(b.fdiv(_FLOAT(float(_ONE)), total), lanes)
        half = e.constant(_FLOAT, lanes, 0.5)
        q = b.fptosi(b.fadd(b.fmul(weight, factor), half), integers)
        one, zero = e.constant(_HALF, lanes, 1), e.constant(_HALF, lanes, 0)
        q = b.select(b.icmp_signed(">", q, one), q, one)
        possible = b.fcmp_ordered(">", weight, e.constant(_FLOAT, lanes, 0.0))
        q = b.select(possible, q, zero)
        rest = b.sub(_HALF(_ONE), _folded(e, q, b.add))
        best = b.trunc(_largest(e, weight, b.fcmp_ordered), _HALF)
        numbers = e.constant(_HALF, lanes, list(range(lanes)))
        mine = b.icmp_signed("==", numbers, e.splat(best, lanes))
        q = b.add(q, b.select(mine, e.splat(rest, lanes), zero))
        e.store(q, out, _WORD(0))

    return quantise


# out[:lanes] = weights[:lanes] as integers with sum 2^30, a possible value getting at least 1; the
# first of the largest takes the remainder. Zeros only: everything on the first value.
quantise_4, quantise_8 = _quantise(4), _quantise(8)


@vector_operation(types.int64)
def inverted(e, p, at, count, target):
    """Return how many of a row's cumulative sums do not exceed the target (below 2^30)."""
    b = e.builder
    sums = _probabilities(e, p, at, count)
    zeros = e.constant(_HALF, MOST, 0)
    for back in (1, 2, 4):
        lanes = [MOST + k - back if k >= back else k for k in range(MOST)]
        sums = b.add(sums, b.shuffle_vector(zeros, sums, e.constant(_HALF, MOST, lanes)))
    # The sum behind the last value is 2^30, so lanes that are no values do not count.
    passed = b.icmp_signed(">=", e.splat(b.trunc(target, _HALF), MOST), sums)
    ones = b.ctpop(b.zext(b.bitcast(passed, ir.IntType(MOST)), _HALF))
    return b.zext(ones, _WORD)


@vector_operation(types.void)
def add_row(e, sums, entry, p, at, count):
    """Add a row of probabilities to sums[entry:entry + count]."""
    b = e.builder
    kind = ir.VectorType(_WORD, MOST)
    mask = _first_lanes(e, count)
    now = _masked(e, sums, entry, kind, mask)
    now = b.add(now, b.zext(_probabilities(e, p, at, count), kind))
    _masked(e, sums, entry, kind, mask, now)


@vector_operation(types.int64)
def likeliest(e, p, at, count):
    """Return the first of the likeliest values."""
    return _largest(e, _probabilities(e, p, at, count), e.builder.icmp_signed)


@vector_operation(types.int64)
def herd_row(e, weights, slot, p, at, count):
    """Add the probabilities to the weights; the largest possible weight wins and pays 2^30."""
    b = e.builder
    kind = ir.VectorType(_WORD, MOST)
    mask = _first_lanes(e, count)
    row = _probabilities(e, p, at, count)
    after = b.add(_masked(e, weights, slot, kind, mask), b.zext(row, kind))
    possible = b.icmp_signed(">", row, e.constant(_HALF, MOST, 0))
    claims = b.select(possible, after, e.constant(_WORD, MOST, _LOWEST))
    chosen = _largest(e, claims, b.icmp_signed)
    numbers = e.constant(_WORD, MOST, list(range(MOST)))
    mine = b.icmp_signed("==", numbers, e.splat(chosen, MOST))
    paid = b.select(mine, e.constant(_WORD, MOST, _ONE), e.constant(_WORD, MOST, 0))
    _masked(e, weights, slot, kind, mask, b.sub(after, paid))
    return chosen
