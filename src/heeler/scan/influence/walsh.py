"""Theorem 12 as it is printed: coefficients of products of spins. For comparison."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.scan.influence.matrix import Influence


def theorem_12(model: Model, beta: float) -> Influence:
    """Bound the influence in a binary model by Theorem 12 of the paper.

    Parameters
    ----------
    model
        A model of binary variables without zeros.
    beta
        The inverse temperature.

    Returns
    -------
    Influence
        The matrix; entries may be above 1.
    """
    if not (np.asarray(model.cardinalities) == 2).all() or model.has_zeros:
        raise ValueError(
            "The method 'theorem 12' needs variables of two values and no zeros. Use method='auto'."
        )
    n = model.n_variables
    alone = np.zeros(n)  # theta_i
    together = np.zeros(n)  # sum of |theta_S| over the larger sets with i
    pairs: dict[tuple[int, int], float] = {}
    for subset, coefficient in coefficients(model).items():
        theta = beta * coefficient
        if len(subset) == 1:
            alone[subset[0]] = theta
            continue
        for i in subset:
            together[i] += abs(theta)
            for j in subset:
                if i != j:
                    pairs[i, j] = pairs.get((i, j), 0.0) + abs(theta)
    places = sorted(pair for pair, weight in pairs.items() if weight > 0)
    ends = np.array(places, np.int64).reshape(-1, 2)
    weight = np.array([pairs[pair] for pair in places])
    i = ends[:, 0]
    rest = together[i] - weight
    with np.errstate(over="ignore", invalid="ignore"):
        b = np.maximum(
            np.exp(-2 * rest - 2 * alone[i]), np.minimum(np.exp(2 * rest - 2 * alone[i]), 1.0)
        )
        value = 2 * np.sinh(2 * weight) * b / (1 + b) ** 2
    value = np.where(np.isfinite(value), value, np.inf)
    pointer = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(i, minlength=n), out=pointer[1:])
    return Influence.from_rows(
        pointer,
        ends[:, 1].astype(np.int32),
        value * (1 + 1e-14),
        method="theorem 12",
        model=model,
        temperature=1.0 / beta,
    )


def coefficients(model: Model) -> dict[tuple[int, ...], float]:
    """Write the log weight of a binary model as a sum of products of spins.

    Parameters
    ----------
    model
        A model of binary variables without zeros; clamped variables are fixed.

    Returns
    -------
    dict
        Sorted free variables -> theta; the empty set is left out.
    """
    graph: Any = model.to_factor_graph()
    evidence = model.evidence
    total: dict[tuple[int, ...], float] = {}
    clamped = np.full(model.n_variables, -1) if evidence is None else evidence
    for variables, table in graph.factors:
        fixed = tuple(slice(None) if clamped[v] < 0 else int(clamped[v]) for v in variables)
        scope = [v for v in variables if clamped[v] < 0]
        theta = _transformed(np.asarray(table[fixed]))
        for place in np.ndindex(theta.shape):
            subset = tuple(sorted(v for v, there in zip(scope, place, strict=True) if there))
            if subset:
                total[subset] = total.get(subset, 0.0) + float(theta[place])
    return total


def _transformed(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take means and half differences along every axis: the transform of Walsh and Hadamard."""
    for axis in range(table.ndim):
        down, up = np.take(table, 0, axis), np.take(table, 1, axis)
        table = np.stack(((up + down) / 2, (up - down) / 2), axis)
    return table
