"""Influence of spins with pair couplings: from each variable's couplings and field to its row."""

import math

import numpy as np

from heeler.compiled.jit import helper, kernel

EPS = 2.0**-52
# A result is off by a few units in the last place (three calls of the mathematical library).
UP = 1.0 + 16 * EPS
TINY = 2.0**-1022
# Signs of at most this many neighbours are kept as an array of sums, of the others as a counter.
LOW_BITS = 10


@helper
def spread(weight, least):
    """Bound |tanh(m + w) - tanh(m - w)| / 2 for |w| <= weight and |m| >= least, rounded up.

    The same as sinh 2w / (cosh 2m + cosh 2w), in a form where nothing overflows or cancels.
    """
    result = 0.0
    if weight > 0.0:
        small = math.exp(-2.0 * weight)
        result = -math.expm1(-2.0 * weight) / (1.0 + small)
        if least > 0.0:
            ratio = math.expm1(-2.0 * least) / (1.0 + small)
            result /= 1.0 + ratio * ratio * math.exp(2.0 * (least - weight))
        result = min(1.0, max(result * UP, TINY))
    return result


@kernel
def spread_all(weight, least, value):
    """Apply `spread` to arrays."""
    for k in range(value.size):
        value[k] = spread(weight[k], least[k])


@helper
def least_sum(start, weights, begin, end, left_out, scale, sums):
    """Return the least |start +- w +- w ...| over all signs of weights[begin:end] but one."""
    count = end - begin - 1
    low = min(count, LOW_BITS)
    high = count - low
    least = math.inf
    for pattern in range(1 << high):
        sums[0] = start
        size = 1
        taken = 0
        for k in range(begin, end):
            if k == left_out:
                continue
            weight = weights[k] * scale
            if taken < high:
                sums[0] += weight if (pattern >> taken) & 1 else -weight
            else:
                for r in range(size):
                    sums[size + r] = sums[r] - weight
                    sums[r] += weight
                size *= 2
            taken += 1
        for r in range(size):
            least = min(least, abs(sums[r]))
    return least


@kernel
def spin_rows(pointer, coupling, field, scale, limit, sums, value):
    """Fill the influence on each variable, aligned to its couplings.

    Couplings and fields are multiplied by `scale`. Variables of at most `limit` neighbours get the
    exact influence, the others Theorem 11. sums: float64 (2^LOW_BITS,), scratch.
    """
    for i in range(pointer.size - 1):
        begin, end = pointer[i], pointer[i + 1]
        strength = abs(field[i] * scale)
        total = 0.0
        for e in range(begin, end):
            total += abs(coupling[e] * scale)
        # What rounding can do to a sum of these numbers, and to an exponential of it.
        slack = (end - begin + 8) * EPS * (strength + total)
        for e in range(begin, end):
            weight = abs(coupling[e] * scale)
            others = total - weight
            least = strength - others
            if end - begin <= limit and least < 0.0:
                least = least_sum(strength, coupling, begin, end, e, scale, sums)
            value[e] = spread(weight, least - slack)


@kernel
def condition_spins(pointer, column, coupling, field, evidence, out):
    """Remove clamped neighbours and zero couplings; return the number of couplings left.

    out: pointer (n + 1,), column and coupling as large as the input, field (n,), which gets the
    couplings to clamped neighbours (spin 2 * evidence - 1) added. Clamped rows become empty.
    """
    out_pointer, out_column, out_coupling, out_field = out
    count = np.int64(0)
    for i in range(pointer.size - 1):
        out_pointer[i] = count
        out_field[i] = 0.0
        if evidence[i] >= 0:
            continue
        local = field[i]
        for e in range(pointer[i], pointer[i + 1]):
            j = column[e]
            if evidence[j] >= 0:
                local += coupling[e] * (2 * evidence[j] - 1)
            elif coupling[e] != 0.0:
                out_column[count] = j
                out_coupling[count] = coupling[e]
                count += 1
        out_field[i] = local
    out_pointer[pointer.size - 1] = count
    return count
