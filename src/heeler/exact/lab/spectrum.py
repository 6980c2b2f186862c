"""Eigenvalues, distances against time, and the bounds on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heeler.exact.lab.matrix import as_square

# Passes beyond which a chain counts as never mixing: a matrix in double precision knows no slower.
_LONGEST = 50
_BLOCK = 256  # rows at a time where all pairs of rows are compared


@dataclass(frozen=True)
class Minorisation:
    """The notes' bound: after t passes no probability is off by more than (1 - v)^floor(t / steps).

    v is the least T(z, z') / pi(z') over all z and all z' with pi(z') > 0. It is positive exactly
    when one move (of that many passes) can lead from every state to every state of positive
    probability: the condition is on the destination. The total variation has the same bound.

    Attributes
    ----------
    v : float
        The overlap of every row with the stationary distribution, at most 1.
    steps : int
        Passes that count as one move.
    holds : bool
        Whether v > 0, without which the bound says nothing.
    worst : tuple of int
        The pair (z, z') where the ratio is least.
    names : tuple of str
        Their names.
    """

    v: float
    steps: int
    holds: bool
    worst: tuple[int, int]
    names: tuple[str, str]

    def bound(self, times: Any) -> NDArray[np.float64]:
        """Give the bound on the distance after some passes.

        Parameters
        ----------
        times
            Numbers of passes.

        Returns
        -------
        ndarray
            float64, one for each.
        """
        moves = np.asarray(times, np.int64) // self.steps
        return np.power(1.0 - self.v, moves.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Perron:
    """The largest eigenvalue of a matrix without negative entries, and bounds on it.

    Attributes
    ----------
    root : float
        The Perron root: the largest eigenvalue in absolute value, which is real.
    row_low, row_high : float
        The least and the largest row sum; the root lies between them.
    column_low, column_high : float
        The same for columns.
    right, left : ndarray
        Its eigenvectors, not negative, summing to 1; the left one of a stochastic matrix is a
        stationary distribution.
    simple : bool
        Whether all entries are positive, so that the root is simple and alone in absolute value.
    """

    root: float
    row_low: float
    row_high: float
    column_low: float
    column_high: float
    right: NDArray[np.float64]
    left: NDArray[np.float64]
    simple: bool


def perron(matrix: Any) -> Perron:
    """Compute the Perron root of a matrix without negative entries, and the bounds on it.

    Rows of a transition matrix sum to 1, and so does its root. Of a part of one, over a set of
    states, the root says how slowly the chain leaves the set: about root^t is still inside.

    Parameters
    ----------
    matrix : array or sparse matrix
        Square, no entry negative.

    Returns
    -------
    Perron
        The root between the least and the largest row sum.

    Examples
    --------
    >>> import heeler
    >>> found = heeler.lab.perron([[0.5, 0.3], [0.1, 0.6]])
    >>> found.row_low, found.row_high, round(found.root, 6)
    (0.7, 0.8, 0.730278)
    """
    square = as_square(matrix, "matrix")
    dense = square.toarray()
    rows, columns = dense.sum(axis=1), dense.sum(axis=0)
    values, left, right = _eigen(dense)
    at = int(values.real.argmax())
    root = float(np.clip(values[at].real, max(rows.min(), 0.0), rows.max()))
    return Perron(
        root,
        float(rows.min()),
        float(rows.max()),
        float(columns.min()),
        float(columns.max()),
        _share(right[:, at]),
        _share(left[:, at]),
        bool((dense > 0).all()),
    )


def _eigen(dense: NDArray[np.float64]) -> Any:
    """Compute eigenvalues with both kinds of vectors."""
    from scipy.linalg import eig

    return eig(dense, left=True, right=True)


def _share(vector: NDArray) -> NDArray[np.float64]:
    """Turn an eigenvector, known up to a factor, to numbers that are not negative and sum to 1."""
    size = np.abs(vector)
    return size / size.sum()


def eigenvalues_of(
    matrix: csr_array, pi: NDArray[np.float64] | None, reversible: bool
) -> NDArray[Any]:
    """Compute all eigenvalues, the largest in absolute value first.

    Parameters
    ----------
    matrix
        The transition matrix.
    pi
        The stationary distribution, positive, where the chain is reversible.
    reversible
        Whether detailed balance holds: the eigenvalues are then real.

    Returns
    -------
    ndarray
        float64, or complex128 for a chain that is not reversible.
    """
    from scipy.linalg import eigvals, eigvalsh

    dense = matrix.toarray()
    if reversible and pi is not None and (pi > 0).all():
        root = np.sqrt(pi)
        symmetric = dense * (root[:, None] / root[None, :])
        values: Any = eigvalsh((symmetric + symmetric.T) / 2)
    else:
        values = eigvals(dense)
    return values[np.argsort(-np.abs(values), kind="stable")]


def second(values: NDArray[Any]) -> float:
    """Give the second largest absolute value: one eigenvalue of 1 belongs to what stays.

    Parameters
    ----------
    values
        All eigenvalues.

    Returns
    -------
    float
        From 0 to 1.
    """
    others = np.delete(values, int(np.abs(values - 1.0).argmin()))
    return float(min(np.abs(others).max(initial=0.0), 1.0))


class Powers:
    """Powers of a transition matrix, by repeated squaring; squares are kept while they fit.

    Parameters
    ----------
    matrix
        The transition matrix.
    most
        Squares to keep.
    """

    def __init__(self, matrix: csr_array, most: int) -> None:
        """Begin with the matrix itself."""
        self._kept = [matrix.toarray()]
        self._most = max(most, 1)

    def square(self, k: int) -> NDArray[np.float64]:
        """Give the matrix to the power 2^k.

        Parameters
        ----------
        k
            How often it is squared.

        Returns
        -------
        ndarray
            Ordinary matrix.
        """
        have = min(k, len(self._kept) - 1)
        result = self._kept[have]
        for number in range(have + 1, k + 1):
            result = result @ result
            # Rounding errors of the rows' sums would double with every squaring.
            result /= result.sum(axis=1, keepdims=True)
            if number == len(self._kept) < self._most:
                self._kept.append(result)
        return result

    def apply(self, rows: NDArray[np.float64], passes: int) -> NDArray[np.float64]:
        """Advance distributions, one a row.

        Parameters
        ----------
        rows
            (m, states).
        passes
            How many.

        Returns
        -------
        ndarray
            (m, states).
        """
        k = 0
        while passes:
            if passes & 1:
                rows = rows @ self.square(k)
            passes >>= 1
            k += 1
        return rows


def distances(rows: NDArray[np.float64], pi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Measure the total variation distance of each row from a distribution.

    Parameters
    ----------
    rows
        (m, states) distributions.
    pi
        The one to compare with.

    Returns
    -------
    ndarray
        float64 (m,).
    """
    return 0.5 * np.abs(rows - pi).sum(axis=1)


def mixing_time(powers: Powers, pi: NDArray[np.float64], epsilon: float) -> float:
    """Find the first number of passes after which every start is within epsilon.

    Parameters
    ----------
    powers
        Of the transition matrix.
    pi
        The stationary distribution.
    epsilon
        Total variation.

    Returns
    -------
    float
        Passes; infinity for a chain that does not get there.
    """
    if distances(np.eye(len(pi)), pi).max() <= epsilon:
        return 0.0
    top = 0
    while distances(powers.square(top), pi).max() > epsilon:
        top += 1
        if top > _LONGEST:
            return np.inf
    if top == 0:
        return 1.0
    # 2^(top - 1) passes are too few: add what still is, the largest powers first.
    at, rows = 1 << (top - 1), powers.square(top - 1)
    for k in range(top - 2, -1, -1):
        further = rows @ powers.square(k)
        if distances(further, pi).max() > epsilon:
            at, rows = at + (1 << k), further
    return float(at + 1)


def dobrushin(matrix: csr_array) -> float:
    """Compute the Dobrushin coefficient: the largest total variation between two rows.

    Parameters
    ----------
    matrix
        The transition matrix.

    Returns
    -------
    float
        From 0 (one pass forgets everything) to 1.
    """
    from scipy.spatial.distance import cdist

    dense = matrix.toarray()
    largest = 0.0
    for first in range(0, len(dense), _BLOCK):
        block = dense[first : first + _BLOCK]
        largest = max(largest, float(cdist(block, dense[first:], "cityblock").max()))
    return min(largest / 2, 1.0)


def minorisation(
    matrix: csr_array, pi: NDArray[np.float64], labels: Sequence[str], steps: int | None
) -> Minorisation:
    """Find the notes' v, of one pass or of the fewest that make it positive.

    Parameters
    ----------
    matrix
        The transition matrix.
    pi
        The stationary distribution.
    labels
        Names of the states.
    steps
        Passes that count as one move; None takes the fewest up to 64 with v > 0, or else 1.

    Returns
    -------
    Minorisation
        With the worst pair.
    """
    first = None
    rows = matrix.toarray()
    base = rows
    for k in range(1, 65 if steps is None else steps + 1):
        rows = base if k == 1 else rows @ matrix
        if steps is None or k == steps:
            found = _overlap(rows, pi, labels, k)
            first = first or found
            if found.holds or k == steps:
                return found
    assert first is not None
    return first


def _overlap(
    rows: NDArray[np.float64], pi: NDArray[np.float64], labels: Sequence[str], steps: int
) -> Minorisation:
    """Take the least ratio to the destination's probability."""
    there = np.flatnonzero(pi > 0)
    ratio = rows[:, there] / pi[there]
    at, column = (int(k) for k in np.unravel_index(int(ratio.argmin()), ratio.shape))
    v = float(min(ratio[at, column], 1.0))
    to = int(there[column])
    return Minorisation(v, steps, v > 0, (at, to), (labels[at], labels[to]))
