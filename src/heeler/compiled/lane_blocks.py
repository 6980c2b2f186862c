"""What happens to one variable in 8 (or 32) lanes at once, as vector instructions.

Arrays are given flat: element (i, lane) of the state is number i * lanes + lane.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils

from heeler.compiled.quantise import (
    _LN2_HIGH,
    _LN2_LOW,
    _LOG2E,
    _ROUNDER,
    BINARY_ONE,
    EXPONENTIAL,
)
from heeler.compiled.vectors import vector_operation

WIDTH = 8  # lanes of a step: one 512-bit vector of log-odds, probabilities or scores
WIDE = 32

_BIT, _BYTE, _HALF, _WORD, _FLOAT = (
    ir.IntType(1),
    ir.IntType(8),
    ir.IntType(32),
    ir.IntType(64),
    ir.DoubleType(),
)
_WORDS = ir.VectorType(_WORD, WIDTH)


def _gather(e, array, index):
    """Load array[index] for a vector of indices."""
    b = e.builder
    element = e.context.get_value_type(array[0].dtype)
    size = array[0].dtype.bitwidth // 8
    start = b.ptrtoint(e.pointer(array, _WORD(0), element), _WORD)
    place = b.add(e.splat(start, WIDTH), b.mul(index, e.constant(_WORD, WIDTH, size)))
    pointers = b.inttoptr(place, ir.VectorType(element.as_pointer(), WIDTH))
    kind = ir.VectorType(element, WIDTH)
    mask = ir.VectorType(_BIT, WIDTH)
    function = cgutils.get_or_insert_function(
        b.module,
        ir.FunctionType(kind, [pointers.type, _HALF, mask, kind]),
        f"llvm.masked.gather.v{WIDTH}i{element.width}.v{WIDTH}p0",
    )
    every = ir.Constant(mask, [1] * WIDTH)
    return b.call(function, [pointers, _HALF(size), every, ir.Constant(kind, ir.Undefined)])


def _gibbs(e, word, p, old, moves, lane):
    """Draw independently of the present value."""
    del old, moves, lane
    return e.builder.icmp_unsigned("<", word, p)


def _metropolis(e, word, p, old, moves, lane):
    """Flip with probability min(1, other / mine): `drivers._metropolis_binary`, lane by lane."""
    b = e.builder
    width = p.type.count
    rest = b.sub(e.constant(_WORD, width, BINARY_ONE), p)
    mine, other = b.select(old, p, rest), b.select(old, rest, p)
    low = b.and_(mine, e.constant(_WORD, width, BINARY_ONE - 1))
    far = b.shl(other, e.constant(_WORD, width, 32))
    moved = b.icmp_unsigned("<", b.mul(word, low), far)
    e.store(b.add(e.load(moves, lane, width), b.zext(moved, p.type)), moves, lane)
    return b.xor(old, moved)


def _take(e, rule, x, at, words, word_at, p, gain, score, moves, lane):
    """Draw the new values, store them and add the change to the lanes' scores."""
    b = e.builder
    width = p.type.count
    old = b.icmp_unsigned("!=", e.load(x, at, width), e.constant(_BYTE, width, 0))
    new = rule(e, b.zext(e.load(words, word_at, width), p.type), p, old, moves, lane)
    e.store(b.zext(new, ir.VectorType(_BYTE, width)), x, at)
    before = e.load(score, lane, width)
    after = b.select(b.and_(new, b.not_(old)), b.add(before, gain), before)
    after = b.select(b.and_(old, b.not_(new)), b.sub(after, gain), after)
    e.store(after, score, lane)


def _take_from_table(
    e, rule, x, at, near, near_at, width, lanes, lane, base, table, gain, words, word_at, p_out,
    score, moves
):  # fmt: skip
    b = e.builder
    pattern = e.variable(e.constant(_BYTE, WIDTH, 0))

    def double_and_add(j):
        # The last neighbour first: doubling before each addition makes neighbour j bit j.
        i = b.zext(b.load(e.pointer(near, b.add(near_at, _WORD(j)), _HALF), align=1), _WORD)
        value = e.load(x, b.add(b.mul(i, lanes), lane), WIDTH)
        so_far = b.load(pattern)
        b.store(b.add(b.add(so_far, so_far), value), pattern)

    with b.if_then(b.icmp_signed("==", width, _WORD(8))):
        for j in (7, 6, 5, 4):
            double_and_add(j)
    for j in (3, 2, 1, 0):
        double_and_add(j)
    context = b.add(b.zext(b.load(pattern), _WORDS), e.splat(base, WIDTH))
    p = _gather(e, table, context)
    p = p if p.type == _WORDS else b.zext(p, _WORDS)
    change = b.sext(_gather(e, gain, context), _WORDS)
    _take(e, rule, x, at, words, word_at, p, change, score, moves, lane)
    e.store(p, p_out, lane)


def _exponential(e, x):
    """Return e^x for a vector: `quantise.exponential`, operation by operation."""
    b = e.builder
    width = x.type.count

    def number(value):
        return e.constant(_FLOAT, width, value)

    def series(power):
        first, second = EXPONENTIAL[power - 2 : power]
        return b.fadd(number(first), b.fmul(r, number(second)))

    x = b.select(b.fcmp_ordered("<", x, number(-700.0)), number(-700.0), x)
    x = b.select(b.fcmp_ordered(">", x, number(700.0)), number(700.0), x)
    k = b.fsub(b.fadd(b.fmul(x, number(_LOG2E)), number(_ROUNDER)), number(_ROUNDER))
    r = b.fsub(b.fsub(x, b.fmul(k, number(_LN2_HIGH))), b.fmul(k, number(_LN2_LOW)))
    r2 = b.fmul(r, r)
    r4 = b.fmul(r2, r2)
    low = b.fadd(b.fadd(number(1.0), r), b.fmul(r2, series(2)))
    middle = b.fadd(series(4), b.fmul(r2, series(6)))
    high = b.fadd(series(8), b.fmul(r2, series(10)))
    y = b.fadd(low, b.fmul(r4, b.fadd(middle, b.fmul(r4, high))))
    words = ir.VectorType(_WORD, width)
    power = b.add(b.fptosi(k, words), e.constant(_WORD, width, 1023))
    return b.fmul(y, b.bitcast(b.shl(power, e.constant(_WORD, width, 52)), x.type))


def _quantised_sigmoid(e, log_odds):
    """Return P(value 1) for a vector: `quantise.quantised_sigmoid`, operation by operation."""
    b = e.builder
    width = log_odds.type.count

    def number(value):
        return e.constant(_FLOAT, width, value)

    odds = _exponential(e, b.fneg(log_odds))
    p = b.fdiv(number(1.0), b.fadd(number(1.0), odds))
    q = b.fptosi(b.fadd(b.fmul(p, number(4294967296.0)), number(0.5)), ir.VectorType(_WORD, width))
    one = e.constant(_WORD, width, 1)
    most = e.constant(_WORD, width, BINARY_ONE - 1)
    q = b.select(b.icmp_signed("<", q, one), one, q)
    return b.select(b.icmp_signed(">", q, most), most, q)


def _take_computed(
    e, rule, width, x, at, index, coupling, first, last, lanes, lane, field, beta, scale, words,
    word_at, p_out, score, moves
):  # fmt: skip
    b = e.builder
    total = e.variable(e.splat(field, width))
    with cgutils.for_range(b, b.sub(last, first)) as loop:
        here = b.add(first, loop.index)
        i = b.zext(b.load(e.pointer(index, here, _HALF), align=1), _WORD)
        value = e.load(x, b.add(b.mul(i, lanes), lane), width)
        up = b.icmp_unsigned("!=", value, e.constant(_BYTE, width, 0))
        weight = b.load(e.pointer(coupling, here, _FLOAT), align=1)
        # coupling * (2 x - 1), exactly: a choice of sign.
        term = b.select(up, e.splat(weight, width), e.splat(b.fneg(weight), width))
        b.store(b.fadd(b.load(total), term), total)
    half = b.load(total)
    log_odds = b.fadd(half, half)
    p = _quantised_sigmoid(e, b.fmul(e.splat(beta, width), log_odds))
    gain = b.fptosi(b.fmul(log_odds, e.splat(scale, width)), p.type)
    _take(e, rule, x, at, words, word_at, p, gain, score, moves, lane)
    e.store(p, p_out, lane)


def _operations(rule):
    """Make the three updates of a rule: 8 lanes by table, 8 and 32 lanes from couplings."""

    @vector_operation(types.void)
    def take_from_table(
        e, x, at, near, near_at, width, lanes, lane, base, table, gain, words, word_at, p_out,
        score, moves
    ):  # fmt: skip
        """Update 8 lanes of a variable whose conditional is in a table."""
        _take_from_table(
            e, rule, x, at, near, near_at, width, lanes, lane, base, table, gain, words, word_at,
            p_out, score, moves,
        )  # fmt: skip

    @vector_operation(types.void)
    def take_computed(
        e, x, at, index, coupling, first, last, lanes, lane, field, beta, scale, words, word_at,
        p_out, score, moves
    ):  # fmt: skip
        """Update 8 lanes of a variable from its couplings, the neighbours taken in order."""
        _take_computed(
            e, rule, WIDTH, x, at, index, coupling, first, last, lanes, lane, field, beta, scale,
            words, word_at, p_out, score, moves,
        )  # fmt: skip

    @vector_operation(types.void)
    def take_computed_wide(
        e, x, at, index, coupling, first, last, lanes, lane, field, beta, scale, words, word_at,
        p_out, score, moves
    ):  # fmt: skip
        """Update 32 lanes: the neighbours are found once for four vectors."""
        _take_computed(
            e, rule, WIDE, x, at, index, coupling, first, last, lanes, lane, field, beta, scale,
            words, word_at, p_out, score, moves,
        )  # fmt: skip

    return take_from_table, take_computed, take_computed_wide


take_from_table, take_computed, take_computed_wide = _operations(_gibbs)
move_from_table, move_computed, move_computed_wide = _operations(_metropolis)


@vector_operation(types.void)
def add_sums(e, p, lanes, sums, at):
    """Add the probabilities of all lanes (a multiple of 8), lane by lane modulo 8, to 8 sums."""
    b = e.builder
    total = e.variable(e.load(sums, at, WIDTH))
    with cgutils.for_range(b, b.udiv(lanes, _WORD(WIDTH))) as loop:
        here = b.mul(loop.index, _WORD(WIDTH))
        b.store(b.add(b.load(total), e.load(p, here, WIDTH)), total)
    e.store(b.load(total), sums, at)


@vector_operation(types.void)
def prefetch(e, array, index):
    """Ask for array[index] to be brought near; never a fault, whatever the index."""
    b = e.builder
    kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _HALF, _HALF, _HALF])
    function = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch.p0")
    b.call(function, [e.pointer(array, index, _BYTE), _HALF(1), _HALF(3), _HALF(1)])
