"""What a distance is about: the marginal distribution of some variables, or weighted changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.scan.target import as_target


@dataclass(frozen=True)
class Asked:
    """Which functions of a state a distance speaks of.

    Attributes
    ----------
    index, weight
        The variables and their weights d.
    marginal
        Whether all weights are 1: then the distance is the total variation of the variables' joint
        marginal distribution, else the weighted total variation.
    total
        The largest possible distance: 1, or the sum of the weights.
    text
        The target in words.
    weights
        float64 (n,): d for all variables.
    """

    index: NDArray[np.int64]
    weight: NDArray[np.float64]
    marginal: bool
    total: float
    text: str
    weights: NDArray[np.float64]

    def distances(self, apart: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn sums of the weights of differing variables into distances.

        Parameters
        ----------
        apart
            Sums of the weights of the variables in which two states differ.

        Returns
        -------
        ndarray
            For a marginal distribution 1 where any differ; else the sums.
        """
        return (apart > 0).astype(np.float64) if self.marginal else apart


def asked_of(target: Any, model: Model) -> Asked:
    """Read the 'target' parameter.

    Parameters
    ----------
    target
        As in `heeler.variation`.
    model
        The model.

    Returns
    -------
    Asked
        What the distance is about.
    """
    wanted = as_target(target, model)
    marginal = bool((wanted.weight == 1.0).all())
    weights = np.zeros(model.n_variables)
    weights[wanted.index] = wanted.weight
    total = 1.0 if marginal else wanted.total
    if not marginal:
        text = f"weighted total variation of {len(wanted.index)} variables"
    elif len(wanted.index) == len(model.free):
        text = "total variation of all variables"
    else:
        names = [repr(model.names[int(v)]) for v in wanted.index[:3]]
        more = f" and {len(wanted.index) - 3} more" if len(wanted.index) > 3 else ""
        text = f"total variation of the marginal of {', '.join(names)}{more}"
    return Asked(wanted.index, wanted.weight, marginal, total, text, weights)
