"""Herding weights of a lattice between the order of its sites and the order of its kernels."""

from itertools import product

import numpy as np


def zones(size):
    """Yield the parts of an axis whose sites order their neighbours alike: first, inner, last."""
    yield 0, slice(0, 1)
    if size > 2:
        yield 1, slice(1, size - 1)
    if size > 1:
        yield size - 1, slice(size - 1, size)


def neighbours_of(shape, periodic, steps, site):
    """Return the numbers of a site's neighbours in the order of `steps`, -1 for absent ones."""
    found = []
    for step in steps:
        moved = [c + s for c, s in zip(site, step, strict=True)]
        if all(w or 0 <= m < size for m, size, w in zip(moved, shape, periodic, strict=True)):
            wrapped = [m % size for m, size in zip(moved, shape, strict=True)]
            found.append(int(np.ravel_multi_index(wrapped, shape)))
        else:
            found.append(-1)
    return found


def context_numbers(found, pattern):
    """Return for each key the number of the site's own context, or -1 if it cannot occur.

    A site's contexts are numbered by how many neighbours are up, or by their assignment with the
    neighbour of the lowest number as bit 0.
    """
    present = [i for i, number in enumerate(found) if number >= 0]
    if not pattern:
        return np.array([k if k <= len(present) else -1 for k in range(len(found) + 1)])
    place = {i: rank for rank, i in enumerate(sorted(present, key=lambda i: found[i]))}
    numbers = np.full(1 << len(found), -1)
    for key in range(1 << len(found)):
        up = [i for i in range(len(found)) if key >> i & 1]
        if all(i in place for i in up):
            numbers[key] = sum(1 << place[i] for i in up)
    return numbers


def degrees(layout, steps):
    """Return how many neighbours each site has, int64 (sites,)."""
    return len(steps) - layout.absent().astype(np.int64)


def context_pointer(layout, steps, pattern):
    """Return where each site's contexts start in the order of sites, int64 (sites + 1,)."""
    degree = degrees(layout, steps)
    counts = np.left_shift(1, degree) if pattern else degree + 1
    return np.concatenate([[0], np.cumsum(counts)])


def place_weights(layout, steps, pattern, planes, given, initial, dtype):
    """Return weights in the order of sites, (lanes, contexts), as the kernels keep them."""
    lanes = given.shape[0]
    pointer = context_pointer(layout, steps, pattern)[:-1].reshape(layout.shape)
    grid = np.full((lanes, planes, *layout.shape), initial, dtype)
    for corner, region in _regions(layout.shape):
        numbers = context_numbers(
            neighbours_of(layout.shape, layout.periodic, steps, corner), pattern
        )
        base = pointer[region]
        for plane in np.flatnonzero(numbers >= 0):
            grid[(slice(None), plane, *region)] = given[:, base + numbers[plane]]
    rows = layout.to_rows(grid.reshape(lanes, planes, layout.sites), fill=initial)
    return to_blocks(rows, layout.block).reshape(lanes, -1)


def natural_weights(layout, steps, pattern, planes, weights):
    """Return the kernels' weights, (lanes, size), in the order of sites, (lanes, contexts)."""
    lanes = weights.shape[0]
    blocks = weights.reshape(lanes, layout.rows, -1, planes, layout.block)
    rows = np.moveaxis(blocks, 3, 1).reshape(lanes, planes, layout.rows, layout.padded)
    grid = layout.from_rows(rows).reshape(lanes, planes, *layout.shape)
    ends = context_pointer(layout, steps, pattern)
    pointer = ends[:-1].reshape(layout.shape)
    out = np.empty((lanes, ends[-1]), weights.dtype)
    for corner, region in _regions(layout.shape):
        numbers = context_numbers(
            neighbours_of(layout.shape, layout.periodic, steps, corner), pattern
        )
        base = pointer[region]
        for plane in np.flatnonzero(numbers >= 0):
            out[:, base + numbers[plane]] = grid[(slice(None), plane, *region)]
    return out


def to_blocks(rows, block):
    """Return (..., planes, rows, padded) as (..., rows, blocks, planes, block), contiguous."""
    *lead, planes, count, padded = rows.shape
    split = rows.reshape(*lead, planes, count, padded // block, block)
    return np.ascontiguousarray(np.moveaxis(split, len(lead), -2))


def _regions(shape):
    for parts in product(*(list(zones(size)) for size in shape)):
        yield tuple(p[0] for p in parts), tuple(p[1] for p in parts)
