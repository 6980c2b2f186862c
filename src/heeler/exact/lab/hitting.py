"""How long it takes to get somewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import breadth_first_order


def hitting_times(matrix: csr_array, goal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Compute the expected number of passes until a state of the goal is first met.

    Parameters
    ----------
    matrix
        The transition matrix.
    goal
        Whether each state belongs to it.

    Returns
    -------
    ndarray
        float64: 0 in the goal, infinity where it may never be met.
    """
    n = len(goal)
    result = np.zeros(n)
    arrive = _can_reach(matrix, goal)
    # Ways that end at the goal: what then can reach a place without a way to it may never arrive.
    stopped = csr_array(matrix * ~goal[:, None])
    stopped.eliminate_zeros()
    lost = _can_reach(stopped, ~arrive)
    result[lost & ~goal] = np.inf
    open_ = np.flatnonzero(~goal & ~lost)
    if open_.size:
        from scipy.sparse.linalg import spsolve

        part = csr_array(matrix[open_][:, open_])
        system = eye_array(len(open_), format="csc") - part.tocsc()
        times: Any = spsolve(system, np.ones(len(open_)))
        result[open_] = times
    return result


def _can_reach(matrix: csr_array, goal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the states from which some state of the goal can be reached."""
    n = len(goal)
    members = np.flatnonzero(goal)
    if not members.size:
        return np.zeros(n, bool)
    # One more state that every member of the goal leads to; search backwards from it.
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    start = np.concatenate([matrix.indices, np.full(len(members), n)])
    stop = np.concatenate([row, members])
    back = csr_array((np.ones(len(start)), (start, stop)), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, bool)
    found[breadth_first_order(back, n, return_predecessors=False)] = True
    return found[:n]


def hitting_matrix(matrix: csr_array, pi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute expected passes from every state to every other one of an irreducible chain.

    Parameters
    ----------
    matrix
        The transition matrix.
    pi
        Its stationary distribution.

    Returns
    -------
    ndarray
        (states, states): entry [k, l] from k to l.
    """
    n = len(pi)
    fundamental = np.linalg.inv(np.eye(n) - matrix.toarray() + pi[None, :])
    return np.maximum((np.diag(fundamental)[None, :] - fundamental) / pi[None, :], 0.0)
