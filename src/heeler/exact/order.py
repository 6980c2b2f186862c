"""Elimination orders: min-fill, ties broken by the size of the table, kept incrementally."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Table sizes are compared as sums of log2 in units of 2^-20, integers, so that adding and removing
# a variable leaves no rounding behind and ties stay ties.
LOG_UNIT = 1 << 20

# Elementary steps after which the width of a hopeless model is no longer searched for: seconds.
WORK_LIMIT = 4_000_000


class Elimination(NamedTuple):
    """An order in which variables can be summed out, and what each one meets."""

    order: list[int]
    neighbours: list[set[int]]
    """For each variable the later-eliminated variables that it shares a table with."""
    complete: bool
    """False when the work limit stopped the search."""
    width: int
    """Largest number of neighbours met."""
    largest_log: float
    """log2 of the entries of the largest table met."""


def edge_codes(count: int, scopes: Sequence[tuple[int, ...]]) -> np.ndarray:
    """List the distinct unordered pairs of variables that share a factor, as u * count + v."""
    by_arity: dict[int, list[tuple[int, ...]]] = {}
    for scope in scopes:
        if len(scope) > 1:
            by_arity.setdefault(len(scope), []).append(scope)
    codes = [np.empty(0, dtype=np.int64)]
    for arity, members in by_arity.items():
        columns = np.array(members, dtype=np.int64)
        for i in range(arity):
            for j in range(i + 1, arity):
                low = np.minimum(columns[:, i], columns[:, j])
                codes.append(low * count + np.maximum(columns[:, i], columns[:, j]))
    return np.unique(np.concatenate(codes))


def adjacency_sets(count: int, codes: np.ndarray) -> list[set[int]]:
    """Turn pairs into one set of neighbours per variable."""
    adjacent: list[set[int]] = [set() for _ in range(count)]
    for u, v in zip((codes // count).tolist(), (codes % count).tolist(), strict=True):
        adjacent[u].add(v)
        adjacent[v].add(u)
    return adjacent


def initial_fill(adjacent: list[set[int]]) -> list[int]:
    """Count for every variable the pairs of its neighbours that are not joined."""
    count = len(adjacent)
    # Dense graphs: triangles through one matrix product instead of deg^2 set operations.
    if count <= 4096 and sum(len(a) ** 2 for a in adjacent) > 3_000_000:
        matrix = np.zeros((count, count), dtype=np.float32)
        for v, others in enumerate(adjacent):
            matrix[v, list(others)] = 1.0
        corners = ((matrix @ matrix) * matrix).sum(axis=1, dtype=np.float64)
        return [
            len(a) * (len(a) - 1) // 2 - round(c) // 2
            for a, c in zip(adjacent, corners.tolist(), strict=True)
        ]
    fill = []
    for others in adjacent:
        degree = len(others)
        if degree < 2:
            fill.append(0)
            continue
        joined = sum(len(others & adjacent[u]) for u in others)
        fill.append((degree * (degree - 1) - joined) // 2)
    return fill


def eliminate(
    adjacent: list[set[int]],
    sizes: Sequence[int],
    by_size: bool = False,
    size_limit: int | None = None,
) -> Elimination:
    """Find an elimination order greedily; the sets of ``adjacent`` are consumed.

    Parameters
    ----------
    adjacent : list of sets
        Neighbours of every variable.
    sizes : sequence of int
        Cardinalities.
    by_size : bool
        Take the smallest table first and break ties by fill, instead of the other way round.
    size_limit : int, optional
        Entries of a hopeless table: when one of that size was met, the search still goes on, for
        its true size, but gives up after about `WORK_LIMIT` elementary steps.
    """
    count = len(adjacent)
    weight = [round(LOG_UNIT * float(np.log2(k))) for k in sizes]
    fill = initial_fill(adjacent)
    volume = [weight[v] + sum(weight[u] for u in adjacent[v]) for v in range(count)]

    def key(v: int) -> tuple[int, int, int]:
        return (volume[v], fill[v], v) if by_size else (fill[v], volume[v], v)

    heap = [key(v) for v in range(count)]
    heapq.heapify(heap)
    gone = bytearray(count)
    order: list[int] = []
    width, largest, work = 0, 0, 0
    hopeless = np.inf if size_limit is None else LOG_UNIT * float(np.log2(size_limit))
    while heap:
        entry = heapq.heappop(heap)
        v = entry[2]
        if gone[v] or entry != key(v):
            continue
        around = adjacent[v]
        width, largest = max(width, len(around)), max(largest, volume[v])
        if fill[v] == 0 and len(around) == count - len(order) - 1:
            finish_clique(v, adjacent, order)
            break
        gone[v] = 1
        order.append(v)
        joined = fill[v]
        touched = join_neighbours(around, adjacent, fill, volume, weight) if joined else set()
        touched.update(around)
        for a in around:
            # The neighbours of v are a clique now; a loses the pairs of v with all its others.
            fill[a] -= len(adjacent[a]) - len(around)
            volume[a] -= weight[v]
            adjacent[a].discard(v)
        touched.discard(v)
        for a in touched:
            heapq.heappush(heap, key(a))
        # A new pair costs about as much as it has common neighbours: around as many as v has.
        work += len(touched) + joined * len(around) // 2
        if work > WORK_LIMIT and largest > hopeless:
            return Elimination(order, adjacent, False, width, largest / LOG_UNIT)
    return Elimination(order, adjacent, True, width, largest / LOG_UNIT)


def join_neighbours(
    around: set[int],
    adjacent: list[set[int]],
    fill: list[int],
    volume: list[int],
    weight: list[int],
) -> set[int]:
    """Join all neighbours of a variable to each other; return the variables whose fill changed."""
    touched: set[int] = set()
    for a in around:
        near_a = adjacent[a]
        missing = around - near_a
        missing.discard(a)
        for b in missing:
            near_b = adjacent[b]
            common = near_a & near_b
            # Each common neighbour had the pair (a, b) missing, and has it no longer.
            for w in common:
                fill[w] -= 1
            touched |= common
            fill[a] += len(near_a) - len(common)
            fill[b] += len(near_b) - len(common)
            volume[a] += weight[b]
            volume[b] += weight[a]
            near_a.add(b)
            near_b.add(a)
    return touched


def finish_clique(v: int, adjacent: list[set[int]], order: list[int]) -> None:
    """Eliminate v and all that is left, which is one clique, in order of index."""
    rest = [v, *sorted(adjacent[v])]
    later = set(rest)
    for u in rest:
        later.discard(u)
        adjacent[u] = set(later)
        order.append(u)
