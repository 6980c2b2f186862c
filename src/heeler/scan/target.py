"""What a scan is to be good for: weights of the variables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import shown


@dataclass(frozen=True, eq=False)
class Target:
    """Variables with positive weights; the bounded distance is that of functions so sensitive.

    Attributes
    ----------
    index : ndarray
        int64: ascending, free variables.
    weight : ndarray
        float64, positive.
    """

    index: NDArray[np.int64]
    weight: NDArray[np.float64]

    @property
    def total(self) -> float:
        """The sum of the weights: the bound before any step."""
        return float(self.weight.sum())


def as_target(target: Any, variables: Any) -> Target:
    """Read a target.

    Parameters
    ----------
    target
        None for all free variables with weight 1 (the distance of the joint distribution); a
        variable; several of them; a mapping from variables to weights; a float array with one
        weight per variable, or a bool array with one entry per variable. A tuple is several
        variables: put a lattice site's coordinates into a list, ``[(3, 4)]``.
    variables
        The model, or what stands for it.

    Returns
    -------
    Target
        The weights.
    """
    n = variables.n_variables
    if target is None:
        free = variables.free
        if not len(free):
            raise ValueError("The 'target' parameter needs a free variable. All are clamped.")
        return Target(free, np.ones(len(free)))
    if isinstance(target, Target):
        return target
    weights: dict[int, float] = {}
    if isinstance(target, Mapping):
        for variable, weight in target.items():
            place = variables.index(variable)
            weights[place] = weights.get(place, 0.0) + _number(weight)
        index = np.array(sorted(weights), np.int64)
        return _checked(index, np.array([weights[place] for place in index.tolist()]), variables)
    array = target if isinstance(target, np.ndarray) else None
    if isinstance(target, list | tuple) and any(isinstance(w, float) for w in target):
        array = np.asarray(target)
    if array is not None and array.dtype.kind in "fb":
        if array.shape != (n,):
            raise ValueError(
                f"The 'target' parameter must have one weight per variable ({n}). Got an array of "
                f"shape {array.shape} instead."
            )
        index = np.flatnonzero(array)
        return _checked(index, array[index].astype(np.float64), variables)
    if array is not None and array.dtype.kind in "iu":
        target = array.ravel().tolist()
    several = isinstance(target, Iterable) and not isinstance(target, str)
    places = [variables.index(v) for v in (target if several else [target])]
    index = np.unique(np.array(places, np.int64))
    return _checked(index, np.ones(len(index)), variables)


def _number(weight: Any) -> float:
    """Check that a weight is a number."""
    if isinstance(weight, bool) or not isinstance(weight, int | float | np.number):
        raise TypeError(
            "The 'target' parameter must map variables to weights. "
            f"Got {shown(weight)} as a weight."
        )
    return float(weight)


def _checked(index: NDArray[np.int64], weight: NDArray[np.float64], variables: Any) -> Target:
    """Refuse weights that no bound belongs to."""
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            "The 'target' parameter must hold finite weights that are not negative. Got "
            f"{weight[place]} for variable {variables.names[int(index[place])]!r}."
        )
    index, weight = index[weight > 0], weight[weight > 0]
    if not len(index):
        raise ValueError(
            "The 'target' parameter must give a positive weight to a variable. Got none."
        )
    if variables.evidence is not None and (variables.evidence[index] >= 0).any():
        place = int(index[np.argmax(variables.evidence[index] >= 0)])
        raise ValueError(
            "The 'target' parameter must not hold a clamped variable, whose value is known. Got "
            f"{variables.names[place]!r}."
        )
    return Target(index, weight)
