"""The junction tree: cliques, who sends to whom, and what it costs; no numbers yet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heeler.exact.errors import TooWide
from heeler.exact.order import (
    Elimination,
    adjacency_sets,
    edge_codes,
    eliminate,
)


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in an order that has children before parents.

    Variables are known by *rank*, their place in the elimination order, and every table has its
    axes in order of rank. A clique's residual (the variables summed out there) is then always its
    leading axes and the separator its trailing ones, so messages need no transposition: a clique
    table is a matrix (residual, separator).
    """

    order: list[int]
    """Variable of each rank."""
    rank: list[int]
    """Rank of each variable."""
    members: list[tuple[int, ...]]
    """Ranks in each clique, ascending."""
    residual: list[int]
    """How many of them are summed out there."""
    shapes: list[tuple[int, ...]]
    parent: list[int]
    """-1 for the root of a component."""
    home: list[int]
    """For each rank the clique that sums it out."""

    @property
    def count(self) -> int:
        """Number of cliques."""
        return len(self.members)

    def axes(self, clique: int, ranks: Sequence[int]) -> tuple[int, ...]:
        """Find the axes of a clique's table that belong to the given ranks."""
        place = self.members[clique].index
        return tuple(place(r) for r in ranks)

    def separator(self, clique: int) -> tuple[int, ...]:
        """List the ranks shared with the parent."""
        return self.members[clique][self.residual[clique] :]


def width_of(tree: JunctionTree) -> int:
    """Return the induced width: variables in the largest clique, less one."""
    return max((len(m) - 1 for m in tree.members), default=0)


def table_entries(tree: JunctionTree) -> tuple[int, int, int]:
    """Return entries of the largest table, of all tables, and of all messages."""
    sizes = [math.prod(shape) for shape in tree.shapes]
    messages = sum(
        math.prod(shape[kept:]) for shape, kept in zip(tree.shapes, tree.residual, strict=True)
    )
    return max(sizes, default=0), sum(sizes), messages


def needed_bytes(tree: JunctionTree, keep: bool) -> int:
    """Estimate the peak memory of a propagation.

    Parameters
    ----------
    tree : JunctionTree
    keep : bool
        Whether all clique tables stay (marginals, samples) or only messages (log Z, best state).
    """
    largest, total, messages = table_entries(tree)
    # While a table is made, up to two partial sums of its size exist beside it.
    return 8 * ((total if keep else 0) + messages + 3 * largest)


def build_tree(
    sizes: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    memory_limit: int,
    keep: bool = True,
) -> JunctionTree:
    """Make a junction tree by min-fill; a model that is too wide is refused before any table.

    Parameters
    ----------
    sizes : sequence of int
        Cardinalities.
    scopes : sequence of tuples
        Variables of each factor.
    memory_limit : int
        Bytes that the tables may take.
    keep : bool
        See :func:`needed_bytes`.

    Raises
    ------
    TooWide
    """
    codes = edge_codes(len(sizes), scopes)
    refuse_dense(sizes, codes, memory_limit)
    best: JunctionTree | None = None
    for by_size in (False, True):
        adjacent = adjacency_sets(len(sizes), codes)
        found = eliminate(adjacent, sizes, by_size, memory_limit // 8 + 1)
        if not found.complete:
            if best is not None:
                break
            needed = 8 << math.floor(found.largest_log)
            raise TooWide(found.width, needed, memory_limit, complete=False)
        tree = assemble(sizes, found)
        if best is None or needed_bytes(tree, keep) < needed_bytes(best, keep):
            best = tree
        # Min-fill is the better rule nearly always; the other one is tried where it matters.
        if needed_bytes(best, keep) <= memory_limit // 8:
            break
    assert best is not None
    if needed_bytes(best, keep) > memory_limit:
        raise TooWide(width_of(best), needed_bytes(best, keep), memory_limit, tree=best)
    return best


def refuse_dense(sizes: Sequence[int], codes: np.ndarray, memory_limit: int) -> None:
    """Refuse a hopelessly dense graph at once.

    A graph of n vertices and width w has fewer than n * w edges, so edges / n bounds the width
    from below; the tables are at least of the smallest cardinality to that power.
    """
    if not sizes:
        return
    width = -(-codes.size // len(sizes))
    needed = 8 * min(sizes) ** (width + 1)
    if needed > memory_limit:
        raise TooWide(width, needed, memory_limit, complete=False)


def assemble(sizes: Sequence[int], found: Elimination) -> JunctionTree:
    """Turn an elimination into maximal cliques and a tree over them."""
    order, neighbours = found.order, found.neighbours
    count = len(order)
    rank = [0] * count
    for place, v in enumerate(order):
        rank[v] = place
    later = [tuple(sorted(rank[u] for u in neighbours[v])) for v in order]
    home = [-1] * count
    first: list[int] = []
    last: list[int] = []
    for place in range(count):
        if home[place] < 0:
            home[place] = len(first)
            first.append(place)
            last.append(place)
        clique = home[place]
        last[clique] = place
        following = later[place][0] if later[place] else -1
        # The next variable's clique is contained in this one exactly when nothing new joins it.
        if (
            following >= 0
            and home[following] < 0
            and len(later[following]) + 1 == len(later[place])
        ):
            home[following] = clique
    # A separator variable is summed out after all of the residual: sorting by the last variable
    # summed out puts children before parents.
    by_last = sorted(range(len(first)), key=last.__getitem__)
    renumbered = [0] * len(first)
    for new, old in enumerate(by_last):
        renumbered[old] = new
    home = [renumbered[c] for c in home]
    members, residual, shapes, parent = [], [], [], []
    for old in by_last:
        ranks = (first[old], *later[first[old]])
        outside = later[last[old]]
        members.append(ranks)
        residual.append(len(ranks) - len(outside))
        shapes.append(tuple(sizes[order[r]] for r in ranks))
        parent.append(home[outside[0]] if outside else -1)
    return JunctionTree(order, rank, members, residual, shapes, parent, home)
