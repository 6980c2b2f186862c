"""Influence matrices that users bring along."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import as_numbers, shown


def as_influence(matrix: Any, n_variables: int | None = None) -> Any:
    """Check an influence matrix.

    Parameters
    ----------
    matrix
        An `Influence`, which is returned as it is; a SciPy sparse or a dense matrix C, where
        C[i, j] bounds the influence of j on i: square, finite, not negative, zero diagonal.
    n_variables
        The number of variables that it must have; None for any.

    Returns
    -------
    Influence
        The matrix in sorted compressed rows, its method ``"given"`` where the user made it.
    """
    from heeler.scan.influence.matrix import Influence

    given: Any = matrix
    if not isinstance(matrix, Influence) or matrix.method is None:
        given = _checked(matrix)
    if n_variables is not None and given.shape[0] != n_variables:
        raise ValueError(
            f"The 'influence' parameter must be a matrix of {n_variables} variables. "
            f"Got one of {given.shape[0]} instead."
        )
    return given


def _checked(matrix: Any) -> Any:
    """Copy a matrix of the user into an `Influence`."""
    from scipy.sparse import csr_array

    from heeler.scan.influence.matrix import Influence

    rows: Any
    if hasattr(matrix, "tocsr"):
        _refuse_shape(matrix.shape)
        rows = csr_array(matrix.tocsr(copy=True))
        as_numbers(rows.data, "influence")
        rows.sum_duplicates()
    else:
        array = as_numbers(matrix, "influence")
        _refuse_shape(array.shape)
        rows = csr_array(array)
    rows = rows.astype(np.float64)
    rows.eliminate_zeros()
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    _refuse_where(~np.isfinite(rows.data), row, rows, "be finite")
    _refuse_where(rows.data < 0, row, rows, "not have negative entries")
    _refuse_where(row == rows.indices, row, rows, "have a zero diagonal")
    return Influence.from_rows(rows.indptr, rows.indices, rows.data, method="given")


def _refuse_shape(shape: tuple[int, ...]) -> None:
    """Refuse what is not a square matrix."""
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ValueError(
            "The 'influence' parameter must be a square matrix. "
            f"Got an array of shape {shown(shape)} instead."
        )


def _refuse_where(wrong: NDArray[np.bool_], row: NDArray, rows: Any, what: str) -> None:
    """Name the first entry that is not as it must be."""
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"The 'influence' parameter must {what}. "
            f"Got {rows.data[place]} at ({row[place]}, {rows.indices[place]})."
        )
