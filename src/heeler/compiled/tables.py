"""Conditional tables: every assignment of a Markov blanket, once, by the loop's own arithmetic."""

import numpy as np

from heeler.compiled.conditionals import kary_conditional, log_gain, weight_gain
from heeler.compiled.jit import kernel
from heeler.compiled.quantise import quantised_sigmoid


@kernel
def fill_pair_tables(pointer, base, coupling, field, beta, scale, table, gain):
    """Tabulate P(1) and gains of binary variables with couplings (sums in the loop's order)."""
    for i in range(base.size):
        if base[i] >= 0:
            first = pointer[i]
            degree = pointer[i + 1] - first
            for pattern in range(1 << degree):
                log_odds = field[i]
                for k in range(degree):
                    log_odds += coupling[first + k] * (2.0 * ((pattern >> k) & 1) - 1.0)
                log_odds *= 2.0
                table[base[i] + pattern] = quantised_sigmoid(beta * log_odds)
                gain[base[i] + pattern] = np.int64(log_odds * scale)


@kernel
def fill_rows(factors, beta, x, scratch, table):
    """Tabulate the conditionals of all variables of a factor graph that have a base.

    x is scratch (n + 1 values). Assignments of the blanket that exclude every value have everything
    on the first one: no run can be in them.
    """
    for i in range(factors.base.size):
        row = factors.base[i]
        if row < 0:
            continue
        first = factors.pointer[i]
        last = factors.pointer[i + 1]
        count = np.int64(factors.cardinalities[i])
        for e in range(first, last):
            x[factors.index[e]] = 0
        while True:
            kary_conditional(factors, 0, x, i, beta, scratch)
            for v in range(count):
                table[2 * row + v] = scratch.p[v]
                table[2 * row + count + v] = (
                    weight_gain(scratch.weights, factors.scale / beta, v)
                    if factors.linear[i]
                    else log_gain(scratch.work, factors.scale, v)
                )
            row += count
            e = last - 1  # count up in mixed radix, the last neighbour fastest
            while e >= first:
                j = factors.index[e]
                if x[j] + 1 < factors.cardinalities[j]:
                    x[j] += 1
                    break
                x[j] = 0
                e -= 1
            if e < first:
                break


@kernel
def fill_odds(factors, beta, scale, x, scratch, base, table, gains):
    """Tabulate P(1) and gains of a factor graph's binary variables; context bit k: neighbour k."""
    work = scratch.work
    for i in range(base.size):
        first = factors.pointer[i]
        degree = factors.pointer[i + 1] - first
        for pattern in range(1 << degree):
            for k in range(degree):
                x[factors.index[first + k]] = (pattern >> k) & 1
            kary_conditional(factors, 0, x, i, beta, scratch)
            at = base[i] + pattern
            if work[1] == -np.inf:  # also when nothing is possible: no run can be there
                table[at] = 0
                gains[at] = 0
            elif work[0] == -np.inf:
                table[at] = 1 << 32
                gains[at] = 0
            else:
                table[at] = quantised_sigmoid(beta * (work[1] - work[0]))
                gains[at] = np.int64((work[1] - work[0]) * scale)
        for k in range(degree):
            x[factors.index[first + k]] = 0


@kernel
def most_log_odds(pointer, coupling, field, out):
    """Store each variable's largest possible log-odds: 2 (|field| + sum of |couplings|)."""
    for i in range(field.size):
        total = abs(field[i])
        for e in range(pointer[i], pointer[i + 1]):
            total += abs(coupling[e])
        out[i] = 2.0 * total


@kernel
def turn_tables(
    position,
    scope_start,
    scope_stop,
    table,
    scope,
    stride,
    cardinalities,
    length,
    own,
    log_tables,
    out,
):
    """Copy each table so that the values of the scope's variable at `position` lie side by side.

    The other variables keep their order, the last fastest; a row takes own entries, of which the
    first are values.
    """
    begin = np.int64(0)
    for k in range(position.size):
        count = np.int64(cardinalities[scope[position[k]]])
        for row in range(length[k] // own[k]):
            at = table[k]
            rest = np.int64(row)
            for e in range(scope_stop[k] - 1, scope_start[k] - 1, -1):
                if e != position[k]:
                    values = np.int64(cardinalities[scope[e]])
                    at += (rest % values) * stride[e]
                    rest //= values
            for v in range(count):
                out[begin + row * own[k] + v] = log_tables[at + v * stride[position[k]]]
        begin += length[k]
