"""Pair couplings as users write them: sparse or dense matrices, edge lists, mappings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import as_finite, as_indices, shown


class Edges(NamedTuple):
    """Weighted pairs, each unordered pair once as far as the input allows.

    Parameters
    ----------
    n_variables
        The size of the matrix, or for a list of edges the smallest number that holds them.
    exact
        Whether the number of variables is given by the input (a matrix).
    first, second, value
        The ends and the weight of each edge.
    """

    n_variables: int
    exact: bool
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    value: NDArray[np.float64]


def read_edges(couplings: Any) -> Edges:
    """Read couplings in any of the accepted forms.

    Parameters
    ----------
    couplings
        A SciPy sparse matrix or array; a dense square matrix; a tuple ``(i, j, J)`` of arrays
        (J may be one number); a list of tuples ``(i, j, J)``; or a mapping ``{(i, j): J}``.
        Matrices are symmetric or triangular with a zero diagonal.

    Returns
    -------
    Edges
        The pairs; that no pair is given twice is checked when rows are made of them.
    """
    if isinstance(couplings, Mapping):
        rows = [(*_pair(pair), value) for pair, value in couplings.items()]
        return _edge_list(*(zip(*rows, strict=True) if rows else ((), (), ())))
    if hasattr(couplings, "tocsr"):
        return _sparse_matrix(couplings)
    if isinstance(couplings, tuple):
        if len(couplings) != 3:
            raise ValueError(
                "The 'couplings' parameter, when a tuple, must be (i, j, J) with three arrays. "
                f"Got {len(couplings)} entries instead."
            )
        return _edge_list(*couplings)
    if isinstance(couplings, list) and all(isinstance(edge, tuple) for edge in couplings):
        for edge in couplings:
            if len(edge) != 3:
                raise ValueError(
                    "The 'couplings' parameter, when a list of edges, must hold tuples (i, j, J). "
                    f"Got {shown(edge)} instead."
                )
        return _edge_list(*(zip(*couplings, strict=True) if couplings else ((), (), ())))
    return _dense_matrix(couplings)


def _pair(pair: Any) -> tuple[Any, Any]:
    """Check a key of a mapping."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(
            "The 'couplings' parameter, when a mapping, must have pairs (i, j) as keys. "
            f"Got {shown(pair)} instead."
        )
    return pair


def _edge_list(first: Any, second: Any, value: Any) -> Edges:
    """Check three arrays of edges."""
    first = as_indices(first, "couplings (first ends)")
    second = as_indices(second, "couplings (second ends)")
    value = as_finite(value, "couplings")
    if value.ndim == 0:
        value = np.full(len(first), value)
    if not len(first) == len(second) == value.size or value.ndim != 1:
        raise ValueError(
            "The 'couplings' parameter must have as many first ends as second ends and weights. "
            f"Got {len(first)}, {len(second)} and an array of shape {value.shape} instead."
        )
    _refuse_loops(first[first == second])
    count = 1 + int(max(first.max(), second.max())) if len(first) else 0
    return Edges(count, False, first, second, value)


def _sparse_matrix(matrix: Any) -> Edges:
    """Read a SciPy sparse matrix; its entries at one place are added, as SciPy means them."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        _refuse_shape(matrix.shape)
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    place = rows.tocoo()
    return _entries(rows.shape[0], place.row, place.col, as_finite(place.data, "couplings"))


def _dense_matrix(matrix: Any) -> Edges:
    """Read a dense matrix."""
    array = as_finite(matrix, "couplings")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        _refuse_shape(array.shape)
    row, column = np.nonzero(array)
    return _entries(len(array), row, column, array[row, column])


def _entries(count: int, row: NDArray, column: NDArray, value: NDArray[np.float64]) -> Edges:
    """Take the pairs of a matrix that is symmetric or triangular; zeros are no edges."""
    kept = value != 0
    row, column, value = row[kept].astype(np.int64), column[kept].astype(np.int64), value[kept]
    _refuse_loops(row[row == column])
    above, below = row < column, row > column
    if not below.any():
        return Edges(count, True, row, column, value)
    if not above.any():
        return Edges(count, True, column, row, value)
    upper, lower = row[above] * count + column[above], column[below] * count + row[below]
    first, second = np.argsort(upper), np.argsort(lower)
    same = np.array_equal(upper[first], lower[second])
    if not same or (value[above][first] != value[below][second]).any():
        _refuse_asymmetry(count, upper, value[above], lower, value[below])
    return Edges(count, True, row[above], column[above], value[above])


def _refuse_asymmetry(
    count: int, upper: NDArray, upper_value: NDArray, lower: NDArray, lower_value: NDArray
) -> None:
    """Name a pair whose two entries differ."""
    above = dict(zip(upper.tolist(), upper_value.tolist(), strict=True))
    below = dict(zip(lower.tolist(), lower_value.tolist(), strict=True))
    for key in sorted({*above, *below}):
        one, other = above.get(key, 0.0), below.get(key, 0.0)
        if one != other:
            i, j = divmod(key, count)
            raise ValueError(
                "The 'couplings' parameter must be symmetric or triangular. "
                f"Got {one} at ({i}, {j}) and {other} at ({j}, {i})."
            )


def _refuse_loops(loops: NDArray) -> None:
    """Refuse a coupling of a variable with itself."""
    if loops.size:
        raise ValueError(
            "The 'couplings' parameter must not couple a variable with itself. "
            f"Got ({loops[0]}, {loops[0]})."
        )


def _refuse_shape(shape: tuple[int, ...]) -> None:
    """Refuse a matrix that is not square."""
    raise ValueError(
        "The 'couplings' parameter must be a square matrix, a tuple (i, j, J) of arrays, a list of "
        f"tuples or a mapping of pairs. Got an array of shape {shape} instead."
    )


def count_variables(
    edges: Edges, n_variables: int | None, names: Any, field_length: int | None
) -> int:
    """Settle the number of variables from everything that tells it.

    Parameters
    ----------
    edges
        What was read.
    n_variables
        The number given by the user, if any.
    names
        The names given by the user, if any.
    field_length
        The length of a field given per variable, if any.
    """
    if n_variables is None:
        if edges.exact:
            n_variables = edges.n_variables
        elif field_length is not None:
            n_variables = field_length
        elif names is not None:
            n_variables = len(names)
        else:
            n_variables = edges.n_variables
    if edges.n_variables > n_variables or (edges.exact and edges.n_variables != n_variables):
        raise ValueError(
            f"The 'couplings' parameter must fit the {n_variables} variables. "
            f"Got couplings of {edges.n_variables} variables instead."
        )
    return n_variables
