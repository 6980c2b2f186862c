"""What happens to one block of sites of a lattice row: neighbours counted, values drawn, weights moved.

`keys` holds for every site of a row segment the number of its up neighbours (or their pattern): the row of the
table, and of the weights, that the site uses. `planes` is how many keys there are. Tables and weights are stored
block by block, all planes of a block together, so that one stream is read and no large power of two separates
what is used together. `table_at` is the same for all blocks where all sites share a table.
"""

from llvmlite import ir
from numba import types

from heeler.compiled.vectors import vector_operation

_BYTE, _WORD, _BIT = ir.IntType(8), ir.IntType(64), ir.IntType(1)
SITES = 64
WORD_SITES = 16
UNROLLED = (5, 16)  # planes of a 2-D lattice with 4 neighbours: counts, patterns


def weight_sites(array_type):
    """Return how many sites' weights one vector holds."""
    return 512 // array_type.dtype.bitwidth


@vector_operation(types.void)
def count_neighbours(e, keys, at, state, neighbours, row, column, count, pattern):
    """Store the keys of 64 sites: the number of up neighbours, or their pattern (bit i: neighbour i)."""
    b = e.builder
    zero = e.constant(_BYTE, SITES, 0)
    total = e.variable(zero)
    doubled = e.splat(b.select(b.icmp_signed("!=", pattern, _WORD(0)), _BYTE(255), _BYTE(0)), SITES)
    first = b.mul(row, count)

    def add(index):
        # The last neighbour first: doubling before each addition makes neighbour i bit i.
        i = b.sub(b.sub(count, _WORD(1)), index)
        start = b.load(e.pointer(neighbours, b.add(first, i), _WORD), align=1)
        up = e.load(state, b.add(start, column), SITES)
        so_far = b.load(total)
        b.store(b.add(b.add(so_far, b.and_(so_far, doubled)), up), total)

    e.repeat(count, add, (4,))
    e.store(b.load(total), keys, at)


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
    """Return how many of the neighbours of the first `valid` (of 64) sites have the site's own value."""
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
    up = b.icmp_unsigned("!=", e.load(state, state_at, WORD_SITES), e.constant(_BYTE, WORD_SITES, 0))
    values = e.load(field, at, WORD_SITES)
    chosen = b.select(up, values, e.constant(ir.IntType(32), WORD_SITES, 0))
    return e.sum_words(b.sext(chosen, ir.VectorType(_WORD, WORD_SITES)))


@vector_operation(types.void)
def herd(e, keys, at, weights, weight_at, table, table_at, planes, state, state_at, counts, count_at):
    """Update a block of herded sites: the weight under each key gains p and its carry is the new value."""
    b = e.builder
    lanes = weight_sites(weights[0])
    key = e.load(keys, at, lanes)
    width = ir.IntType(weights[0].dtype.bitwidth)
    nothing = e.constant(width, lanes, 0)
    carries = e.variable(e.constant(_BIT, lanes, 0))

    def move(index):
        shift = b.mul(index, _WORD(lanes))
        here = b.add(weight_at, shift)
        old = e.load(weights, here, lanes)
        gain = e.load(table, b.add(table_at, shift), lanes)
        own = b.icmp_unsigned("==", key, e.byte(index, lanes))
        new = b.add(old, b.select(own, gain, nothing))
        e.store(new, weights, here)
        b.store(b.or_(b.load(carries), b.icmp_unsigned("<", new, old)), carries)

    e.repeat(planes, move, UNROLLED)
    value = b.zext(b.load(carries), ir.VectorType(_BYTE, lanes))
    e.store(value, state, state_at)
    e.store(b.add(e.load(counts, count_at, lanes), value), counts, count_at)


@vector_operation(types.void)
def herd_outcomes(e, keys, at, step, weights, weight_at, table, table_at, planes, down, up, bit_at):
    """Store the bits that a block of herded sites would get if its left neighbour were down, and if up."""
    b = e.builder
    lanes = weight_sites(weights[0])
    key = e.load(keys, at, lanes)
    raised = b.add(key, e.byte(step, lanes))
    none = e.constant(_BIT, lanes, 0)
    if_down, if_up = e.variable(none), e.variable(none)

    def look(index):
        shift = b.mul(index, _WORD(lanes))
        old = e.load(weights, b.add(weight_at, shift), lanes)
        gain = e.load(table, b.add(table_at, shift), lanes)
        carry = b.icmp_unsigned("<", b.add(old, gain), old)
        plane = e.byte(index, lanes)
        for keyed, slot in ((key, if_down), (raised, if_up)):
            chosen = b.and_(carry, b.icmp_unsigned("==", keyed, plane))
            b.store(b.or_(b.load(slot), chosen), slot)

    e.repeat(planes, look, UNROLLED)
    for slot, bits in ((if_down, down), (if_up, up)):
        e.store(b.bitcast(b.load(slot), ir.IntType(lanes)), bits, bit_at)


def _look_up(e, keys, table, table_at, planes):
    """Return for each vector of keys the probabilities of a block's sites."""
    b = e.builder
    first = e.load(table, table_at, WORD_SITES)
    slots = [e.variable(first) for _ in keys]

    def look(before):
        index = b.add(before, _WORD(1))
        value = e.load(table, b.add(table_at, b.mul(index, _WORD(WORD_SITES))), WORD_SITES)
        plane = e.byte(index, WORD_SITES)
        for key, slot in zip(keys, slots, strict=True):
            b.store(b.select(b.icmp_unsigned("==", key, plane), value, b.load(slot)), slot)

    e.repeat(b.sub(planes, _WORD(1)), look, (UNROLLED[0] - 1,))
    return [b.load(slot) for slot in slots]


@vector_operation(types.void)
def draw(e, keys, at, words, word_at, table, table_at, planes, state, state_at, sums, sum_at):
    """Update 16 random sites: up if the word is below p; the sums gain p in units of 2^-24."""
    b = e.builder
    key = e.load(keys, at, WORD_SITES)
    (p,) = _look_up(e, [key], table, table_at, planes)
    value = b.icmp_unsigned("<", e.load(words, word_at, WORD_SITES), p)
    e.store(b.zext(value, ir.VectorType(_BYTE, WORD_SITES)), state, state_at)
    credit = b.lshr(p, e.constant(ir.IntType(32), WORD_SITES, 8))
    e.store(b.add(e.load(sums, sum_at, WORD_SITES), credit), sums, sum_at)


@vector_operation(types.void)
def draw_outcomes(e, keys, at, step, words, word_at, table, table_at, planes, down, up, bit_at):
    """Store the bits that 16 random sites would get if their left neighbour were down, and if up."""
    b = e.builder
    key = e.load(keys, at, WORD_SITES)
    raised = b.add(key, e.byte(step, WORD_SITES))
    word = e.load(words, word_at, WORD_SITES)
    for p, bits in zip(_look_up(e, [key, raised], table, table_at, planes), (down, up), strict=True):
        e.store(b.bitcast(b.icmp_unsigned("<", word, p), ir.IntType(WORD_SITES)), bits, bit_at)
