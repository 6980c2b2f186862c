"""The matrix of a user's proposal, accepted as Metropolis and Hastings do."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from heeler.exact.lab.space import Space

# Pairs of states for which a user's density is asked, one call each.
_MOST_CALLS = 1 << 20


def kernel_name(kernel: Any) -> str:
    """Give the name of a kernel object; nothing for names and drivers.

    Parameters
    ----------
    kernel
        Anything.

    Returns
    -------
    str
        As the kernel's class has it.
    """
    return getattr(kernel, "name", "") if hasattr(kernel, "engine") else ""


def proposal_matrix(kernel: Any, space: Space) -> csr_array:
    """Ask a user's density for every pair of states, and accept as Metropolis and Hastings do.

    Parameters
    ----------
    kernel
        A `heeler.Proposal`.
    space
        The states.

    Returns
    -------
    csr_array
        Of one pass.
    """
    if kernel.log_density is None:
        raise ValueError(
            "The matrix of a proposal needs its density, also of a symmetric one: give "
            "'log_density', a function of the new and the old state."
        )
    size = len(space)
    if size * size > _MOST_CALLS:
        raise ValueError(
            f"The matrix of a proposal takes at most {int(_MOST_CALLS**0.5)} states, as its "
            f"density is asked for every pair. Got {size} states."
        )
    q = np.empty((size, size))
    for k, old in enumerate(space.states):
        for j, new in enumerate(space.states):
            q[k, j] = kernel.log_density(new.astype(np.int64), old.astype(np.int64))
    if np.isnan(q).any() or (q == np.inf).any():
        raise ValueError("The 'log_density' of the proposal must be finite, or -inf. Got another.")
    # What is proposed is a state, possible or not: the constant is the same for all old states, and
    # at most what makes the fullest row sum to 1. Impossible states are rejected.
    q = np.exp(q - q.max())
    q /= q.sum(axis=1).max()
    pi = space.target
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (pi[None, :] * q.T) / (pi[:, None] * q)
    moved = np.where(q > 0, q * np.minimum(ratio, 1.0), 0.0)
    np.fill_diagonal(moved, 0.0)
    np.fill_diagonal(moved, 1.0 - moved.sum(axis=1))
    step: Any = csr_array(moved)
    step.eliminate_zeros()
    total: Any = step
    for _ in range(kernel.steps - 1):
        total = total @ step
    return csr_array(total)
