"""Probabilities as integers: computed once, rounded once, the same in every kernel.

A binary probability is an integer in [0, 2^32] and a possible value keeps at least 1, so what is possible stays
possible and what is impossible never happens. With K > 2 values the integers add up to exactly 2^30.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from heeler.compiled.jit import helper, kernel

BINARY_ONE = 1 << 32
KARY_ONE = 1 << 30

_LOG2E = 1.4426950408889634
_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which a SIMD loop can do
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@intrinsic
def bits_to_float(typingctx, bits):
    """Reinterpret an int64's bits as a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


@helper
def exponential(x):
    """Return e^x to 1e-15 relative for -700 <= x <= 700 (clamped), with no branch and no table.

    Own code because a library's scalar and vector versions differ in the last bit, and lanes must not show.
    """
    x = -700.0 if x < -700.0 else x
    x = 700.0 if x > 700.0 else x
    k = (x * _LOG2E + _ROUNDER) - _ROUNDER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    # Taylor coefficients 1/n!, evaluated in pairs (Estrin) for short dependency chains; |r| <= ln(2)/2.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0))
    middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0))
    high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0))
    y = low + r4 * (middle + r4 * high)
    return y * bits_to_float((np.int64(k) + 1023) << 52)


@helper
def quantised_sigmoid(log_odds):
    """Return P(value 1) in units of 2^-32 as int64 in [1, 2^32 - 1]."""
    p = 1.0 / (1.0 + exponential(-log_odds))
    q = np.int64(p * 4294967296.0 + 0.5)
    q = np.int64(1) if q < 1 else q
    return np.int64(BINARY_ONE - 1) if q > BINARY_ONE - 1 else q


@helper
def quantise_row(log_weights, count, beta, out):
    """Quantise exp(beta * log_weights[:count]), normalised, into out[:count] (int64, sum exactly 2^30).

    A possible value gets at least 1; the largest takes the remainder of the rounding.
    """
    top = log_weights[0]
    best = 0
    for v in range(1, count):
        if log_weights[v] > top:
            top = log_weights[v]
            best = v
    total = 0.0
    for v in range(count):
        total += exponential(beta * (log_weights[v] - top)) if log_weights[v] > -np.inf else 0.0
    scale = KARY_ONE / total
    rest = np.int64(KARY_ONE)
    for v in range(count):
        q = np.int64(0)
        if log_weights[v] > -np.inf:
            q = max(np.int64(exponential(beta * (log_weights[v] - top)) * scale + 0.5), np.int64(1))
        out[v] = q
        rest -= q
    out[best] += rest


@kernel
def fill_binary_table(log_odds, beta, out):
    """Quantise every context's log-odds (float64, infinities allowed) into out."""
    for c in range(log_odds.size):
        value = log_odds[c]
        if value == np.inf:
            out[c] = BINARY_ONE
        elif value == -np.inf:
            out[c] = 0
        else:
            out[c] = quantised_sigmoid(beta * value)
