"""`heeler.herded_bounds`: which theorem speaks about a herded run, or why none does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Full, Neighbours, Radius, as_context
from heeler.estimate.herded.complete import UNIT, FullBounds, complete_bounds
from heeler.estimate.herded.empty import EmptyBounds, empty_bounds
from heeler.kernel.orders import order_of
from heeler.model.base import Model
from heeler.run.settings import as_temperature
from heeler.scan import Jacobi, Shuffled, Uniform, Weighted, as_scan

# Weights are kept by neighbours up to so many bits of assignments; then "auto" goes to bins.
MOST_NEIGHBOURS = 8


def herded_bounds(
    model: Model,
    *,
    scan: Any = "systematic",
    context: Any = "auto",
    temperature: float = 1.0,
    denominator: int = 64,
    tolerance: float = 1e-12,
) -> FullBounds | EmptyBounds:
    """Compute everything that is proved about a herded run.

    For contexts of all other variables (complete graphs, or ``context="full"``): a bound that needs
    neither burn-in nor a least T, and for binary variables Theorem 2, Corollary 10 and Proposition
    7 of the paper with their constants. For independent binary variables: Lemma 3 and Theorem 1.
    With more than two values the rule must be ``argmax``, which is the default.

    Parameters
    ----------
    model
        The model, evidence included.
    scan
        A fixed order in which every free variable comes once.
    context
        As in `heeler.sample`.
    temperature
        One temperature.
    denominator, tolerance
        Theorem 1's condition is decided for integer coefficients up to `denominator`, a sum
        counting as zero up to `tolerance`.

    Returns
    -------
    CompleteBounds, FullBounds or EmptyBounds
        The bounds: `CompleteBounds` for binary variables with full contexts.

    Raises
    ------
    ValueError
        Where no theorem applies; the message says why.
    """
    found = find_bounds(
        model, scan, context, temperature, denominator=denominator, tolerance=tolerance
    )
    if isinstance(found, str):
        message = f"Nothing is proved about this herded run: {found}."
        raise ValueError(message)  # noqa: TRY004 (the reason is a text, the type is right)
    return found


def find_bounds(
    model: Model,
    scan: Any,
    context: Any,
    temperature: Any,
    *,
    denominator: int = 64,
    tolerance: float = 1e-12,
) -> FullBounds | EmptyBounds | str:
    """Look for the theorem that applies; the reason where there is none.

    Parameters
    ----------
    model, scan, context, temperature, denominator, tolerance
        As in `herded_bounds`.

    Returns
    -------
    FullBounds, EmptyBounds or str
        The bounds, or why there are none.
    """
    if not isinstance(model, Model):
        raise TypeError(f"The 'model' parameter must be a heeler model. Got {model!r} instead.")
    if isinstance(denominator, bool) or not isinstance(denominator, int) or denominator < 1:
        raise ValueError(
            "The 'denominator' parameter must be a whole number of at least 1. "
            f"Got {denominator!r} instead."
        )
    if not 0 < tolerance < 1:
        raise ValueError(
            f"The 'tolerance' parameter must be between 0 and 1. Got {tolerance!r} instead."
        )
    heat = as_temperature(temperature, None)
    if isinstance(heat, np.ndarray):
        return "the theorems need one temperature"
    free = model.free
    if not len(free):
        return "all variables are clamped"
    binary = bool((np.asarray(model.cardinalities)[free] == 2).all())
    order = fixed_order(model, scan)
    if isinstance(order, str):
        return order
    wanted = as_context(context)
    degrees = free_degrees(model)
    if not (degrees.any() or binary or isinstance(wanted, Full)):
        return "for independent variables of more than two values use context='full'"
    if not degrees.any() and not isinstance(wanted, Full):
        return empty_bounds(model, heat, denominator, tolerance)
    reason = _not_full(model, wanted, degrees)
    if reason is not None:
        return reason
    return complete_bounds(model, order.tolist(), heat, _rounding(model, heat))


def fixed_order(model: Model, scan: Any) -> NDArray[np.int64] | str:
    """Give the order of a sweep, or say why there is no fixed one.

    Parameters
    ----------
    model, scan
        As in `herded_bounds`.

    Returns
    -------
    ndarray or str
        int64 variables, each free one once; or the reason.
    """
    chosen = as_scan("systematic" if isinstance(scan, str) and scan == "auto" else scan)
    if isinstance(chosen, (Shuffled, Uniform, Weighted, Jacobi)) or not chosen.deterministic:
        return f"the theorems need a fixed order of updates, and the scan is {chosen.name!r}"
    order, _ = order_of(chosen, model)
    if len(order) != len(model.free) or len(np.unique(order)) != len(order):
        return "the theorems need a scan in which every free variable comes exactly once"
    return order


def free_degrees(model: Model) -> NDArray[np.int64]:
    """Count the free neighbours of every free variable.

    Parameters
    ----------
    model
        The model.

    Returns
    -------
    ndarray
        int64 (free,).
    """
    pointer, index = model.adjacency()
    inside = np.zeros(model.n_variables, np.int64)
    inside[model.free] = 1
    totals = np.concatenate([[0], np.cumsum(inside[index])])
    return (totals[pointer[1:]] - totals[pointer[:-1]])[model.free]


def _not_full(model: Model, context: Any, degrees: NDArray[np.int64]) -> str | None:
    """Say why weights are not keyed by all other variables, if they are not."""
    if isinstance(context, Full):
        return None
    if (degrees < len(degrees) - 1).any():
        return (
            "the graph is not complete, and whether herding converges with contexts of "
            "neighbours is an open question; context='full' has a bound where there are at most "
            "10 free variables"
        )
    if context is None:
        pointer, index = model.adjacency()
        tabled = model.kind not in ("boltzmann", "rbm")
        values = np.log2(np.asarray(model.cardinalities, np.float64))[index]
        around = np.concatenate([[0.0], np.cumsum(values)])
        most = (around[pointer[1:]] - around[pointer[:-1]])[model.free].max()
        if tabled and most <= MOST_NEIGHBOURS + 1e-9:
            return None
        return "the context 'auto' stands for bins here, about which nothing is proved"
    if isinstance(context, (Neighbours, Radius)):
        return None
    return f"nothing is proved about the context {context.name!r}"


def _rounding(model: Model, temperature: float) -> float:
    """Bound how far the machine's conditionals may be from the model's."""
    if model.kind in ("boltzmann", "rbm"):
        # Weights are whole steps of 2^-30 of the largest; a sigmoid's slope is at most 1/4.
        graph: Any = model.to_factor_graph()
        finite = np.abs(graph.log_tables[np.isfinite(graph.log_tables)]).max(initial=0.0)
        return UNIT + model.n_variables * finite * 2.0**-33 / temperature
    pointer, _ = model.adjacency()
    if model.kind not in ("ising", "lattice") and np.diff(pointer).max() > MOST_NEIGHBOURS:
        return 4 * UNIT  # two values as integers that add up to 2^30
    most = int(np.asarray(model.cardinalities).max())
    return UNIT if most == 2 else most * 4 * UNIT
