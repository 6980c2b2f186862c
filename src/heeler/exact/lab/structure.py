"""What a matrix's zeros decide, its stationary distributions, and detailed balance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

# Up to here a distribution is found by elimination without subtraction: each probability is then
# right to its own last digits, however small. Beyond, one LU decomposition is much faster.
_ELIMINATED = 1024


@dataclass(frozen=True, eq=False)
class CommunicatingClass:
    """States that can all be reached from each other.

    Attributes
    ----------
    members : ndarray
        int64 numbers of the states, in order.
    closed : bool
        Whether the chain can never leave: the states are recurrent, otherwise transient.
    period : int
        The greatest common divisor of the lengths of all ways back; 0 where there is none.
    labels : sequence of str
        Names of all states of the chain.
    """

    members: NDArray[np.int64]
    closed: bool
    period: int
    labels: Sequence[str]

    def __len__(self) -> int:
        """Count the states."""
        return len(self.members)

    @property
    def names(self) -> list[str]:
        """The members' names."""
        return [self.labels[int(k)] for k in self.members]

    def __repr__(self) -> str:
        """Name the first few states."""
        shown = "; ".join(self.labels[int(k)] for k in self.members[:4])
        more = f"; … {len(self) - 4} more" if len(self) > 4 else ""
        kind = "closed" if self.closed else "transient"
        return f"{{{shown}{more}}} ({kind}, {len(self)} states, period {self.period})"


@dataclass(frozen=True)
class Balance:
    """Whether as much flows from each state to each other one as back.

    Attributes
    ----------
    holds : bool
        Whether it holds, up to the rounding of the probabilities.
    circulation : float
        Half the sum over all pairs of how much the flows there and back differ: 0 in balance, at
        most 1.
    worst : tuple of int
        The pair of states where they differ most.
    names : tuple of str
        Their names.
    there, back : float
        The flows pi(k) P(k, l) and pi(l) P(l, k) of that pair.
    """

    holds: bool
    circulation: float
    worst: tuple[int, int]
    names: tuple[str, str]
    there: float
    back: float


def classes_of(matrix: csr_array, labels: Sequence[str]) -> list[CommunicatingClass]:
    """Find the communicating classes, the closed ones first, then by their first state.

    Parameters
    ----------
    matrix
        The transition matrix.
    labels
        Names of the states.

    Returns
    -------
    list of CommunicatingClass
        The classes.
    """
    count, which = connected_components(matrix, connection="strong")
    row = np.repeat(np.arange(len(matrix.indptr) - 1), np.diff(matrix.indptr))
    leaves = np.zeros(count, bool)
    inside = which[row] == which[matrix.indices]
    leaves[which[row[~inside]]] = True
    result = []
    for number in range(count):
        members = np.flatnonzero(which == number)
        period = _period(matrix, members)
        result.append(CommunicatingClass(members, not leaves[number], period, labels))
    return sorted(result, key=lambda c: (not c.closed, int(c.members[0])))


def _period(matrix: csr_array, members: NDArray[np.int64]) -> int:
    """Find the period of a class: of every step, how much longer it is than the shortest way."""
    part = csr_array(matrix[members][:, members])
    if part.nnz == 0:
        return 0
    order, before = breadth_first_order(part, 0)
    level: NDArray[np.int64] = np.zeros(len(members), np.int64)
    for k in order[1:]:
        level[k] = level[before[k]] + 1
    row = np.repeat(np.arange(len(members)), np.diff(part.indptr))
    return int(np.gcd.reduce(level[row] + 1 - level[part.indices]))


def common_period(classes: list[CommunicatingClass]) -> int:
    """Give the period of the chain after long: of its closed classes together.

    Parameters
    ----------
    classes
        All classes.

    Returns
    -------
    int
        The least common multiple of the periods of the closed ones.
    """
    result = 1
    for c in classes:
        if c.closed:
            result = result * c.period // gcd(result, c.period)
    return result


def stationary_of(matrix: csr_array, members: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the stationary distribution of a closed class, over all states.

    Parameters
    ----------
    matrix
        The transition matrix.
    members
        The class.

    Returns
    -------
    ndarray
        float64, zero outside of the class.
    """
    part = matrix[members][:, members].toarray()
    n = len(members)
    if n <= _ELIMINATED:
        share = _eliminated(part)
    else:
        system = part.T - np.eye(n)
        system[-1] = 1.0
        right = np.zeros(n)
        right[-1] = 1.0
        share = np.maximum(np.linalg.solve(system, right), 0.0)
    result = np.zeros(len(matrix.indptr) - 1)
    result[members] = share / share.sum()
    return result


def _eliminated(part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eliminate states from the last to the first (Grassmann, Taksar, Heyman): no subtraction."""
    n = len(part)
    for k in range(n - 1, 0, -1):
        part[:k, k] /= part[k, :k].sum()
        part[:k, :k] += part[:k, k : k + 1] * part[k, :k]
    share = np.ones(n)
    for k in range(1, n):
        share[k] = share[:k] @ part[:k, k]
        if share[k] > 1e200:  # a scale is free; infinity is not
            share[: k + 1] /= share[k]
    return share


def balance_of(
    matrix: csr_array, pi: NDArray[np.float64], labels: Sequence[str], tolerance: float
) -> Balance:
    """Check detailed balance.

    Parameters
    ----------
    matrix
        The transition matrix.
    pi
        The distribution.
    labels
        Names of the states.
    tolerance
        Circulation that rounding explains.

    Returns
    -------
    Balance
        With the worst pair.
    """
    flow: Any = csr_array(matrix * pi[:, None])
    net: Any = csr_array(flow - flow.T)
    size = np.abs(net.data)
    if not size.size or size.max() == 0.0:
        return Balance(True, 0.0, (0, 0), (labels[0], labels[0]), 0.0, 0.0)
    at = int(size.argmax())
    k = int(np.searchsorted(net.indptr, at, side="right") - 1)
    column = int(net.indices[at])
    if net.data[at] < 0:
        k, column = column, k
    total = float(size.sum()) / 2
    return Balance(
        total <= tolerance,
        total,
        (k, column),
        (labels[k], labels[column]),
        float(flow[k, column]),
        float(flow[column, k]),
    )
