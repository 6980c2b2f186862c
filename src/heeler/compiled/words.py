"""Random words as a function of where they are used: Philox4x32-10 (Salmon et al., 2011).

A word belongs to (seed, lane; pass, position in the pass, draw), never to a site and never to an
order of evaluation, so a run gives the same bits in pieces, on any number of threads, beside any
number of other lanes. The words of 256 consecutive positions come from 64 counters: counter number
q of block b yields the words of positions 256 b + q, + 64, + 128 and + 192, so a SIMD loop over q
stores whole vectors and never shuffles.
"""

import numpy as np

from heeler.compiled.jit import helper, kernel

BLOCK = 256
QUARTER = 64

_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint32(0x9E3779B9)  # 2^32 times the golden ratio's fraction
_WEYL_1 = np.uint32(0xBB67AE85)  # 2^32 (sqrt(3) - 1)
_SHIFT = np.uint64(32)

# What a draw number is for: one position may need several independent words.
DRAW_VALUE, DRAW_SITE, DRAW_WEIGHT, DRAW_PROPOSAL = 0, 1, 7, 2


@helper
def philox(c0, c1, c2, c3, k0, k1):
    """Return the four output words of Philox4x32-10 for one counter and key."""
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * np.uint64(c0)
        product_1 = _MULTIPLIER_1 * np.uint64(c2)
        high_0 = np.uint32(product_0 >> _SHIFT)
        high_1 = np.uint32(product_1 >> _SHIFT)
        n0 = np.uint32(np.uint32(high_1 ^ c1) ^ k0)
        n2 = np.uint32(np.uint32(high_0 ^ c3) ^ k1)
        c1 = np.uint32(product_1)
        c3 = np.uint32(product_0)
        c0 = n0
        c2 = n2
        k0 = np.uint32(k0 + _WEYL_0)
        k1 = np.uint32(k1 + _WEYL_1)
    return c0, c1, c2, c3


@helper
def fill_block(out, start, key, pass_number, draw, lane, block):
    """Store the 256 words of positions 256 block ... 256 block + 255 at out[start:]."""
    k0 = np.uint32(key)
    k1 = np.uint32(key >> _SHIFT)
    c1 = np.uint32(pass_number)
    c2 = np.uint32(((pass_number >> 32) << 3) + draw)
    c3 = np.uint32(lane)
    for q in range(QUARTER):
        w0, w1, w2, w3 = philox(np.uint32(block * QUARTER + q), c1, c2, c3, k0, k1)
        out[start + q] = w0
        out[start + QUARTER + q] = w1
        out[start + 2 * QUARTER + q] = w2
        out[start + 3 * QUARTER + q] = w3


@helper
def fill_block_lanes(out, key, pass_number, draw, first_lane, block):
    """Store the words of 256 positions for out.shape[1] lanes: out[position % 256, lane]."""
    k0 = np.uint32(key)
    k1 = np.uint32(key >> _SHIFT)
    c1 = np.uint32(pass_number)
    c2 = np.uint32(((pass_number >> 32) << 3) + draw)
    for q in range(QUARTER):
        c0 = np.uint32(block * QUARTER + q)
        for lane in range(out.shape[1]):
            w0, w1, w2, w3 = philox(c0, c1, c2, np.uint32(first_lane + lane), k0, k1)
            out[q, lane] = w0
            out[QUARTER + q, lane] = w1
            out[2 * QUARTER + q, lane] = w2
            out[3 * QUARTER + q, lane] = w3


@kernel
def fill_words(out, key, pass_number, draw, lane):
    """Store the words of positions 0 ... out.size - 1 (a multiple of 256) of one pass and lane."""
    for block in range(out.size // BLOCK):
        fill_block(out, block * BLOCK, key, pass_number, draw, lane, block)
