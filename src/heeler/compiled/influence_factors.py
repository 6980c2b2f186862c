"""Influence in factor graphs: exact by enumeration of blankets, and bounds factor by factor.

Conditionals are extended off the support: a context in which a value has positive weight has the
normalised weights of the variable's own factors, one that excludes every value has the uniform
distribution over the values that the variable's own single factors allow.
"""

import math
from typing import NamedTuple

import numpy as np

from heeler.compiled.influence_spins import EPS, spread
from heeler.compiled.jit import helper, kernel


class Tables(NamedTuple):
    """The factors of the free variables of a model."""

    pointer: np.ndarray  # int64 (n + 1): blankets, clamped variables left out
    index: np.ndarray  # int32, sorted within rows
    slot_pointer: np.ndarray  # int64 (n + 1): the places in `scope` that are a variable's
    slot: np.ndarray  # int64
    factor_of: np.ndarray  # int64, aligned to `scope`
    base: np.ndarray  # int64 (factors): where a table begins, clamped variables fixed
    scope_pointer: np.ndarray  # int64 (factors + 1)
    scope: np.ndarray  # int32: free variables
    stride: np.ndarray  # int64, aligned to `scope`
    allowed_pointer: np.ndarray  # int64 (n + 1)
    allowed: np.ndarray  # int32: values that single factors allow
    log_tables: np.ndarray  # float64
    beta: float


@helper
def weigh(t, i, x, weights):
    """Fill the log weights of variable i's allowed values among the others' values x.

    Return the largest one, and the largest size of a finite sum.
    """
    begin, end = t.allowed_pointer[i], t.allowed_pointer[i + 1]
    for a in range(end - begin):
        weights[a] = 0.0
    for s in range(t.slot_pointer[i], t.slot_pointer[i + 1]):
        own = t.slot[s]
        f = t.factor_of[own]
        place = t.base[f]
        for q in range(t.scope_pointer[f], t.scope_pointer[f + 1]):
            if q != own:
                place += t.stride[q] * x[t.scope[q]]
        for a in range(end - begin):
            weights[a] += t.log_tables[place + t.stride[own] * t.allowed[begin + a]]
    top = -math.inf
    size = 0.0
    for a in range(end - begin):
        weights[a] *= t.beta
        top = max(top, weights[a])
        if weights[a] > -math.inf:
            size = max(size, abs(weights[a]))
    return top, size


@kernel
def exact_rows(t, rows, x, step, share, value):
    """Fill the exact influence on the variables `rows` by enumeration of their blankets.

    x: int32 (n,), scratch; step: int64 (largest degree,), scratch; share: float64, scratch for the
    conditionals of all contexts of a row. value: aligned to t.index. Return how many contexts
    excluded every value.
    """
    impossible = np.int64(0)
    for row in range(rows.size):
        i = rows[row]
        begin, end = t.pointer[i], t.pointer[i + 1]
        values = t.allowed_pointer[i + 1] - t.allowed_pointer[i]
        contexts = np.int64(1)
        for e in range(end - 1, begin - 1, -1):
            j = t.index[e]
            step[e - begin] = contexts
            contexts *= t.allowed_pointer[j + 1] - t.allowed_pointer[j]
        slots = t.slot_pointer[i + 1] - t.slot_pointer[i]
        largest = 0.0
        for context in range(contexts):
            rest = context
            for e in range(begin, end):
                j = t.index[e]
                digit = rest // step[e - begin]
                rest -= digit * step[e - begin]
                x[j] = t.allowed[t.allowed_pointer[j] + digit]
            p = share[context * values : (context + 1) * values]
            top, size = weigh(t, i, x, p)
            largest = max(largest, size)
            total = 0.0
            if top == -math.inf:
                impossible += 1
                for a in range(values):
                    p[a] = 1.0
                total = float(values)
            else:
                for a in range(values):
                    p[a] = math.exp(p[a] - top)
                    total += p[a]
            for a in range(values):
                p[a] /= total
        # A log weight is off by the roundings of its sum, a share by twice that and a few more.
        slack = EPS * (2 * (slots + 2) * (largest + 1.0) * 2 + 4 * (values + 4))
        for e in range(begin, end):
            j = t.index[e]
            others = t.allowed_pointer[j + 1] - t.allowed_pointer[j]
            most = 0.0
            for context in range(contexts):
                digit = (context // step[e - begin]) % others
                for other in range(digit + 1, others):
                    far = context + (other - digit) * step[e - begin]
                    distance = 0.0
                    for a in range(values):
                        distance += abs(share[context * values + a] - share[far * values + a])
                    most = max(most, distance)
            value[e] = 0.0
            if values > 1 and others > 1:
                value[e] = min(1.0, 0.5 * most + slack)
    return impossible


@helper
def fix_rest(t, f, first, second, number):
    """Return where factor f's entries begin in the number-th state of its others than two.

    first, second: places in `scope` that stay at value 0. The number is consumed digit by digit.
    """
    place = t.base[f]
    for q in range(t.scope_pointer[f], t.scope_pointer[f + 1]):
        if q not in (first, second):
            j = t.scope[q]
            begin = t.allowed_pointer[j]
            count = t.allowed_pointer[j + 1] - begin
            place += t.stride[q] * t.allowed[begin + number % count]
            number //= count
    return place


@helper
def count_rest(t, f, first, second):
    """Count the states of factor f's variables other than two."""
    count = np.int64(1)
    for q in range(t.scope_pointer[f], t.scope_pointer[f + 1]):
        if q not in (first, second):
            j = t.scope[q]
            count *= t.allowed_pointer[j + 1] - t.allowed_pointer[j]
    return count


@helper
def place_in_row(t, i, j):
    """Find the place of neighbour j in the row of variable i, which has it."""
    low, high = t.pointer[i], t.pointer[i + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if t.index[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def oscillation(t, f, own, other):
    """Bound max - min over own values of the change that two values of `other` make in factor f."""
    i, j = t.scope[own], t.scope[other]
    most, size = 0.0, 0.0
    for number in range(count_rest(t, f, own, other)):
        place = fix_rest(t, f, own, other, number)
        for u in range(t.allowed_pointer[j], t.allowed_pointer[j + 1]):
            for v in range(u + 1, t.allowed_pointer[j + 1]):
                low, high = math.inf, -math.inf
                for a in range(t.allowed_pointer[i], t.allowed_pointer[i + 1]):
                    at = place + t.stride[own] * t.allowed[a]
                    here = t.log_tables[at + t.stride[other] * t.allowed[u]]
                    there = t.log_tables[at + t.stride[other] * t.allowed[v]]
                    # A value that neither context allows takes no part.
                    if here == -math.inf and there == -math.inf:
                        continue
                    low = min(low, here - there)
                    high = max(high, here - there)
                    if here > -math.inf and there > -math.inf:
                        size = max(size, abs(here) + abs(there))
                    else:
                        most = math.inf
                if high > low:
                    most = max(most, high - low)
    return most + 4 * EPS * size


@kernel
def oscillation_rows(t, rows, value):
    """Fill Theorem 10's bound for the variables `rows`, factors of any size added up.

    With D(a) the change of value a's log weight, no two conditionals differ by more than
    tanh(osc D / 4), and osc D is at most the sum of the factors' own.
    """
    for row in range(rows.size):
        i = rows[row]
        for e in range(t.pointer[i], t.pointer[i + 1]):
            value[e] = 0.0
        for s in range(t.slot_pointer[i], t.slot_pointer[i + 1]):
            own = t.slot[s]
            f = t.factor_of[own]
            for q in range(t.scope_pointer[f], t.scope_pointer[f + 1]):
                if q != own:
                    e = place_in_row(t, i, t.scope[q])
                    value[e] += oscillation(t, f, own, q)
        slots = t.slot_pointer[i + 1] - t.slot_pointer[i]
        for e in range(t.pointer[i], t.pointer[i + 1]):
            value[e] = spread(0.25 * t.beta * value[e] * (1.0 + (slots + 4) * EPS), 0.0)


@helper
def half_odds(t, place, step):
    """Return half the log odds that one factor gives value 1; NaN where it excludes both values."""
    return 0.5 * (t.log_tables[place + step] - t.log_tables[place])


@kernel
def binary_rows(t, rows, mark, weight, low, high, value):
    """Fill the bound for binary variables `rows`: Theorem 11, and with larger factors a tighter 12.

    The local field of i is a sum over its factors: J s_j + m of those that contain j, m of the
    others. Influence grows with |J| and falls with |m|: |J| is at most the sum of the factors'
    largest, m lies between the sums of their least and largest. For pairs this is Theorem 11, for
    larger factors never above the form with absolute coefficients.

    mark: int64 (n,), scratch filled with -1; weight, low, high: float64 (largest degree,), scratch.
    """
    for row in range(rows.size):
        i = rows[row]
        begin, end = t.pointer[i], t.pointer[i + 1]
        size = 0.0
        slots = t.slot_pointer[i + 1] - t.slot_pointer[i]
        for e in range(end - begin):
            weight[e] = low[e] = high[e] = 0.0
        for s in range(t.slot_pointer[i], t.slot_pointer[i + 1]):
            own = t.slot[s]
            f = t.factor_of[own]
            step = t.stride[own]
            least, most, biggest = math.inf, -math.inf, 0.0
            for number in range(count_rest(t, f, own, own)):
                odds = half_odds(t, fix_rest(t, f, own, own, number), step)
                if not math.isnan(odds):
                    least, most = min(least, odds), max(most, odds)
                    if abs(odds) < math.inf:
                        biggest = max(biggest, abs(odds))
            size += biggest
            for q in range(t.scope_pointer[f], t.scope_pointer[f + 1]):
                mark[t.scope[q]] = s
                if q == own:
                    continue
                j = t.scope[q]
                e = place_in_row(t, i, j) - begin
                if t.allowed_pointer[j + 1] - t.allowed_pointer[j] < 2:
                    low[e] += least
                    high[e] += most
                    continue
                smallest, largest, change = math.inf, -math.inf, 0.0
                for number in range(count_rest(t, f, own, q)):
                    place = fix_rest(t, f, own, q, number)
                    down = half_odds(t, place, step)
                    up = half_odds(t, place + t.stride[q], step)
                    if math.isnan(down) and math.isnan(up):
                        continue
                    middle = down
                    if down != up:
                        jump = 0.5 * abs(up - down)
                        change = max(change, math.inf if math.isnan(jump) else jump)
                        middle = 0.5 * (down + up)
                    if not math.isnan(middle):
                        smallest, largest = min(smallest, middle), max(largest, middle)
                weight[e] += change
                low[e] += smallest
                high[e] += largest
            for e in range(begin, end):
                if mark[t.index[e]] != s:
                    low[e - begin] += least
                    high[e - begin] += most
        slack = (slots + 8) * EPS * (t.beta * size + 1e-300)
        free = t.allowed_pointer[i + 1] - t.allowed_pointer[i] > 1
        for e in range(begin, end):
            j = t.index[e]
            value[e] = 0.0
            if free and t.allowed_pointer[j + 1] - t.allowed_pointer[j] > 1:
                if weight[e - begin] == math.inf:
                    value[e] = 1.0
                    continue
                # Sums of opposite infinities know nothing.
                least, most = low[e - begin], high[e - begin]
                least = max(least if least > 0 else 0.0, -most if most < 0 else 0.0)
                sure = 1.0 + (slots + 4) * EPS
                value[e] = spread(t.beta * weight[e - begin] * sure, t.beta * least - slack)
