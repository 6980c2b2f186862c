"""The random words of a row segment, by position in the pass."""

import numpy as np

from heeler.compiled.jit import helper
from heeler.compiled.words import BLOCK, DRAW_VALUE, QUARTER, fill_block, philox

PHILOX, FAST, GREEDY = 0, 1, 2

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 times the golden ratio's fraction, odd
# Multipliers of SplitMix64's finaliser (Steele, Lea, Flood 2014; variant 13 of Stafford).
_MIX_0 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_1 = np.uint64(0x94D049BB133111EB)


@helper
def fast_stream(key, pass_number, draw, lane):
    """Return the two 64-bit numbers that set the fast generator apart for a pass and lane.

    They come from Philox, so that related passes, lanes and seeds have unrelated streams; with one number alone
    two passes could walk along the same Weyl sequence.
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


@helper
def fill_block_fast(out, at, start, twist, block):
    """Store the 256 words of a block: each counter gives two words, 64 positions apart."""
    for half in range(2):
        for q in range(QUARTER):
            z = start + _GOLDEN * np.uint64((block * 2 + half) * QUARTER + q)
            z = (z ^ (z >> np.uint64(30))) * _MIX_0
            z = (z ^ (z >> np.uint64(27)) ^ twist) * _MIX_1
            z = z ^ (z >> np.uint64(31))
            out[at + half * 2 * QUARTER + q] = np.uint32(z)
            out[at + half * 2 * QUARTER + QUARTER + q] = np.uint32(z >> np.uint64(32))


@helper
def words_at(out, held, generator, key, stream, pass_number, lane, position, count):
    """Make out[result:result + count] the words of `count` positions from `position` on.

    `held` are the blocks that `out` holds already, [held[0], held[1]): rows follow each other, so the last block
    of one is often the first of the next.
    """
    first = position // BLOCK
    last = (position + count - 1) // BLOCK
    if first < held[0] or first >= held[1]:
        held[1] = first
    elif first > held[0]:
        shift = (first - held[0]) * BLOCK
        for k in range((held[1] - first) * BLOCK):
            out[k] = out[shift + k]
    held[0] = first
    for block in range(held[1], last + 1):
        if generator == PHILOX:
            fill_block(out, (block - first) * BLOCK, key, pass_number, DRAW_VALUE, lane, block)
        else:
            fill_block_fast(out, (block - first) * BLOCK, stream[0], stream[1], block)
    held[1] = max(held[1], last + 1)
    return position - first * BLOCK
