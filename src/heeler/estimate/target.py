"""What a distance is about: all variables, some of them, or weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model


@dataclass(frozen=True)
class Target:
    """Which functions of a state a distance speaks of.

    Attributes
    ----------
    weights
        float64 (n,): d, the most that a function may change with each variable.
    members
        The variables of a marginal distribution; None where the weights are the user's own.
    total
        The largest possible distance: 1 for a marginal distribution, else the sum of the weights.
    text
        The target in words.
    """

    weights: NDArray[np.float64]
    members: NDArray[np.int64] | None
    total: float
    text: str

    def count(self, apart: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn sums of weights of differing variables into distances.

        Parameters
        ----------
        apart
            Sums of the weights of the variables in which two states differ.

        Returns
        -------
        ndarray
            For a marginal distribution 1 where any differ; else the sums.
        """
        return apart if self.members is None else (apart > 0).astype(np.float64)


def as_target(target: Any, model: Model) -> Target:
    """Read the 'target' parameter.

    Parameters
    ----------
    target
        None for all free variables; a variable; several; or an array of n weights.
    model
        The model.

    Returns
    -------
    Target
        Weights, 0 for clamped variables.
    """
    free = np.zeros(model.n_variables, bool)
    free[model.free] = True
    if target is None:
        members = model.free
        text = "all variables"
    elif isinstance(target, np.ndarray) and target.dtype.kind == "f":
        return _weighted(target, free)
    else:
        single = isinstance(target, (str, int, np.integer)) or not isinstance(target, Iterable)
        named = [target] if single else list(target)
        members = np.unique(np.array([model.index(v) for v in named], np.int64))
        if not len(members):
            raise ValueError("The 'target' parameter must name at least one variable. Got none.")
        clamped = members[~free[members]]
        if len(clamped):
            raise ValueError(
                "The 'target' parameter must not name a clamped variable. "
                f"Got {model.names[int(clamped[0])]!r}."
            )
        names = [repr(model.names[int(v)]) for v in members[:3]]
        more = f" and {len(members) - 3} more" if len(members) > 3 else ""
        text = f"marginal of {', '.join(names)}{more}"
    weights = np.zeros(model.n_variables)
    weights[members] = 1.0
    return Target(weights, members, 1.0, text)


def _weighted(target: NDArray[Any], free: NDArray[np.bool_]) -> Target:
    """Check weights of the user."""
    if target.shape != free.shape or not np.isfinite(target).all() or (target < 0).any():
        raise ValueError(
            f"The 'target' parameter, as weights, must be {len(free)} finite numbers >= 0. "
            f"Got an array of shape {target.shape} instead."
        )
    weights = np.where(free, target, 0.0).astype(np.float64)
    if not weights.any():
        raise ValueError(
            "The 'target' parameter, as weights, must be positive for a free variable. Got zeros."
        )
    return Target(weights, None, float(weights.sum()), "weighted total variation")
