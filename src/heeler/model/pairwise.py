"""Models whose pairs are kept in symmetric compressed rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.model.check import frozen
from heeler.model.factor_graph import FactorGraph, from_flat

# Small models remember their list of pairs; of large ones it would take as much room as they do.
KEPT_EDGES = 1 << 12


class Pairwise(Model):
    """A model with one number per pair of neighbours.

    Attributes
    ----------
    pointer : ndarray
        int64 (n + 1,): where each variable's row begins.
    column : ndarray
        int32 (2 * pairs,): the neighbours, sorted within each row.
    coupling : ndarray
        float64 (2 * pairs,): the couplings, each pair in both rows.
    """

    pointer: NDArray[np.int64]
    column: NDArray[np.int32]
    coupling: NDArray[np.float64]

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows (the model's own arrays)."""
        return self.pointer, self.column

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """List each pair once.

        Returns
        -------
        first, second, coupling : ndarray
            The smaller index, the larger index and the coupling, in order of the pairs.
        """
        if len(self.column) <= KEPT_EDGES:
            return self._cached("_edges", self._make_edges)
        return self._make_edges()

    def _make_edges(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Look for each pair in the row of its smaller index."""
        first = np.repeat(np.arange(self.n_variables), np.diff(self.pointer))
        once = first < self.column
        return frozen(first[once]), frozen(self.column[once]), frozen(self.coupling[once])

    def _sizes(self) -> list[str]:
        """List the number of pairs."""
        return [f"{len(self.column) // 2} pairs"]

    def _score_size(self) -> int:
        """Count pairs, or variables where there are more of them."""
        return max(len(self.column) // 2, self.n_variables)

    def _row(self, variable: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Give one variable's neighbours and couplings."""
        row = slice(self.pointer[variable], self.pointer[variable + 1])
        return self.column[row], self.coupling[row]


def pair_factor_graph(
    model: Model,
    unary: tuple[NDArray[np.float64], NDArray[np.integer]],
    edges: tuple[NDArray, NDArray, NDArray],
    pair_table: NDArray[np.float64],
) -> FactorGraph:
    """Make the factor graph of a model with fields and scaled copies of one pair table.

    Parameters
    ----------
    model
        Gives variables and evidence; all its variables have K values.
    unary
        The different rows (r, K) of log weights of single values, and which row each variable has;
        a row of zeros makes no factor.
    edges
        First and second variable and coupling of each pair.
    pair_table
        (K, K), finite: a pair's log table is its coupling times this. Equal couplings share one.
    """
    first, second, coupling = edges
    levels, which = np.unique(coupling, return_inverse=True)
    pair_tables = levels[:, None] * pair_table.reshape(1, -1)
    rows, row_of = unary
    fielded = np.flatnonzero((rows != 0).any(axis=1)[row_of])
    scope = np.concatenate((fielded, np.stack((first, second), axis=1).ravel()))
    sizes = np.repeat((1, 2), (len(fielded), len(first)))
    lengths = np.repeat((rows.shape[1], pair_table.size), (len(rows), len(levels)))
    tables = np.concatenate((rows.ravel(), pair_tables.ravel()))
    table_of = np.concatenate((row_of[fielded], which + len(rows)))
    return from_flat(model, ends(sizes), scope, table_of, ends(lengths), tables)


def scaled_rows(
    field: NDArray[np.float64], row: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.integer]]:
    """Give the different multiples of a row of log weights, and which one each variable has."""
    levels, which = np.unique(field, return_inverse=True)
    return levels[:, None] * np.array(row), which


def ends(sizes: NDArray) -> NDArray[np.int64]:
    """Turn sizes into a pointer array."""
    pointer = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=pointer[1:])
    return pointer


def settle_names(names: Any) -> Any:
    """Turn an iterable of names into a tuple, so that it can be counted and then checked."""
    return names if names is None or hasattr(names, "__len__") else tuple(names)
