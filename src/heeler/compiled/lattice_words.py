"""The random words of a row segment, by position in the pass."""

import numpy as np
from llvmlite import ir
from numba import types

from heeler.compiled.jit import helper
from heeler.compiled.vectors import vector_operation
from heeler.compiled.words import BLOCK, DRAW_VALUE, QUARTER, philox

PHILOX, FAST, GREEDY = 0, 1, 2
SPARE = 64  # words behind the last that a block of sites may read

_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 times the golden ratio's fraction, odd
# Multipliers of SplitMix64's finaliser (Steele, Lea, Flood 2014; variant 13 of Stafford).
_MIX_0 = 0xBF58476D1CE4E5B9
_MIX_1 = 0x94D049BB133111EB


@helper
def fast_stream(key, pass_number, draw, lane):
    """Return the two 64-bit numbers that set the fast generator apart for a pass and lane.

    They come from Philox, so that related passes, lanes and seeds have unrelated streams; with one
    number alone two passes could walk along the same Weyl sequence.
    """
    w0, w1, w2, w3 = philox(
        np.uint32(0xFFFFFFFF),
        np.uint32(pass_number),
        np.uint32(((pass_number >> 32) << 3) + draw),
        np.uint32(lane),
        np.uint32(key),
        np.uint32(key >> np.uint64(32)),
    )
    start = (np.uint64(w0) << np.uint64(32)) | np.uint64(w1)
    twist = (np.uint64(w2) << np.uint64(32)) | np.uint64(w3)
    return start, twist


_LANES = 8
_WORD = ir.IntType(64)


def _counters(e, first):
    numbers = e.constant(_WORD, _LANES, list(range(_LANES)))
    return e.builder.add(e.splat(first, _LANES), numbers)


def _store_words(e, value, out, at):
    e.store(e.builder.trunc(value, ir.VectorType(ir.IntType(32), _LANES)), out, at)


@vector_operation(types.void)
def fill_philox(e, out, at, key, c1, c2, c3, block):
    """Store the 256 words of a block as `fill_block` does, eight counters a vector.

    A vector's 64-bit places hold 32-bit numbers; what overflows into the upper halves is masked
    away where it would matter, which is where a multiplication reads only lower halves anyway.
    """
    b = e.builder
    half, low = e.constant(_WORD, _LANES, 32), e.constant(_WORD, _LANES, 0xFFFFFFFF)
    first = b.mul(block, _WORD(QUARTER))
    keys = [
        (b.trunc(key, ir.IntType(32)), 0x9E3779B9),
        (b.trunc(b.lshr(key, _WORD(32)), ir.IntType(32)), 0xBB67AE85),
    ]

    def key_vector(start, step, number):
        weyl = ir.IntType(32)(number * step % 2**32)
        return e.splat(b.zext(b.add(start, weyl), _WORD), _LANES)

    rounds = [[key_vector(*part, number) for part in keys] for number in range(10)]

    def eight(index):
        offset = b.mul(index, _WORD(_LANES))
        x0, x1 = _counters(e, b.add(first, offset)), e.splat(c1, _LANES)
        x2, x3 = e.splat(c2, _LANES), e.splat(c3, _LANES)
        for k0, k1 in rounds:
            product_0 = b.mul(b.and_(x0, low), e.constant(_WORD, _LANES, 0xD2511F53))
            product_1 = b.mul(b.and_(x2, low), e.constant(_WORD, _LANES, 0xCD9E8D57))
            x0 = b.xor(b.xor(b.lshr(product_1, half), x1), k0)
            x2 = b.xor(b.xor(b.lshr(product_0, half), x3), k1)
            x1, x3 = product_1, product_0
        for number, value in enumerate((x0, x1, x2, x3)):
            _store_words(e, value, out, b.add(b.add(at, offset), _WORD(number * QUARTER)))

    e.repeat(_WORD(QUARTER // _LANES), eight)


@vector_operation(types.void)
def fill_fast(e, out, at, start, twist, block):
    """Store the 256 words of a block: each counter gives two words, 64 positions apart."""
    b = e.builder
    first = b.mul(block, _WORD(2 * QUARTER))

    def shifted(value, places):
        return b.xor(value, b.lshr(value, e.constant(_WORD, _LANES, places)))

    def eight(index):
        offset = b.mul(index, _WORD(_LANES))
        counter = _counters(e, b.add(first, offset))
        z = b.add(e.splat(start, _LANES), b.mul(counter, e.constant(_WORD, _LANES, _GOLDEN)))
        z = b.mul(shifted(z, 30), e.constant(_WORD, _LANES, _MIX_0))
        z = b.mul(b.xor(shifted(z, 27), e.splat(twist, _LANES)), e.constant(_WORD, _LANES, _MIX_1))
        z = shifted(z, 31)
        # Counters 64 ... 127 of a block are its second half: words 128 ... 255.
        place = b.add(at, b.add(offset, b.and_(offset, _WORD(QUARTER))))
        _store_words(e, z, out, place)
        _store_words(e, b.lshr(z, e.constant(_WORD, _LANES, 32)), out, b.add(place, _WORD(QUARTER)))

    e.repeat(_WORD(2 * QUARTER // _LANES), eight)


@helper
def words_at(scratch, slot, generator, key, pass_number, lane, position, count):
    """Make scratch.words[slot, result:] start with the words of `count` positions.

    `held` are the blocks, [first, last), that are there already: rows follow each other, so the
    last block of one is often the first of the next.
    """
    out = scratch.words[slot]
    held = scratch.held
    first = position // BLOCK
    last = (position + count - 1) // BLOCK
    if first < held[slot, 0] or first >= held[slot, 1]:
        held[slot, 0] = first
        held[slot, 1] = first
    elif (last + 1 - held[slot, 0]) * BLOCK > out.size - SPARE:
        shift = (first - held[slot, 0]) * BLOCK
        for k in range((held[slot, 1] - first) * BLOCK):
            out[k] = out[shift + k]
        held[slot, 0] = first
    for block in range(held[slot, 1], last + 1):
        at = (block - held[slot, 0]) * BLOCK
        if generator == PHILOX:
            fill_philox(
                out, at, np.int64(key), np.int64(pass_number & 0xFFFFFFFF),
                ((pass_number >> 32) << 3) + DRAW_VALUE, lane, block,
            )  # fmt: skip
        else:
            fill_fast(
                out, at, np.int64(scratch.streams[slot, 0]),
                np.int64(scratch.streams[slot, 1]), block,
            )  # fmt: skip
    held[slot, 1] = max(held[slot, 1], last + 1)
    return position - held[slot, 0] * BLOCK


@helper
def open_streams(scratch, phases, generator, key, first_pass, lane):
    """Forget the words of the window before and prepare those of the next passes."""
    for step in range(scratch.held.shape[0]):
        scratch.held[step, 1] = 0
        if generator == FAST:
            start, twist = fast_stream(key, first_pass + step // phases, DRAW_VALUE, lane)
            scratch.streams[step, 0] = start
            scratch.streams[step, 1] = twist
