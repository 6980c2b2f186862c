"""Boltzmann machines: dense couplings of units that are 0 or 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.base import Model
from heeler.model.check import as_field, as_finite, frozen, same_cardinalities
from heeler.model.factor_graph import FactorGraph
from heeler.model.graph import compress_rows
from heeler.model.pairwise import pair_factor_graph, scaled_rows

# x_i x_j for two units.
UNIT_PRODUCT = np.array([[0.0, 0.0], [0.0, 1.0]])


class Boltzmann(Model):
    """A Boltzmann machine; made by `heeler.boltzmann`.

    p(x) is proportional to exp(x' W x / 2 + b' x) with units x in {0, 1}.

    Attributes
    ----------
    weights : ndarray
        float64 (n, n), symmetric, zero diagonal.
    bias : ndarray
        float64 (n,).
    """

    kind = "boltzmann"
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows: the non-zero weights."""
        return compress_rows(self.n_variables, *np.nonzero(self.weights))

    def to_factor_graph(self) -> FactorGraph:
        """Give the same distribution, evidence kept, as a factor graph."""
        first, second = np.nonzero(np.triu(self.weights))
        edges = first, second, self.weights[first, second]
        return pair_factor_graph(self, scaled_rows(self.bias, (0.0, 1.0)), edges, UNIT_PRODUCT)

    def _sizes(self) -> list[str]:
        """List the number of pairs."""
        return [f"{np.count_nonzero(self.weights) // 2} pairs"]

    def _parts(self) -> dict[str, Any]:
        """Give the defining arrays."""
        return {"weights": self.weights, "bias": self.bias}

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Compute x' W x / 2 + b' x."""
        units = states.astype(np.float64)
        return ((units @ self.weights) * units).sum(axis=1) / 2 + units @ self.bias

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Give 0 and the activation; the zero diagonal leaves the unit itself out."""
        activation = states @ self.weights[variable] + self.bias[variable]
        return np.stack((np.zeros_like(activation), activation), axis=1)

    def _blanket(self, variable: int) -> NDArray[np.int32]:
        """List the units with a weight to this one."""
        return np.flatnonzero(self.weights[variable]).astype(np.int32)


def boltzmann(
    weights: ArrayLike,
    bias: ArrayLike = 0.0,
    *,
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> Boltzmann:
    """Make a Boltzmann machine: p(x) ~ exp(x' W x / 2 + b' x), x in {0, 1}.

    Parameters
    ----------
    weights
        W, shape (n, n), symmetric with a zero diagonal.
    bias
        b: one number, or one per unit.
    names, value_names
        Names of the units and of their values.

    Returns
    -------
    Boltzmann
        The model.
    """
    array = as_finite(weights, "weights")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(
            "The 'weights' parameter must be a square matrix. "
            f"Got an array of shape {array.shape} instead."
        )
    cardinalities = same_cardinalities(len(array), 2)
    diagonal = np.flatnonzero(np.diagonal(array))
    if diagonal.size:
        raise ValueError(
            "The 'weights' parameter must have a zero diagonal (a unit's own weight is a bias). "
            f"Got {array[diagonal[0], diagonal[0]]} for unit {diagonal[0]}."
        )
    different = array != array.T
    if different.any():
        i, j = (int(k) for k in np.argwhere(different)[0])
        raise ValueError(
            "The 'weights' parameter must be symmetric. "
            f"Got {array[i, j]} at ({i}, {j}) and {array[j, i]} at ({j}, {i})."
        )
    return Boltzmann(
        cardinalities,
        names,
        value_names,
        weights=frozen(array.copy()),
        bias=as_field(bias, len(array), "bias"),
    )
