"""Whole periods of Tausworthe generators: b[k + m] = XOR of the bits b[k + i] over the taps i."""

import numpy as np

from heeler.compiled.jit import kernel


@kernel
def fill_period(taps, sigma, bits, windows, out):
    """Store the outputs of one period, 32 bits each, most significant first, sigma steps apart.

    taps lists the i; bits (uint8, period + 31) and windows (uint32, period) are scratch; bits
    starts with the generator's m first bits.
    """
    period = out.size
    order = taps[taps.size - 1]
    for k in range(period + 31 - order):
        bit = np.uint8(0)
        for j in range(taps.size - 1):
            bit ^= bits[k + taps[j]]
        bits[k + order] = bit
    word = np.uint32(0)
    for k in range(period + 31):
        word = np.uint32((np.uint32(word) << np.uint32(1)) | np.uint32(bits[k]))
        if k >= 31:
            windows[k - 31] = word
    at = np.int64(0)
    for k in range(period):
        out[k] = windows[at]
        at = (at + sigma) % period
