"""Norms of matrices without negative entries, enclosed from both sides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# An iteration is stopped when the two bounds agree to this, or after as much work as this.
AGREEMENT = 1e-6
MOST_STEPS = 1000
MOST_PRODUCTS = 4e8
# Components of the positive vector are kept above this share of the largest one.
FLOOR = 1e-30


def two_norm_bounds(rows: Any, columns: Any) -> tuple[float, float]:
    """Enclose the 2-norm of a matrix C >= 0.

    The largest eigenvalue of A = C'C is at most max_i (A v)_i / v_i for every positive v (Collatz
    and Wielandt) and at least |C v|^2 / |v|^2 (Rayleigh); the power iteration improves both.

    Parameters
    ----------
    rows
        C, a sparse matrix.
    columns
        Its transpose.

    Returns
    -------
    low, high : float
        A lower bound, up to rounding, and an upper bound that is proved, rounding included.
    """
    low, high = _enclose(lambda v: columns @ (rows @ v), rows.shape[0], 2 * rows.nnz)
    return float(np.sqrt(low)), float(np.sqrt(high))


def radius_bounds(rows: Any) -> tuple[float, float]:
    """Enclose the spectral radius of a matrix C >= 0, as `two_norm_bounds` does for C'C.

    The iteration goes with C + I, which has the positive vector of C and no other eigenvalue of the
    same size that would make it swing.

    Parameters
    ----------
    rows
        C, a sparse matrix.

    Returns
    -------
    low, high : float
        Bounds; the upper one is proved, rounding included.
    """
    low, high = _enclose(lambda v: rows @ v + v, rows.shape[0], rows.nnz, shift=1.0)
    return low, high


def _enclose(product: Any, n: int, work: int, shift: float = 0.0) -> tuple[float, float]:
    """Iterate a non-negative linear map and bound its largest eigenvalue, less the shift."""
    v: NDArray[np.float64] = np.ones(n)
    low, high = 0.0, np.inf
    # Sums of at most n terms, twice, a quotient and a square root.
    up = 1.0 + (2 * n + 8) * np.finfo(float).eps
    for _ in range(max(1, int(min(MOST_STEPS, MOST_PRODUCTS / (work + n))))):
        grown = product(v)
        top = float(grown.max())
        if top == 0.0:
            return 0.0, 0.0
        growth = grown / v
        high = min(high, float(growth.max()) * up - shift)
        # Rayleigh where the map is symmetric, else the other half of Collatz and Wielandt.
        least = float(growth.min()) - shift if shift else float(v @ grown / (v @ v))
        low = max(low, least)
        if high - low <= AGREEMENT * high:
            break
        v = np.maximum(grown / top, FLOOR)
    return low, high
