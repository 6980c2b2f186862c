"""Linear chains, with or without long-range factors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.base import Model
from heeler.model.check import as_log_weights, frozen, repeated, same_cardinalities, shown
from heeler.model.factor_graph import FactorGraph, from_flat
from heeler.model.graph import compress_rows
from heeler.model.pairwise import ends

Skip = tuple[int, int, NDArray[np.float64]]


class Chain(Model):
    """A chain of variables with K values each; made by `heeler.chain`.

    The log score is the sum of node[t, x_t], of edge[t, x_t, x_{t+1}] and of table[x_i, x_j] over
    the skip factors (i, j, table).

    Attributes
    ----------
    node : ndarray
        float64 (T, K).
    edge : ndarray
        float64 (T - 1, K, K); one table given for all steps is stored once.
    skip : list
        Tuples ``(i, j, table)``; a copy each time.
    """

    kind = "chain"
    node: NDArray[np.float64]
    edge: NDArray[np.float64]
    _skip: tuple[Skip, ...]

    @property
    def skip(self) -> list[Skip]:
        """The long-range factors: tuples of two positions and a (K, K) log table."""
        return list(self._skip)

    @property
    def has_zeros(self) -> bool:
        """Whether a table has an entry of -inf."""
        tables = (self.node, self.edge, *(table for _, _, table in self._skip))
        return self._cached("_has_zeros", lambda: any(np.isneginf(t).any() for t in tables))

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows."""
        left, right = self._pairs()
        both = np.concatenate((left, right)), np.concatenate((right, left))
        return compress_rows(self.n_variables, *both)

    def to_factor_graph(self) -> FactorGraph:
        """Give the same distribution, evidence kept, as a factor graph."""
        length, count = self.node.shape
        edges = self.edge[:1] if self.edge.strides[0] == 0 else self.edge
        edge_of = np.zeros(length - 1, int) if len(edges) < length - 1 else np.arange(length - 1)
        skips = [table.ravel() for _, _, table in self._skip]
        scope = np.concatenate((np.arange(length), np.stack(self._pairs(), axis=1).ravel()))
        sizes = np.repeat((1, 2), (length, length - 1 + len(skips)))
        lengths = np.repeat((count, count * count), (length, len(edges) + len(skips)))
        tables = np.concatenate((self.node.ravel(), edges.ravel(), *skips))
        table_of = np.concatenate(
            (
                np.arange(length),
                length + edge_of,
                length + len(edges) + np.arange(len(skips)),
            )
        )
        return from_flat(self, ends(sizes), scope, table_of, ends(lengths), tables)

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the ends of all pair factors: the steps of the chain, then the skips."""
        steps = np.arange(self.n_variables - 1)
        skips = np.array([(i, j) for i, j, _ in self._skip], np.int64).reshape(-1, 2)
        return np.concatenate((steps, skips[:, 0])), np.concatenate((steps + 1, skips[:, 1]))

    def _sizes(self) -> list[str]:
        """List numbers of values and skips."""
        skips = [f"{len(self._skip)} skip factors"] if self._skip else []
        return [f"{self.node.shape[1]} values each", *skips]

    def _parts(self) -> dict[str, Any]:
        """Give the defining arrays."""
        parts: dict[str, Any] = {"node": self.node, "edge": self.edge}
        for number, (i, j, table) in enumerate(self._skip):
            parts[f"skip {number} {i} {j}"] = table
        return parts

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Add nodes, edges and skips."""
        steps = np.arange(self.n_variables)
        score = self.node[steps, states].sum(axis=1)
        score += self.edge[steps[:-1], states[:, :-1], states[:, 1:]].sum(axis=1)
        for i, j, table in self._skip:
            score += table[states[:, i], states[:, j]]
        return score

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Add the node, the two edges and the skips that touch the variable."""
        result = np.repeat(self.node[variable][None], len(states), axis=0)
        if variable > 0:
            result += self.edge[variable - 1, states[:, variable - 1]]
        if variable < self.n_variables - 1:
            result += self.edge[variable][:, states[:, variable + 1]].T
        for i, j, table in self._skip:
            if i == variable:
                result += table[:, states[:, j]].T
            elif j == variable:
                result += table[states[:, i]]
        return result


def chain(
    node: ArrayLike,
    edge: ArrayLike | None = None,
    skip: Iterable[tuple[int, int, ArrayLike]] | None = None,
    *,
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> Chain:
    """Make a chain from log weights; -inf forbids.

    Parameters
    ----------
    node
        Shape (T, K): log weight of each value at each position.
    edge
        Shape (T - 1, K, K), indexed ``[step, value before, value after]``, or (K, K) for all steps
        alike. May be left out for a chain of one variable.
    skip
        Long-range factors ``(i, j, table)`` with ``table[x_i, x_j]`` of shape (K, K).
    names, value_names
        Names of the positions and of the values.

    Returns
    -------
    Chain
        The model.
    """
    nodes = as_log_weights(node, "node")
    if nodes.ndim != 2:
        raise ValueError(
            f"The 'node' parameter must have shape (T, K). Got shape {nodes.shape} instead."
        )
    length, count = nodes.shape
    cardinalities = same_cardinalities(length, count)
    _refuse_zero(nodes, "node")
    shape = (length - 1, count, count)
    if edge is None and length > 1:
        raise ValueError("The 'edge' parameter is needed for a chain of two variables or more.")
    edges = np.empty(shape) if edge is None else as_log_weights(edge, "edge")
    if edges.shape not in (shape, shape[1:]):
        raise ValueError(
            f"The 'edge' parameter must have shape {shape} or {shape[1:]}. "
            f"Got shape {edges.shape} instead."
        )
    _refuse_zero(edges.reshape(-1, count * count), "edge")
    return Chain(
        cardinalities,
        names,
        value_names,
        node=frozen(nodes.copy()),
        edge=repeated(edges, shape) if edges.ndim == 2 else frozen(edges.copy()),
        _skip=tuple(_skip_factor(factor, length, count) for factor in skip or ()),
    )


def _skip_factor(factor: Any, length: int, count: int) -> Skip:
    """Check one long-range factor."""
    try:
        i, j, table = factor
    except (TypeError, ValueError):
        raise TypeError(
            f"The 'skip' parameter must hold tuples (i, j, table). Got {shown(factor)} instead."
        ) from None
    for place in (i, j):
        if not isinstance(place, int | np.integer) or not 0 <= place < length or i == j:
            raise ValueError(
                "The 'skip' parameter must join two different positions from 0 to "
                f"{length - 1}. Got ({shown(i)}, {shown(j)}) instead."
            )
    weights = as_log_weights(table, "skip")
    if weights.shape != (count, count):
        raise ValueError(
            f"The 'skip' parameter must hold tables of shape ({count}, {count}). "
            f"Got shape {weights.shape} for ({i}, {j}) instead."
        )
    _refuse_zero(weights.reshape(1, -1), "skip")
    return int(i), int(j), frozen(weights.copy())


def _refuse_zero(rows: NDArray[np.float64], name: str) -> None:
    """Refuse a table that is -inf everywhere."""
    empty = np.isneginf(rows).all(axis=1)
    if empty.any():
        raise ValueError(
            f"The {name!r} parameter must leave something possible. "
            f"Got -inf everywhere in table {int(np.argmax(empty))}."
        )
