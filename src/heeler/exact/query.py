"""Joint probabilities of two variables, in one clique or far apart."""

from __future__ import annotations

import numpy as np

from heeler.exact.propagate import Propagation, keep_axes


class PairQuery:
    """Answers for any two free variables of a calibrated junction tree.

    Two variables of one clique are read off its belief. Otherwise the joint of the first variable
    with the separators on the path to the second is carried from clique to clique:
    P(u, N) = P(u, S) P(N) / P(S), one value of u at a time. Paths that begin alike are walked once.

    Parameters
    ----------
    propagation : Propagation
        After ``calibrate``.
    marginals : list of arrays
        What ``calibrate`` returned.
    """

    def __init__(self, propagation: Propagation, marginals: list[np.ndarray]) -> None:
        self._tables = propagation.tables
        self._tree = propagation.tree
        self._marginals = marginals
        self._depth = [0] * self._tree.count
        for clique in reversed(range(self._tree.count)):
            parent = self._tree.parent[clique]
            if parent >= 0:
                self._depth[clique] = self._depth[parent] + 1
        # For the present u: separator through which a clique is entered, joint of u with it.
        self._entered: dict[int, tuple[tuple[int, ...], np.ndarray]] = {}
        self._source = -1

    def joint(self, u: int, v: int) -> np.ndarray:
        """Return P(x_u, x_v) as a (K_u, K_v) array; u and v are local numbers."""
        if u == v:
            return np.diag(self._marginals[u])
        tree = self._tree
        first, second = tree.rank[u], tree.rank[v]
        if first > second:
            return self.joint(v, u).T
        # Sharing a clique means sharing the one that sums out the earlier of the two.
        clique = tree.home[first]
        if second in tree.members[clique]:
            return self._inside(clique, first, second)
        path = self._path(clique, tree.home[second])
        if path is None:
            return np.outer(self._marginals[u], self._marginals[v])
        return self._along(first, second, path)

    def _inside(self, clique: int, first: int, second: int) -> np.ndarray:
        table = self._tables[clique]
        joint = keep_axes(table, self._tree.axes(clique, (first, second)))
        return joint / joint.sum()

    def _path(self, start: int, end: int) -> list[int] | None:
        """List the cliques from start to end, or None between different components."""
        parent, depth = self._tree.parent, self._depth
        up, down = [start], [end]
        while up[-1] != down[-1]:
            if depth[up[-1]] >= depth[down[-1]]:
                if parent[up[-1]] < 0:
                    return None
                up.append(parent[up[-1]])
            else:
                down.append(parent[down[-1]])
        return up + down[-2::-1]

    def _along(self, first: int, second: int, path: list[int]) -> np.ndarray:
        if self._source != first:
            self._entered, self._source = {}, first
        begin = 1
        for place in range(len(path) - 1, 0, -1):
            if path[place] in self._entered:
                begin = place + 1
                break
        for place in range(begin, len(path)):
            here, there = path[place - 1], path[place]
            separator = self._between(here, there)
            # No separator on the way holds u: u's cliques lie below the one that sums it out, and
            # everything on the way down to a later variable is later than u.
            if place == 1:
                axes = self._tree.axes(here, (first, *separator))
                joint = keep_axes(self._tables[here], axes)
            else:
                joint = self._carry(here, separator)
            self._entered[there] = (separator, joint)
        joint = self._carry(path[-1], (second,))
        return joint / joint.sum()

    def _between(self, here: int, there: int) -> tuple[int, ...]:
        tree = self._tree
        return tree.separator(here if tree.parent[here] == there else there)

    def _carry(self, clique: int, kept: tuple[int, ...]) -> np.ndarray:
        """Carry the joint of u with the entry of a clique on to others of its variables."""
        tree = self._tree
        separator, joint = self._entered[clique]
        table = self._tables[clique]
        inside = tree.axes(clique, separator)
        wide = [1] * table.ndim
        for axis in inside:
            wide[axis] = table.shape[axis]
        total = keep_axes(table, inside)
        conditional = table / np.where(total > 0, total, 1.0).reshape(wide)
        axes = tree.axes(clique, kept)
        return np.stack([keep_axes(conditional * row.reshape(wide), axes) for row in joint])
