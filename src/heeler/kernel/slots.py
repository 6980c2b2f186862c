"""A factor graph turned inside out: rows of log weights, variable by variable."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.tables import turn_tables

MOST_ADDED = 1.5  # pairs, those that do nothing included, a pair


@dataclass(frozen=True)
class Slots:
    """A factor graph seen from its variables: the factors of each, and who else is in them.

    Rows of log weights begin with each variable's own. The names are those of
    `heeler.compiled.conditionals.Factors`.
    """

    cardinalities: NDArray[np.int32]
    pointer: NDArray[np.int64]
    index: NDArray[np.int32]
    own: NDArray[np.int64]
    pair_pointer: NDArray[np.int64]
    pair_row: NDArray[np.int64]
    pair_other: NDArray[np.int32]
    slot_pointer: NDArray[np.int64]
    slot_row: NDArray[np.int64]
    other_pointer: NDArray[np.int64]
    other_index: NDArray[np.int32]
    other_stride: NDArray[np.int64]
    log_tables: NDArray[np.float64]
    spread: NDArray[np.float64]  # (n): largest difference of finite log weights of each variable


def slots_of(graph: Any) -> Slots:
    """Turn a factor graph inside out.

    Parameters
    ----------
    graph
        A `FactorGraph`.

    Returns
    -------
    Slots
        Its factors, variable by variable.
    """
    incidence, place = graph.incidence
    n = len(incidence) - 1
    pointer, index = graph.adjacency()
    cards = np.ascontiguousarray(graph.cardinalities).astype(np.int64)
    owner = np.repeat(np.arange(n), np.diff(incidence))
    size = np.diff(graph.scope_pointer)[graph.factor_of[place]]
    logs, spreads = _shifted(graph.log_tables, graph.table_pointer)
    width = padded(cards)
    own = np.cumsum(width) - width
    rows, spread = _own_rows(graph, cards, own)
    beside = size > 1
    owner, place, size = owner[beside], place[beside], size[beside]
    table = graph.table_of[graph.factor_of[place]]
    first, same = _copies(table, place - graph.scope_pointer[graph.factor_of[place]], width[owner])
    entries = np.diff(graph.table_pointer)[table]
    length = entries // np.maximum(cards[owner], 1) * width[owner]
    begin = np.concatenate([[0], np.cumsum(length[first])]).astype(np.int64)[same] + len(rows)
    turned = _turned(graph, logs, place[first], length[first], width[owner[first]])
    pair = size == 2
    several = ~pair
    other_pointer, other, step = _others(graph, place, size, width[owner])
    kept = np.repeat(several, size - 1)
    # What a row of an even number of pairs is filled up with: a factor that changes nothing.
    neutral = len(rows) + len(turned)
    alone = other[other_pointer[:-1][pair]]
    pair_pointer, row, alone = _even(_pointer(owner[pair], n), begin[pair], alone, neutral)
    return Slots(
        np.ascontiguousarray(graph.cardinalities),
        pointer,
        index,
        own,
        pair_pointer,
        row,
        alone,
        _pointer(owner[several], n),
        begin[several],
        np.concatenate([[0], np.cumsum(size[several] - 1)]).astype(np.int64),
        other[kept],
        step[kept],
        np.concatenate([rows, turned, np.zeros(int(width.max()))]),
        spread + np.bincount(owner, spreads[table], n),
    )


def _pointer(owner: NDArray[np.integer], n: int) -> NDArray[np.int64]:
    """Say where each of n variables begins in a sorted list of owners."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))]).astype(np.int64)


def _even(
    pointer: NDArray[np.int64], row: NDArray[np.int64], other: NDArray[np.int32], neutral: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Give all variables the same number of pairs where that adds few: a varying one mispredicts.

    The pairs added are with the variable behind the last, whose value is always 0.
    """
    n = len(pointer) - 1
    degree = np.diff(pointer)
    most = int(degree.max(initial=0))
    if n * most > MOST_ADDED * len(row):
        return pointer, row, other
    place = np.arange(len(row)) + np.repeat(np.arange(n) * most - pointer[:-1], degree)
    rows = np.full(n * most, neutral)
    rows[place] = row
    others = np.full(n * most, n, np.int32)
    others[place] = other
    return np.arange(n + 1) * most, rows, others


def _others(
    graph: Any, place: NDArray, size: NDArray, width: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """List the other variables of each slot's factor, and what a step of each skips."""
    pointer = np.concatenate([[0], np.cumsum(size - 1)]).astype(np.int64)
    slot = np.repeat(np.arange(len(place)), size - 1)
    within = graph.scope_pointer[graph.factor_of[place]][slot] + np.arange(len(slot))
    within -= pointer[slot]
    within += within >= place[slot]  # step over the slot's own variable
    other = graph.scope[within]
    # One step of an other variable skips all later ones: the last is fastest, own values side by
    # side.
    step = width[slot].copy()
    for back in range(1, int(size.max(initial=1))):
        rows = np.flatnonzero(size - 1 > back)
        at = pointer[rows + 1] - 1 - back
        step[at] = step[at + 1] * graph.cardinalities[other[at + 1]]
    return pointer, other, step


def _own_rows(
    graph: Any, cards: NDArray[np.int64], own: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add up the factors of single variables in rows filled up with -inf; and their spreads."""
    values = np.arange(int(cards.sum())) - np.repeat(np.cumsum(cards) - cards, cards)
    rows = np.full(int(padded(cards).sum()), -np.inf)
    rows[np.repeat(own, cards) + values] = 0.0
    single = np.flatnonzero(np.diff(graph.scope_pointer) == 1)
    variable = graph.scope[graph.scope_pointer[single]]
    count = cards[variable]
    start = np.cumsum(count) - count
    value = np.arange(int(count.sum())) - np.repeat(start, count)
    source = np.repeat(graph.table_pointer[graph.table_of[single]], count) + value
    np.add.at(rows, np.repeat(own[variable], count) + value, graph.log_tables[source])
    return _shifted(rows, np.append(own, len(rows)))


def _shifted(
    values: NDArray[np.float64], pointer: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shift every stretch of log weights to a maximum of 0; and max - min of its finite ones."""
    if not len(values):
        return values, np.zeros(0)
    top = np.maximum.reduceat(values, pointer[:-1])
    low = np.minimum.reduceat(np.where(values > -np.inf, values, np.inf), pointer[:-1])
    top = np.where(top > -np.inf, top, 0.0)
    return values - np.repeat(top, np.diff(pointer)), np.where(low < np.inf, top - low, 0.0)


def _copies(
    table: NDArray, place: NDArray, own: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the slots that see one table from the same place: they share a turned copy.

    Returns the first slot of each copy, in the order of slots so that a sweep reads memory
    forwards, and each slot's copy.
    """
    key = (table.astype(np.int64) * (int(place.max(initial=0)) + 1) + place) * (
        int(own.max(initial=0)) + 1
    ) + own
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    order = np.argsort(first)
    rank[order] = np.arange(len(first))
    return first[order], rank[same]


def _turned(
    graph: Any, logs: NDArray, position: NDArray, length: NDArray, own: NDArray
) -> NDArray[np.float64]:
    """Copy tables so that one variable's values lie side by side, filled up with -inf."""
    factor = graph.factor_of[position]
    out = np.full(int(length.sum()), -np.inf)
    turn_tables(
        position,
        graph.scope_pointer[factor],
        graph.scope_pointer[factor + 1],
        graph.table_pointer[graph.table_of[factor]],
        graph.scope,
        graph.scope_stride,
        np.ascontiguousarray(graph.cardinalities),
        length,
        own,
        logs,
        out,
    )
    return out


def padded(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Fill numbers of values up to what the loops take at once: 4, or a multiple of 8.

    Parameters
    ----------
    values
        Numbers of values.

    Returns
    -------
    ndarray
        int64, at least as large.
    """
    return np.where(values <= 4, 4, (values + 7) // 8 * 8).astype(np.int64)
