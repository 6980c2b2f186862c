"""Influence on lattices with one coupling: rows written directly, one number per row."""

import math

import numpy as np

from heeler.compiled.influence_spins import EPS, spread
from heeler.compiled.jit import kernel


@kernel
def lattice_rows(shape, steps, periodic, pointer, column):
    """Write the neighbours of all sites in compressed sorted rows; return their number.

    shape: three extents; steps (m, 3) int64, all of them, in lexicographic order.
    """
    depth, height, width = shape
    count = np.int64(0)
    site = 0
    for z in range(depth):
        for y in range(height):
            for x in range(width):
                pointer[site] = count
                begin = count
                for k in range(steps.shape[0]):
                    a, b, c = z + steps[k, 0], y + steps[k, 1], x + steps[k, 2]
                    if periodic:
                        a = a + depth if a < 0 else (a - depth if a >= depth else a)
                        b = b + height if b < 0 else (b - height if b >= height else b)
                        c = c + width if c < 0 else (c - width if c >= width else c)
                    elif a < 0 or a >= depth or b < 0 or b >= height or c < 0 or c >= width:
                        continue
                    other = (a * height + b) * width + c
                    # Wrapping disturbs the order.
                    place = count
                    while place > begin and column[place - 1] > other:
                        column[place] = column[place - 1]
                        place -= 1
                    column[place] = other
                    count += 1
                site += 1
    pointer[site] = count
    return count


@kernel
def lattice_values(pointer, coupling, field, moving, known, value):
    """Fill the exact influence on each site, which is the same for all its neighbours.

    The other d - 1 neighbours give k up and d - 1 - k down. The field of site i is
    field[i * moving]. known: float64 (2, largest degree + 1), scratch filled with NaN: the last
    field and its influence for each degree.
    """
    weight = abs(coupling)
    for i in range(pointer.size - 1):
        begin, end = pointer[i], pointer[i + 1]
        degree = end - begin
        strength = abs(field[i * moving])
        if known[0, degree] != strength:
            least = math.inf
            for up in range(degree):
                least = min(least, abs(strength + (2 * up - degree + 1) * weight))
            slack = (degree + 8) * EPS * (strength + degree * weight)
            known[0, degree] = strength
            known[1, degree] = spread(weight, least - slack)
        result = known[1, degree]
        for e in range(begin, end):
            value[e] = result
