"""Probabilities as integers: computed once, rounded once, the same in every kernel.

A binary probability is an integer in [0, 2^32] and a possible value keeps at least 1, so what is
possible stays possible and what is impossible never happens. With K > 2 values the integers add up
to exactly 2^30.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from heeler.compiled.jit import helper, kernel

BINARY_ONE = 1 << 32
KARY_ONE = 1 << 30
SHARE_ONE = float(
    1 << 44
)  # weights relative to the largest, in fixed point: 65536 of them add up in an int64

_LOG2E = 1.4426950408889634
_ROUNDER = (
    6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which a SIMD loop can do
)
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# e^r = 1 + r + sum of these r^2, r^3, ... r^11 on |r| <= ln(2)/2: interpolated at the Chebyshev
# nodes, relative error 1.6e-17; Taylor's polynomial of this degree is off by 9e-15 at the ends.
_E2, _E3 = 0.5000000000000001, 0.16666666666666669
_E4, _E5 = 0.04166666666662413, 0.008333333333330062
_E6, _E7 = 0.0013888888917213717, 0.00019841269863053618
_E8, _E9 = 2.4801521295954376e-05, 2.7557268459997064e-06
_E10, _E11 = 2.7620088445409746e-07, 2.510038549551032e-08
EXPONENTIAL = (_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11)


@intrinsic
def bits_to_float(typingctx, bits):
    """Reinterpret an int64's bits as a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


@helper
def exponential(x):
    """Return e^x to 1e-15 relative for -700 <= x <= 700 (clamped), with no branch and no table.

    Own code because a library's scalar and vector versions differ in the last bit, and lanes must
    not show.
    """
    x = -700.0 if x < -700.0 else x
    x = 700.0 if x > 700.0 else x
    k = (x * _LOG2E + _ROUNDER) - _ROUNDER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    # |r| <= ln(2)/2. Terms in pairs (Estrin) for short dependency chains.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (_E2 + r * _E3)
    middle = (_E4 + r * _E5) + r2 * (_E6 + r * _E7)
    high = (_E8 + r * _E9) + r2 * (_E10 + r * _E11)
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
def quantise_row(log_weights, count, beta, scale, out, shares):
    """Quantise exp(beta * log_weights[:count]), normalised, into out[:count] (int32, sum 2^30).

    A possible value gets at least 1; the largest takes the remainder of the rounding. The gains
    (log weights below the largest, times scale) follow at out[count:2 * count]. log_weights is
    filled up with -inf to 4 or a multiple of 8 values, shares (int64) and out have as much room:
    loops of constant length become vectors, and are predicted.
    """
    if count <= 4:
        _quantise_wide(log_weights, count, 4, beta, scale, out, shares)
    elif count <= 8:
        _quantise_wide(log_weights, count, 8, beta, scale, out, shares)
    else:
        _quantise_wide(log_weights, count, (count + 7) & ~7, beta, scale, out, shares)


@helper
def _quantise_wide(log_weights, count, width, beta, scale, out, shares):
    top = log_weights[0]
    for v in range(1, width):
        top = log_weights[v] if log_weights[v] > top else top
    for v in range(width):
        shares[v] = np.int64(exponential(beta * (log_weights[v] - top)) * SHARE_ONE)
    total = np.int64(0)  # of integers: the order of the sum cannot show
    for v in range(width):
        total += shares[v]
    factor = KARY_ONE / np.float64(total)
    rest = np.int64(KARY_ONE)
    best = np.int64(-1)
    for v in range(width - 1, -1, -1):
        best = np.int64(v) if log_weights[v] == top else best
    for v in range(width):
        q = np.int64(shares[v] * factor + 0.5)
        q = q if q > 1 else np.int64(1)
        q = q if log_weights[v] > -np.inf else np.int64(0)
        shares[v] = q
        rest -= q
    for v in range(width):
        out[v] = shares[v]
    for v in range(width):  # an impossible value's gain is never read
        below = log_weights[v] - top
        out[count + v] = np.int64((below if below > -np.inf else 0.0) * scale)
    if best >= 0:
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
