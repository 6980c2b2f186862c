"""Restricted Boltzmann machines: two layers of units, couplings between them only."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.base import Model
from heeler.model.boltzmann import UNIT_PRODUCT
from heeler.model.check import as_field, as_finite, frozen, same_cardinalities
from heeler.model.factor_graph import FactorGraph
from heeler.model.graph import compress_rows
from heeler.model.pairwise import pair_factor_graph, scaled_rows


class RBM(Model):
    """A restricted Boltzmann machine; made by `heeler.rbm`.

    p(v, h) is proportional to exp(v' W h + a' v + b' h) with units in {0, 1}. The visible units are
    the first variables, the hidden ones follow.

    Attributes
    ----------
    weights : ndarray
        float64 (visible, hidden).
    bias : ndarray
        float64 (visible + hidden,).
    """

    kind = "rbm"
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    @property
    def n_visible(self) -> int:
        """The number of visible units."""
        return self.weights.shape[0]

    @property
    def n_hidden(self) -> int:
        """The number of hidden units."""
        return self.weights.shape[1]

    @property
    def visible_bias(self) -> NDArray[np.float64]:
        """The biases of the visible units."""
        return self.bias[: self.n_visible]

    @property
    def hidden_bias(self) -> NDArray[np.float64]:
        """The biases of the hidden units."""
        return self.bias[self.n_visible :]

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows: the non-zero weights."""
        visible, hidden = np.nonzero(self.weights)
        hidden = hidden + self.n_visible
        ends = np.concatenate((visible, hidden)), np.concatenate((hidden, visible))
        return compress_rows(self.n_variables, *ends)

    def to_factor_graph(self) -> FactorGraph:
        """Give the same distribution, evidence kept, as a factor graph."""
        visible, hidden = np.nonzero(self.weights)
        edges = visible, hidden + self.n_visible, self.weights[visible, hidden]
        return pair_factor_graph(self, scaled_rows(self.bias, (0.0, 1.0)), edges, UNIT_PRODUCT)

    def _sizes(self) -> list[str]:
        """List the sizes of the layers."""
        return [f"{self.n_visible} visible", f"{self.n_hidden} hidden"]

    def _parts(self) -> dict[str, Any]:
        """Give the defining arrays."""
        return {"weights": self.weights, "bias": self.bias}

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Compute v' W h + a' v + b' h."""
        units = states.astype(np.float64)
        visible, hidden = units[:, : self.n_visible], units[:, self.n_visible :]
        return ((visible @ self.weights) * hidden).sum(axis=1) + units @ self.bias

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Give 0 and the activation by the other layer."""
        if variable < self.n_visible:
            activation = states[:, self.n_visible :] @ self.weights[variable]
        else:
            activation = states[:, : self.n_visible] @ self.weights[:, variable - self.n_visible]
        activation = activation + self.bias[variable]
        return np.stack((np.zeros_like(activation), activation), axis=1)

    def _blanket(self, variable: int) -> NDArray[np.int32]:
        """List the units of the other layer with a weight to this one."""
        if variable < self.n_visible:
            return (np.flatnonzero(self.weights[variable]) + self.n_visible).astype(np.int32)
        return np.flatnonzero(self.weights[:, variable - self.n_visible]).astype(np.int32)


def rbm(
    weights: ArrayLike,
    visible_bias: ArrayLike = 0.0,
    hidden_bias: ArrayLike = 0.0,
    *,
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> RBM:
    """Make a restricted Boltzmann machine: p(v, h) ~ exp(v' W h + a' v + b' h), units in {0, 1}.

    Parameters
    ----------
    weights
        W, shape (visible, hidden).
    visible_bias, hidden_bias
        a and b: one number, or one per unit.
    names, value_names
        Names of the units, visible ones first, and of their values.

    Returns
    -------
    RBM
        The model.
    """
    array = as_finite(weights, "weights")
    if array.ndim != 2:
        raise ValueError(
            "The 'weights' parameter must have shape (visible, hidden). "
            f"Got an array of shape {array.shape} instead."
        )
    visible = as_field(visible_bias, array.shape[0], "visible_bias")
    hidden = as_field(hidden_bias, array.shape[1], "hidden_bias")
    return RBM(
        same_cardinalities(sum(array.shape), 2),
        names,
        value_names,
        weights=frozen(array.copy()),
        bias=frozen(np.concatenate((visible, hidden))),
    )
