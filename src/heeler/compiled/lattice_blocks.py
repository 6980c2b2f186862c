"""Lattice rows block by block: neighbours counted, values drawn, weights moved.

`keys` holds for every site of a row segment the number of its up neighbours (or their pattern): the
row of the table, and of the weights, that the site uses. `planes` is how many keys there are.
Tables and weights are stored block by block, all planes of a block together, so that one stream is
read and no large power of two separates what is used together; `flat` is the number of a segment's
first site in them. `table_step` is 0 where all sites share one block of the table, else 1.
"""

from llvmlite import ir
from numba import types

from heeler.compiled.vectors import vector_operation

_BYTE, _WORD, _BIT = ir.IntType(8), ir.IntType(64), ir.IntType(1)
SITES = 64
WORD_SITES = 16
UNROLLED = (5,)  # planes of a 2-D lattice with 4 neighbours, by counts


def weight_sites(array_type):
    """Return how many sites' weights one vector holds."""
    return 512 // array_type.dtype.bitwidth


def blocks_in(e, count, block):
    """Return how many blocks hold `count` sites."""
    return e.builder.udiv(e.builder.add(count, _WORD(block - 1)), _WORD(block))


@vector_operation(types.void)
def count_neighbours(e, keys, state, neighbours, row, column, length, count, pattern):
    """Store the keys of `length` sites: how many neighbours are up, or their pattern."""
    b = e.builder
    doubled = e.splat(b.select(b.icmp_signed("!=", pattern, _WORD(0)), _BYTE(255), _BYTE(0)), SITES)
    first = b.mul(row, count)
    total = e.variable(e.constant(_BYTE, SITES, 0))

    def body(numbers):
        def block(number):
            at = b.mul(number, _WORD(SITES))
            b.store(e.constant(_BYTE, SITES, 0), total)

            def add(index):
                # The last neighbour first: doubling before each addition makes neighbour i bit i.
                i = b.sub(b.sub(count, _WORD(1)), index)
                start = b.load(e.pointer(neighbours, b.add(first, i), _WORD), align=1)
                up = e.load(state, b.add(start, b.add(column, at)), SITES)
                so_far = b.load(total)
                b.store(b.add(b.add(so_far, b.and_(so_far, doubled)), up), total)

            numbers(add)
            e.store(b.load(total), keys, at)

        e.repeat(blocks_in(e, length, SITES), block)

    e.unrolled(count, body, (4,))


@vector_operation(types.void)
def add_left(e, keys, at, state, state_at, step):
    """Add `step` to the key of each of 64 sites whose left neighbour is up."""
    b = e.builder
    up = e.load(state, b.sub(state_at, _WORD(1)), SITES)
    mask = b.sext(b.icmp_unsigned("!=", up, e.constant(_BYTE, SITES, 0)), up.type)
    e.store(b.add(e.load(keys, at, SITES), b.and_(mask, e.byte(step, SITES))), keys, at)


@vector_operation(types.void)
def spread_bits(e, bits, state, state_at):
    """Store 64 bits as 64 bytes."""
    b = e.builder
    mask = b.bitcast(bits, ir.VectorType(_BIT, SITES))
    e.store(b.zext(mask, ir.VectorType(_BYTE, SITES)), state, state_at)


@vector_operation(types.int64)
def load_bits(e, bits, at):
    """Return 64 bits that were stored as bytes."""
    return e.builder.load(e.pointer(bits, at, _WORD), align=1)


@vector_operation(types.int64)
def count_agreement(e, keys, at, state, state_at, neighbours, valid):
    """Return how often the first `valid` (of 64) sites agree with a neighbour."""
    b = e.builder
    key = e.load(keys, at, SITES)
    zero = e.constant(_BYTE, SITES, 0)
    up = b.icmp_unsigned("!=", e.load(state, state_at, SITES), zero)
    agree = b.select(up, key, b.sub(e.byte(neighbours, SITES), key))
    return e.sum_bytes(b.select(e.below(valid, SITES), agree, zero))


@vector_operation(types.int64)
def count_up(e, state, state_at, valid):
    """Return how many of the first `valid` (of 64) sites are up."""
    b = e.builder
    up = e.load(state, state_at, SITES)
    return e.sum_bytes(b.select(e.below(valid, SITES), up, e.constant(_BYTE, SITES, 0)))


@vector_operation(types.int64)
def sum_field(e, field, at, state, state_at):
    """Return the sum of the fields of those of 16 sites that are up."""
    b = e.builder
    up = b.icmp_unsigned(
        "!=", e.load(state, state_at, WORD_SITES), e.constant(_BYTE, WORD_SITES, 0)
    )
    values = e.load(field, at, WORD_SITES)
    chosen = b.select(up, values, e.constant(ir.IntType(32), WORD_SITES, 0))
    return e.sum_words(b.sext(chosen, ir.VectorType(_WORD, WORD_SITES)))


@vector_operation(types.int64)
def settle(e, keys, state, state_at, bits, bit_at, neighbours, pattern, scored, count):
    """Finish `count` sites: clear what blocks left behind them and keep their values as bits.

    Returns how often they agree with their neighbours if `scored` is 1, else 0. One load serves
    all three: a load of 64 bytes just stored in pieces has to wait for the cache.
    """
    b = e.builder
    zero = e.constant(_BYTE, SITES, 0)
    total = e.variable(_WORD(0))
    b.store(_WORD(0), total)

    def block(number):
        at = b.mul(number, _WORD(SITES))
        here = b.add(state_at, at)
        inside = e.below(b.sub(count, at), SITES)
        value = b.select(inside, e.load(state, here, SITES), zero)
        up = b.icmp_unsigned("!=", value, zero)
        e.store(value, state, here)
        e.store(b.bitcast(up, _WORD), bits, b.add(bit_at, number))
        with b.if_then(b.icmp_signed("!=", scored, _WORD(0))):
            key = e.load(keys, at, SITES)
            key = b.select(b.icmp_signed("!=", pattern, _WORD(0)), e.count_bits(key), key)
            agree = b.select(up, key, b.sub(e.byte(neighbours, SITES), key))
            found = e.sum_bytes(b.select(inside, agree, zero))
            b.store(b.add(b.load(total), found), total)

    e.repeat(blocks_in(e, count, SITES), block)
    return b.load(total)


@vector_operation(types.void)
def herd(e, keys, weights, table, table_step, planes, state, state_at, counts, flat, count):
    """Update `count` herded sites: the keyed weight gains p, its carry is the new value."""
    b = e.builder
    lanes = weight_sites(weights[0])
    bits = ir.IntType(weights[0].dtype.bitwidth)
    carries = e.variable(e.constant(_BIT, lanes, 0))

    def body(numbers):
        def block(number):
            at = b.mul(number, _WORD(lanes))
            here = b.add(flat, at)
            weight_at = b.mul(here, planes)
            table_at = b.mul(weight_at, table_step)
            key = e.load(keys, at, lanes)
            b.store(e.constant(_BIT, lanes, 0), carries)

            def move(index):
                shift = b.mul(index, _WORD(lanes))
                old = e.load(weights, b.add(weight_at, shift), lanes)
                gain = e.load(table, b.add(table_at, shift), lanes)
                own = b.icmp_unsigned("==", key, e.byte(index, lanes))
                new = b.add(old, b.select(own, gain, e.constant(bits, lanes, 0)))
                e.store(new, weights, b.add(weight_at, shift))
                b.store(b.or_(b.load(carries), b.icmp_unsigned("<", new, old)), carries)

            numbers(move)
            value = b.zext(b.load(carries), ir.VectorType(_BYTE, lanes))
            e.store(value, state, b.add(state_at, at))
            e.store(b.add(e.load(counts, here, lanes), value), counts, here)

        e.repeat(blocks_in(e, count, lanes), block)

    e.unrolled(planes, body, UNROLLED)


@vector_operation(types.void)
def herd_outcomes(e, keys, step, weights, table, table_step, planes, flat, down, up, count):
    """Store the bits that herded sites would get if their left neighbour were down, and if up."""
    b = e.builder
    lanes = weight_sites(weights[0])
    none = e.constant(_BIT, lanes, 0)
    if_down, if_up = e.variable(none), e.variable(none)

    def body(numbers):
        def block(number):
            at = b.mul(number, _WORD(lanes))
            weight_at = b.mul(b.add(flat, at), planes)
            table_at = b.mul(weight_at, table_step)
            key = e.load(keys, at, lanes)
            raised = b.add(key, e.byte(step, lanes))
            b.store(none, if_down)
            b.store(none, if_up)

            def look(index):
                shift = b.mul(index, _WORD(lanes))
                old = e.load(weights, b.add(weight_at, shift), lanes)
                gain = e.load(table, b.add(table_at, shift), lanes)
                carry = b.icmp_unsigned("<", b.add(old, gain), old)
                plane = e.byte(index, lanes)
                for keyed, slot in ((key, if_down), (raised, if_up)):
                    chosen = b.and_(carry, b.icmp_unsigned("==", keyed, plane))
                    b.store(b.or_(b.load(slot), chosen), slot)

            numbers(look)
            for slot, bits in ((if_down, down), (if_up, up)):
                e.store(b.bitcast(b.load(slot), ir.IntType(lanes)), bits, b.udiv(at, _WORD(8)))

        e.repeat(blocks_in(e, count, lanes), block)

    e.unrolled(planes, body, UNROLLED)


def _look_up(e, numbers, keys, table, table_at):
    """Return for each vector of keys the probabilities of a block's sites."""
    b = e.builder
    slots = [e.variable(e.constant(ir.IntType(32), WORD_SITES, 0)) for _ in keys]
    first = e.load(table, table_at, WORD_SITES)
    for slot in slots:
        b.store(first, slot)

    def look(index):
        value = e.load(table, b.add(table_at, b.mul(index, _WORD(WORD_SITES))), WORD_SITES)
        plane = e.byte(index, WORD_SITES)
        for key, slot in zip(keys, slots, strict=True):
            b.store(b.select(b.icmp_unsigned("==", key, plane), value, b.load(slot)), slot)

    numbers(look)
    return [b.load(slot) for slot in slots]


@vector_operation(types.void)
def draw(e, keys, words, word_at, table, table_step, planes, state, state_at, sums, flat, count):
    """Update `count` random sites: up if the word is below p; the sums gain p in units of 2^-24."""
    b = e.builder

    def body(numbers):
        def block(number):
            at = b.mul(number, _WORD(WORD_SITES))
            here = b.add(flat, at)
            key = e.load(keys, at, WORD_SITES)
            (p,) = _look_up(e, numbers, [key], table, b.mul(b.mul(here, planes), table_step))
            value = b.icmp_unsigned("<", e.load(words, b.add(word_at, at), WORD_SITES), p)
            e.store(b.zext(value, ir.VectorType(_BYTE, WORD_SITES)), state, b.add(state_at, at))
            credit = b.lshr(p, e.constant(ir.IntType(32), WORD_SITES, 8))
            e.store(b.add(e.load(sums, here, WORD_SITES), credit), sums, here)

        e.repeat(blocks_in(e, count, WORD_SITES), block)

    e.unrolled(planes, body, UNROLLED[:1])


@vector_operation(types.void)
def draw_outcomes(e, keys, step, words, word_at, table, table_step, planes, flat, down, up, count):
    """Store the bits that random sites would get if their left neighbour were down, and if up."""
    b = e.builder

    def body(numbers):
        def block(number):
            at = b.mul(number, _WORD(WORD_SITES))
            table_at = b.mul(b.mul(b.add(flat, at), planes), table_step)
            key = e.load(keys, at, WORD_SITES)
            raised = b.add(key, e.byte(step, WORD_SITES))
            word = e.load(words, b.add(word_at, at), WORD_SITES)
            found = _look_up(e, numbers, [key, raised], table, table_at)
            for p, bits in zip(found, (down, up), strict=True):
                value = b.bitcast(b.icmp_unsigned("<", word, p), ir.IntType(WORD_SITES))
                e.store(value, bits, b.udiv(at, _WORD(8)))

        e.repeat(blocks_in(e, count, WORD_SITES), block)

    e.unrolled(planes, body, UNROLLED[:1])
