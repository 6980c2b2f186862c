"""The matrix of a whole pass: what each update does, put together as the scan goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from heeler.exact.lab.limits import check_size
from heeler.exact.lab.space import Space
from heeler.scan import Scan

DRIVERS = ("random", "metropolis", "modified", "greedy")
# Above this share of entries a product is kept as an ordinary matrix, which is then faster.
_DENSE = 0.1
# A random order's matrix is averaged over all subsets of the variables.
_MOST_SHUFFLED = 12


class Updates:
    """The matrices of single updates, made when asked for.

    Parameters
    ----------
    space
        The states.
    driver
        One of `DRIVERS`.
    quantised
        Whether to use the integers of the compiled loop.
    """

    def __init__(self, space: Space, driver: str, quantised: bool) -> None:
        """Remember what is wanted."""
        self.space, self.driver, self.quantised = space, driver, quantised
        self._made: dict[int, csr_array] = {}
        self._rows: dict[int, NDArray[np.float64]] = {}

    def __getitem__(self, i: int) -> csr_array:
        """Give the matrix of updating a variable."""
        if i not in self._made:
            self._made[i] = self.space.update(i, self.rows(i))
        return self._made[i]

    def rows(self, i: int) -> NDArray[np.float64]:
        """Give what an update of a variable does in every state.

        Parameters
        ----------
        i
            The variable.

        Returns
        -------
        ndarray
            (states, values).
        """
        if i not in self._rows:
            p, unit = self.space.conditionals(i, self.quantised)
            self._rows[i] = driven(self.driver, p, self.space.states[:, i].astype(np.int64), unit)
        return self._rows[i]


def driven(
    driver: str, p: NDArray[np.float64], old: NDArray[np.int64], unit: float
) -> NDArray[np.float64]:
    """Turn conditionals into what a driver makes of them.

    Parameters
    ----------
    driver
        One of `DRIVERS`.
    p
        (states, values) probabilities.
    old
        The present values.
    unit
        What probabilities are multiples of the inverse of; 1 for exact ones.

    Returns
    -------
    ndarray
        (states, values): the probability of each new value.
    """
    if driver == "random":
        return p
    count = p.shape[1]
    at = np.arange(len(p))
    out = np.zeros_like(p)
    mine = p[at, old]
    if count == 1:
        return np.ones_like(p)
    if driver == "greedy":
        top = p.max(axis=1)
        choice = np.where(mine == top, old, p.argmax(axis=1))
        out[at, choice] = 1.0
        return out
    for v in range(count):
        other = p[:, v]
        with np.errstate(divide="ignore", invalid="ignore"):
            if driver == "metropolis" or count == 2:
                share = _rounded(np.where(other >= mine, 1.0, other / mine), 2.0**32, unit)
                share = share / (count - 1)
            else:
                rest = 1.0 - np.minimum(mine, other)
                share = np.where(rest > 0, _rounded(other / rest, 2.0**30, unit), 0.0)
        out[:, v] = np.where(old == v, 0.0, share)
    out[at, old] = 1.0 - out.sum(axis=1)
    # What the others leave is zero up to rounding where the present value is impossible to keep.
    out[np.abs(out) < 2.0**-52] = 0.0
    return out


def _rounded(share: NDArray[np.float64], one: float, unit: float) -> NDArray[np.float64]:
    """Round down to whole words, as the compiled loop does; exact ones stay."""
    return share if unit == 1.0 else np.floor(share * one) / one


def pass_matrix(updates: Updates, scan: Scan, memory_limit: int) -> tuple[csr_array, int]:
    """Make the matrix of a pass.

    Parameters
    ----------
    updates
        What each update does.
    scan
        The scan.
    memory_limit
        Bytes that the matrix may take.

    Returns
    -------
    matrix : csr_array
        (states, states).
    steps : int
        Updates of a pass.
    """
    from heeler.compiled import scans as compiled
    from heeler.kernel.orders import compile_scan

    space = updates.space
    tuple_, steps = compile_scan(scan, space.model, 0)
    _check_memory(space, tuple_, steps, memory_limit)
    order = [int(i) for i in tuple_.order]
    if isinstance(tuple_, compiled.Weighted):
        share = np.zeros(len(order))
        # Whole words: the largest one stands for certainty.
        accept = tuple_.accept / 2.0**32
        accept[tuple_.accept == 0xFFFFFFFF] = 1.0
        np.add.at(share, np.arange(len(order)), accept)
        np.add.at(share, tuple_.alias, 1.0 - accept)
        mean = _mixture([(s, updates[i]) for s, i in zip(share / len(order), order, strict=True)])
        return _sparse(_power(mean, steps)), steps
    if isinstance(tuple_, compiled.Shuffled):
        return _sparse(_shuffled(updates, order)), steps
    if isinstance(tuple_, compiled.Jacobi):
        return _jacobi(updates, order), steps
    return _sparse(_along(updates, order)), steps


def _check_memory(space: Space, scan: Any, steps: int, memory_limit: int) -> None:
    """Refuse a matrix that does not fit: every update reaches a variable's values."""
    from heeler.compiled import scans as compiled

    cards = np.asarray(space.model.cardinalities, np.float64)
    if isinstance(scan, compiled.Weighted):
        reach = float(1 + (cards[scan.order] - 1).sum()) ** min(steps, 64)
    else:
        reach = float(np.prod(cards[np.unique(scan.order)]))
    entries = len(space) * min(reach, len(space))
    # Values and columns of the matrix, and of what is being multiplied.
    check_size("the transition matrix", len(space), int(entries) * 12 * 2, memory_limit)


def _along(updates: Updates, order: list[int]) -> Any:
    """Multiply updates in an order."""
    result: Any = updates[order[0]]
    for i in order[1:]:
        result = _thinned(result @ updates[i])
    return result


def _thinned(matrix: Any) -> Any:
    """Take the form that is cheaper to go on with."""
    if not isinstance(matrix, np.ndarray) and matrix.nnz > _DENSE * matrix.shape[0] ** 2:
        return matrix.toarray()
    return matrix


def _sparse(matrix: Any) -> csr_array:
    """Give back compressed rows."""
    result = csr_array(matrix)
    result.sum_duplicates()
    return result


def _mixture(parts: list[tuple[float, Any]]) -> Any:
    """Average matrices with weights."""
    total: Any = parts[0][0] * parts[0][1]
    for weight, matrix in parts[1:]:
        total = total + weight * matrix
    return total


def _power(matrix: Any, exponent: int) -> Any:
    """Raise a matrix to a power of at least 1."""
    result, square = None, matrix
    while exponent:
        if exponent & 1:
            result = square if result is None else _thinned(result @ square)
        exponent >>= 1
        square = _thinned(square @ square) if exponent else square
    return result


def _shuffled(updates: Updates, order: list[int]) -> Any:
    """Average the products of all orders: over subsets, by what was updated last."""
    n = len(order)
    if n > _MOST_SHUFFLED:
        raise ValueError(
            f"The matrix of a shuffled scan takes at most {_MOST_SHUFFLED} free variables. "
            f"Got {n} of them."
        )
    size = len(updates.space)
    layer: dict[int, Any] = {0: eye_array(size, format="csr")}
    for count in range(1, n + 1):
        grown: dict[int, Any] = {}
        for subset, matrix in layer.items():
            for k, i in enumerate(order):
                if not subset >> k & 1:
                    product = _thinned((matrix @ updates[i]) / count)
                    key = subset | 1 << k
                    grown[key] = grown[key] + product if key in grown else product
        layer = grown
    return layer[(1 << n) - 1]


def _jacobi(updates: Updates, order: list[int]) -> csr_array:
    """Multiply, for every pair of states, the probabilities of all new values."""
    space = updates.space
    matrix = np.ones((len(space),) * 2)
    changed = np.zeros(space.model.n_variables, bool)
    for i in order:
        matrix *= updates.rows(i)[:, space.states[:, i].astype(np.int64)]
        changed[i] = True
    for i in np.flatnonzero(~changed):
        same = space.states[:, i]
        matrix *= same[:, None] == same[None, :]
    return csr_array(matrix)
