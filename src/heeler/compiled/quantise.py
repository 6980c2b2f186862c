"""Probabilities as integers: computed once, rounded once, the same in every kernel.

A binary probability is an integer in [0, 2^32] and a possible value keeps at least 1, so what is
possible stays possible and what is impossible never happens. With K > 2 values the integers add up
to exactly 2^30.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from heeler.compiled.jit import helper, kernel
from heeler.compiled.rows import MOST, quantise_4, quantise_8, row_width

BINARY_ONE = 1 << 32
KARY_ONE = 1 << 30

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
# log m from s = (m - 1) / (m + 1): the minimax polynomial of FreeBSD's e_log.c, error below 2^-58.
_L1, _L2, _L3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
_L4, _L5, _L6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01
_ROOT_BITS = 0x3FE6A09E667F3BCD  # of sqrt(1/2)
EXPONENTIAL = (_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11)


@intrinsic
def bits_to_float(typingctx, bits):
    """Reinterpret an int64's bits as a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


@intrinsic
def float_to_bits(typingctx, value):
    """Reinterpret a float64's bits as an int64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


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
def logarithm(x):
    """Return log(x) to 1e-15 for normal positive x, with no branch and no table."""
    bits = float_to_bits(x)
    # x = 2^k m with sqrt(1/2) <= m < sqrt(2): k counts from the bits of sqrt(1/2).
    k = (bits - _ROOT_BITS) >> 52
    m = bits_to_float(bits - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    w = z * z
    # log m = 2 artanh s = 2 s + s z (2/3 + 2/5 z + ...), |s| <= 0.172.
    odd = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    even = w * (_L2 + w * (_L4 + w * _L6))
    exponent = np.float64(k)
    return exponent * _LN2_HIGH + (2.0 * s + (s * (odd + even) + exponent * _LN2_LOW))


@helper
def quantise_row(weights, count, out):
    """Quantise weights[:count], normalised, into out[:count] (int32, sum 2^30).

    A possible value gets at least 1; the first of the largest takes the remainder of the rounding.
    The weights are filled up with zeros to 4 or a multiple of 8 values, and out has as much room.
    """
    if count <= 4:
        quantise_4(weights, out)
    elif count <= MOST:
        quantise_8(weights, out)
    else:
        total = 0.0
        best = np.int64(0)
        for v in range(count):
            total += weights[v]
            best = np.int64(v) if weights[v] > weights[best] else best
        factor = KARY_ONE / total
        rest = np.int64(KARY_ONE)
        for v in range(count):
            q = np.int64(weights[v] * factor + 0.5)
            q = q if q > 1 else np.int64(1)
            q = q if weights[v] > 0.0 else np.int64(0)
            out[v] = q
            rest -= q
        out[best] += rest


@helper
def weigh_row(log_weights, count, beta, weights):
    """Fill weights[:count] with exp(beta * log weights), the largest 1, up to 4 or 8 with zeros."""
    width = row_width(count)
    top = log_weights[0]
    for v in range(1, width):
        top = log_weights[v] if log_weights[v] > top else top
    for v in range(width):
        weight = exponential(beta * (log_weights[v] - top))
        weights[v] = weight if log_weights[v] > -np.inf else 0.0


@kernel
def fill_weights(log_weights, beta, out):
    """Fill out with exp(beta * log_weights); minus infinity gives exactly zero."""
    for k in range(out.size):
        weight = exponential(beta * log_weights[k])
        out[k] = weight if log_weights[k] > -np.inf else 0.0


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
