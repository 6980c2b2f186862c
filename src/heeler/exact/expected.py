"""Expected log weights under independent beliefs, for each representation of a model."""

from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.model.ising import Ising
from heeler.model.lattice import Lattice
from heeler.model.potts import Potts


class Engine(Protocol):
    """One representation's part of mean field: expected log weights."""

    groups: list[NDArray[np.int64]]
    """Free variables in sets without neighbours, in the order of their updates."""

    def weights(self, group: int | None, beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give expected log weights (members, K) of a group, or of all free variables."""
        ...


def colour_groups(model: Model) -> list[NDArray[np.int64]]:
    """Split the free variables into sets without neighbours, greedily in order of index."""
    pointer, column = (a.tolist() for a in model.adjacency())
    colour = [-1] * model.n_variables
    for v in model.free.tolist():
        used = {colour[u] for u in column[pointer[v] : pointer[v + 1]]}
        mine = 0
        while mine in used:
            mine += 1
        colour[v] = mine
    return groups_of(np.array(colour))


def groups_of(colour: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """List the variables of each colour; negative colours are left out."""
    return [np.flatnonzero(colour == c) for c in range(int(colour.max(initial=-1)) + 1)]


class LatticeEngine:
    """A lattice: neighbour sums are sums of shifted arrays.

    Parameters
    ----------
    model
        The lattice.
    """

    def __init__(self, model: Lattice) -> None:
        self.model = model
        self.field = np.array(model.field)
        self.groups = groups_of(np.where(self._clamped(), -1, self._colours()))
        axes = len(model.shape)
        if model.neighbours == 2 * axes:
            self.steps = [tuple(int(a == b) for b in range(axes)) for a in range(axes)]
        else:
            self.steps = [(1, 0), (0, 1), (1, 1), (1, -1)]

    def _clamped(self) -> NDArray[np.bool_]:
        evidence = self.model.evidence
        return np.zeros(self.model.n_variables, bool) if evidence is None else evidence >= 0

    def _colours(self) -> NDArray[np.int64]:
        """Colour like a chessboard; an odd periodic axis takes a third colour at its end."""
        shape, periodic = self.model.shape, self.model.periodic
        axes = []
        for extent in shape:
            axis = np.arange(extent) % 2
            if periodic and extent % 2:
                axis[-1] = 2
            axes.append(axis)
        grids = np.meshgrid(*axes, indexing="ij")
        count = 3 if any(int(axis.max()) == 2 for axis in axes) else 2
        if self.model.neighbours == 2 * len(shape):
            # Neighbours differ along one axis only: their sums differ modulo the colours.
            return np.sum(grids, axis=0).ravel() % count
        return (grids[0] * count + grids[1]).ravel()

    def weights(self, group: int | None, beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give expected log weights (members, 2) of a group, or of all free variables."""
        mean = (2.0 * beliefs[:, 1] - 1.0).reshape(self.model.shape)
        total = np.zeros_like(mean)
        for step in self.steps:
            add_both_ways(total, mean, step, self.model.periodic)
        local = self.field + self.model.coupling * total.ravel()
        local = local[self.model.free if group is None else self.groups[group]]
        return np.stack((-local, local), axis=1)


def add_both_ways(
    total: NDArray[np.float64], mean: NDArray[np.float64], step: tuple[int, ...], periodic: bool
) -> None:
    """Add to every site its two neighbours in a direction and against it."""
    if periodic:
        axes = tuple(range(mean.ndim))
        total += np.roll(mean, step, axes)
        total += np.roll(mean, tuple(-s for s in step), axes)
        return
    here = tuple(slice(max(0, -s), min(0, -s) or None) for s in step)
    there = tuple(slice(max(0, s), min(0, s) or None) for s in step)
    total[here] += mean[there]
    total[there] += mean[here]


class PairEngine:
    """Couplings of agreeing pairs in compressed rows: sparse matrix products.

    Parameters
    ----------
    model
        An Ising or Potts model.
    field
        (n, K) log weights of single values.
    scale
        What a coupling is multiplied by to be the log weight of agreeing.
    """

    def __init__(self, model: Ising | Potts, field: NDArray[np.float64], scale: float) -> None:
        from scipy.sparse import csr_array

        count = model.n_variables
        self.field = field
        self.groups = colour_groups(model)
        matrix = csr_array(
            (scale * model.coupling, model.column, model.pointer), shape=(count, count)
        )
        self._free = model.free
        self._all = matrix[self._free]
        self._rows = [matrix[group] for group in self.groups]

    def weights(self, group: int | None, beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give expected log weights (members, K) of a group, or of all free variables."""
        if group is None:
            return self.field[self._free] + self._all @ beliefs
        return self.field[self.groups[group]] + self._rows[group] @ beliefs


class TableEngine:
    """Any factor graph: factors of one shape are contracted together.

    Parameters
    ----------
    model
        Any model; its factor graph is used.
    floor
        Log weight in place of zeros, or None to exclude what a zero excludes.
    """

    def __init__(self, model: Model, floor: float | None) -> None:
        graph: Any = model.to_factor_graph()
        self.groups = colour_groups(model)
        self._free = model.free
        self._cards = np.asarray(graph.cardinalities, dtype=np.int64)
        values = np.array(graph.log_tables)
        if floor is not None:
            values[values == -np.inf] = floor
        # Per shape: scopes (factors, arity), finite tables, and tables that mark zeros.
        self._shapes: list[tuple[NDArray, NDArray, NDArray | None]] = []
        arity = np.diff(graph.scope_pointer)
        for size in np.unique(arity[arity > 0]).tolist():
            which = np.flatnonzero(arity == size)
            scopes = graph.scope[graph.scope_pointer[which][:, None] + np.arange(size)]
            shapes, kind = np.unique(self._cards[scopes], axis=0, return_inverse=True)
            for number, shape in enumerate(shapes.tolist()):
                mine = np.flatnonzero(kind.reshape(-1) == number)
                begin = graph.table_pointer[graph.table_of[which[mine]]]
                tables = values[begin[:, None] + np.arange(prod(shape))].reshape(-1, *shape)
                zero = tables == -np.inf
                marks = zero.astype(np.float64) if zero.any() else None
                self._shapes.append((scopes[mine], np.where(zero, 0.0, tables), marks))
        member = np.full((len(self.groups) + 1, len(self._cards)), -1)
        for number, group in enumerate([*self.groups, self._free]):
            member[number, group] = np.arange(len(group))
        self._plans = [self._plan(row) for row in member]

    def _plan(self, place: NDArray[np.int64]) -> list[tuple[int, int, NDArray, NDArray]]:
        """List shape, slot, factors and their rows for the variables of a group."""
        plan = []
        for number, (scopes, _, _) in enumerate(self._shapes):
            for slot in range(scopes.shape[1]):
                rows = place[scopes[:, slot]]
                factors = np.flatnonzero(rows >= 0)
                if factors.size:
                    plan.append((number, slot, factors, rows[factors]))
        return plan

    def own(self) -> NDArray[np.float64]:
        """Give every variable's log weights from factors over it alone."""
        weights = np.where(np.arange(self._cards.max()) < self._cards[:, None], 0.0, -np.inf)
        for scopes, tables, marks in self._shapes:
            if scopes.shape[1] == 1:
                full = tables if marks is None else np.where(marks > 0, -np.inf, tables)
                np.add.at(weights[:, : full.shape[1]], scopes[:, 0], full)
        return weights

    def weights(self, group: int | None, beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give expected log weights (members, K) of a group, or of all free variables."""
        members = self._free if group is None else self.groups[group]
        cards = self._cards[members]
        weights = np.where(np.arange(beliefs.shape[1]) < cards[:, None], 0.0, -np.inf)
        for number, slot, factors, rows in self._plans[-1 if group is None else group]:
            scopes, tables, marks = self._shapes[number]
            part = expectation(tables[factors], scopes[factors], slot, beliefs)
            np.add.at(weights[:, : part.shape[1]], rows, part)
            if marks is not None:
                excluded = expectation(marks[factors], scopes[factors], slot, beliefs) > 0
                np.add.at(weights[:, : part.shape[1]], rows, np.where(excluded, -np.inf, 0.0))
        return weights


def expectation(
    tables: NDArray[np.float64], scopes: NDArray, slot: int, beliefs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Average tables (factors, K1, ..., Ka) over the beliefs of all variables but one slot's."""
    # From the last axis to the first, so that axes before the present one keep their places.
    for axis in reversed(range(scopes.shape[1])):
        if axis == slot:
            continue
        belief = beliefs[scopes[:, axis], : tables.shape[axis + 1]]
        wide = (len(tables),) + (1,) * axis + (-1,) + (1,) * (tables.ndim - axis - 2)
        tables = (tables * belief.reshape(wide)).sum(axis=axis + 1)
    return tables
