"""Graphs as flat arrays: compressed rows from lists of pairs."""

import numpy as np
from numpy.typing import NDArray

# Up to so many ascending runs merging is faster than sorting.
MOST_RUNS = 16


def compress_rows(
    n_variables: int, first: NDArray, second: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Make compressed sorted rows of directed pairs, repeated pairs counting once.

    Parameters
    ----------
    n_variables
        The number of rows.
    first, second
        Row and neighbour of each pair.

    Returns
    -------
    pointer : ndarray
        int64 of shape (n + 1,).
    index : ndarray
        int32, sorted within each row.
    """
    key = np.unique(first.astype(np.int64) * n_variables + second)
    row = key // n_variables
    index = (key - row * n_variables).astype(np.int32)
    return _pointer(n_variables, row), index


def symmetric_rows(
    n_variables: int, first: NDArray, second: NDArray, value: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Make symmetric compressed rows of a weighted graph that lists each pair once.

    Parameters
    ----------
    n_variables
        The number of variables.
    first, second
        The two ends of each edge, int64; either may be the smaller.
    value
        The weight of each edge.

    Returns
    -------
    pointer, index, value : ndarray
        int64 (n + 1,), int32 (2 * edges,) sorted within rows, float64 (2 * edges,).
    """
    row = np.concatenate((first, second))
    key = row * n_variables + np.concatenate((second, first))
    # Edges of lattices come in a few ascending runs, which a merge sort only has to merge.
    falls = np.count_nonzero(key[1:] < key[:-1])
    order = np.argsort(key, kind="stable" if falls < MOST_RUNS else "quicksort")
    key = key[order]
    twice = key[1:] == key[:-1]
    if twice.any():
        low, high = sorted(divmod(int(key[np.argmax(twice)]), n_variables))
        raise ValueError(
            f"The 'couplings' parameter must give each pair once. Got ({low}, {high}) twice."
        )
    index = np.concatenate((second, first))[order].astype(np.int32)
    return _pointer(n_variables, row), index, np.concatenate((value, value))[order]


def _pointer(n_variables: int, row: NDArray) -> NDArray[np.int64]:
    """Count the entries of each row and add up."""
    pointer = np.zeros(n_variables + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n_variables), out=pointer[1:])
    return pointer
