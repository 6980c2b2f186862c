"""The scans as a user names them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model


@dataclass(frozen=True, eq=False)
class Scan:
    """An order of updates; one time through it is a pass."""

    @property
    def name(self) -> str:
        """The scan's name as a user writes it."""
        return type(self).__name__.lower()

    @property
    def deterministic(self) -> bool:
        """Whether every pass visits the same variables in the same order."""
        return True


@dataclass(frozen=True, eq=False)
class Systematic(Scan):
    """All free variables in the model's order."""


@dataclass(frozen=True, eq=False)
class Reversed(Scan):
    """All free variables in the reverse of the model's order."""


@dataclass(frozen=True, eq=False)
class Chromatic(Scan):
    """Colour class by colour class: the members of a class do not touch, so they go in parallel."""


@dataclass(frozen=True, eq=False)
class Jacobi(Scan):
    """All variables at once from the old state: approximate, the distribution is not invariant."""


@dataclass(frozen=True, eq=False)
class Shuffled(Scan):
    """All free variables in a new random order every pass."""

    @property
    def deterministic(self) -> bool:
        """Whether every pass visits the same variables in the same order."""
        return False


@dataclass(frozen=True, eq=False)
class Uniform(Scan):
    """Independent uniform draws of a free variable, as many a pass as there are.

    Parameters
    ----------
    steps
        Updates of a pass; None stands for the number of free variables.
    """

    steps: int | None = None

    @property
    def deterministic(self) -> bool:
        """Whether every pass visits the same variables in the same order."""
        return False


@dataclass(frozen=True, eq=False)
class Weighted(Scan):
    """Independent draws of a variable with given weights.

    Parameters
    ----------
    weights
        One number a variable, not negative; clamped variables are left out.
    steps
        Updates of a pass; None stands for the number of free variables.
    """

    weights: Any
    steps: int | None = None

    @property
    def deterministic(self) -> bool:
        """Whether every pass visits the same variables in the same order."""
        return False

    def checked(self, model: Model) -> NDArray[np.float64]:
        """Check the weights against a model.

        Parameters
        ----------
        model
            The model to be scanned.

        Returns
        -------
        ndarray
            float64 (n,), 0 for clamped variables.
        """
        try:
            weights = np.asarray(self.weights, np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if (
            weights.shape != (model.n_variables,)
            or not np.isfinite(weights).all()
            or (weights < 0).any()
        ):
            raise ValueError(
                f"The 'weights' parameter must be {model.n_variables} finite numbers >= 0. "
                f"Got {_shown(weights)} instead."
            )
        weights = weights.copy()
        if model.evidence is not None:
            weights[model.evidence >= 0] = 0.0
        if not weights.any():
            raise ValueError(
                "The 'weights' parameter must be positive for a free variable. Got zeros only."
            )
        return weights


@dataclass(frozen=True, eq=False)
class Sequence(Scan):
    """The given variables in the given order, repeats allowed.

    Parameters
    ----------
    order
        Names or indices of variables.
    """

    order: Any

    def checked(self, model: Model) -> NDArray[np.int64]:
        """Resolve the variables' names.

        Parameters
        ----------
        model
            The model to be scanned.

        Returns
        -------
        ndarray
            int64 indices.
        """
        if (
            isinstance(self.order, np.ndarray)
            and self.order.dtype.kind in "iu"
            and self.order.ndim == 1
        ):
            order = self.order.astype(np.int64)
            bad = np.flatnonzero((order < 0) | (order >= model.n_variables))
            if bad.size:
                raise ValueError(
                    f"The 'scan' parameter must hold variables from 0 to {model.n_variables - 1}. "
                    f"Got {order[bad[0]]} at position {bad[0]}."
                )
        else:
            order = np.array([model.index(v) for v in self.order], np.int64)
        if order.size == 0:
            raise ValueError(
                "The 'scan' parameter must name at least one variable. Got an empty sequence."
            )
        if model.evidence is not None:
            clamped = np.flatnonzero(model.evidence[order] >= 0)
            if clamped.size:
                raise ValueError(
                    f"The 'scan' parameter must not update a clamped variable. Got "
                    f"{model.names[int(order[clamped[0]])]!r} at position {clamped[0]}."
                )
        return order


_BY_NAME: dict[str, type[Scan]] = {
    "systematic": Systematic,
    "reversed": Reversed,
    "shuffled": Shuffled,
    "uniform": Uniform,
    "chromatic": Chromatic,
    "jacobi": Jacobi,
}


def as_scan(scan: Any) -> Scan:
    """Read a scan.

    Parameters
    ----------
    scan
        An object, a name (``"systematic"``, ``"reversed"``, ``"shuffled"``, ``"uniform"``,
        ``"chromatic"``, ``"jacobi"``), or a sequence of variables.

    Returns
    -------
    Scan
        The scan.
    """
    if isinstance(scan, Scan):
        return scan
    if isinstance(scan, str):
        if scan in _BY_NAME:
            return _BY_NAME[scan]()
    elif isinstance(scan, (np.ndarray, Iterable)):
        return Sequence(scan if isinstance(scan, np.ndarray) else list(scan))
    raise ValueError(
        f"The 'scan' parameter must be 'auto', one of {', '.join(map(repr, _BY_NAME))}, a sequence "
        f"of variables or a Scan. Got {scan!r} instead."
    )


def _shown(array: NDArray) -> str:
    """Describe an array in an error message."""
    return f"an array of shape {array.shape}"
