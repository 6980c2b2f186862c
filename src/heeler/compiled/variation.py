"""Coupling bounds of a scan: one update is one row of the influence matrix times the bounds."""

from heeler.compiled.influence_spins import EPS
from heeler.compiled.jit import helper, kernel


@helper
def updated(pointer, index, value, i, b):
    """Return the bound of variable i right after its update, rounded up."""
    total = 0.0
    for e in range(pointer[i], pointer[i + 1]):
        total += value[e] * b[index[e]]
    return total * (1.0 + (pointer[i + 1] - pointer[i] + 2) * EPS)


@kernel
def forward(
    pointer, index, value, step, row_pointer, row_index, row_probability, begin, count, b, fresh
):
    """Update the bounds b by `count` steps of a plan, from step `begin` of its period on.

    A draw updates every variable i of its row to (1 - q_i) b_i + q_i (C b)_i, all at once.
    fresh: float64 (longest row,), scratch.
    """
    place = begin
    for _ in range(count):
        i = step[place]
        place = place + 1 if place + 1 < step.size else 0
        if i >= 0:
            b[i] = updated(pointer, index, value, i, b)
            continue
        first, last = row_pointer[-1 - i], row_pointer[-i]
        for k in range(first, last):
            j = row_index[k]
            q = row_probability[k]
            drawn = updated(pointer, index, value, j, b)
            fresh[k - first] = ((1.0 - q) * b[j] + q * drawn) * (1.0 + 4 * EPS)
        for k in range(first, last):
            b[row_index[k]] = fresh[k - first]
