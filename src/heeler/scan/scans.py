"""The scans as a user names them."""

from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True, eq=False)
class Steps(Scan):
    """Steps of any kind: a variable, or a draw of a variable with probabilities of that step.

    Parameters
    ----------
    steps
        One entry a step: a variable (name or index), a mapping from variables to probabilities, or
        an array of one probability per variable. A matrix (steps, n) stands for its rows.
    """

    steps: Any

    @property
    def deterministic(self) -> bool:
        """Whether every pass visits the same variables in the same order."""
        return not any(_is_draw(step) for step in self.steps)

    def checked(self, model: Any) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Resolve the variables' names.

        Parameters
        ----------
        model
            The model to be scanned.

        Returns
        -------
        list
            For each step the variables that it may update, ascending, and their probabilities,
            which add up to 1. A step given twice as the same object is the same entry.
        """
        known: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        result = []
        for place, step in enumerate(self.steps):
            if not _is_draw(step):
                (site,) = Sequence([step]).checked(model)
                result.append((np.array([site]), np.ones(1)))
                continue
            if isinstance(self.steps, np.ndarray):  # rows of a matrix are new objects each time
                result.append(_as_draw(step, place, model))
                continue
            if id(step) not in known:
                known[id(step)] = _as_draw(step, place, model)
            result.append(known[id(step)])
        if not result:
            raise ValueError(
                "The 'scan' parameter must have at least one step. Got an empty sequence."
            )
        return result


def _is_draw(step: Any) -> bool:
    """Say whether an entry of steps holds probabilities."""
    return isinstance(step, Mapping) or (isinstance(step, np.ndarray) and step.ndim > 0)


def _as_draw(step: Any, place: int, model: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Check the probabilities of one step."""
    n = model.n_variables
    weights = np.zeros(n)
    if isinstance(step, Mapping):
        for variable, weight in step.items():
            weights[model.index(variable)] += weight
    elif step.shape != (n,):
        raise ValueError(
            f"The 'scan' parameter must give {n} probabilities a step. Got "
            f"{_shown(step)} at step {place}."
        )
    else:
        weights[:] = step
    if not np.isfinite(weights).all() or (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError(
            "The 'scan' parameter must give probabilities that add up to 1. Got "
            f"{weights.min()} to {weights.max()} with sum {weights.sum()} at step {place}."
        )
    sites = np.flatnonzero(weights)
    if model.evidence is not None and (model.evidence[sites] >= 0).any():
        name = model.names[int(sites[np.argmax(model.evidence[sites] >= 0)])]
        raise ValueError(
            f"The 'scan' parameter must not update a clamped variable. Got {name!r} at step "
            f"{place}."
        )
    return sites, weights[sites] / weights.sum()


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
        ``"chromatic"``, ``"jacobi"``, ``"dogs"``), a sequence of variables, or one of steps (see
        `Steps`).

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
        if scan == "dogs":
            from heeler.scan.dogs import DoGS

            return DoGS()
    elif isinstance(scan, np.ndarray):
        return Steps(scan) if scan.ndim == 2 else Sequence(scan)
    elif isinstance(scan, Iterable) and not isinstance(scan, Mapping):
        steps = list(scan)
        return Steps(steps) if any(map(_is_draw, steps)) else Sequence(steps)
    raise ValueError(
        f"The 'scan' parameter must be 'auto', one of {', '.join(map(repr, _BY_NAME))}, 'dogs', a "
        f"sequence of variables or a Scan. Got {scan!r} instead."
    )


def _shown(array: NDArray) -> str:
    """Describe an array in an error message."""
    return f"an array of shape {array.shape}"
