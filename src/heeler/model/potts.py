"""Potts models on any graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.check import as_log_weights, frozen, repeated, same_cardinalities, shown
from heeler.model.couplings import count_variables, read_edges
from heeler.model.factor_graph import FactorGraph
from heeler.model.graph import symmetric_rows
from heeler.model.pairwise import Pairwise, pair_factor_graph, settle_names


class Potts(Pairwise):
    """Variables of K values that like or dislike to agree; made by `heeler.potts`.

    p(x) is proportional to exp(sum over pairs i < j of J_ij [x_i = x_j] + sum of h_i(x_i)).

    Attributes
    ----------
    pointer, column, coupling : ndarray
        The couplings in symmetric compressed rows.
    field : ndarray
        float64 (n, K); -inf forbids a value. One row given for all is stored once.
    """

    kind = "potts"
    field: NDArray[np.float64]

    @property
    def has_zeros(self) -> bool:
        """Whether the field forbids a value."""
        return self._cached("_has_zeros", lambda: bool(np.isneginf(self.field).any()))

    def to_factor_graph(self) -> FactorGraph:
        """Give the same distribution, evidence kept, as a factor graph."""
        if self.field.strides[0] == 0:
            unary = self.field[:1], np.zeros(self.n_variables, np.int64)
        else:
            rows, row_of = np.unique(self.field, axis=0, return_inverse=True)
            unary = rows, row_of.reshape(-1)
        return pair_factor_graph(self, unary, self.edges(), np.eye(self.field.shape[1]))

    def _sizes(self) -> list[str]:
        """List numbers of values and pairs."""
        return [f"{self.field.shape[1]} values each", *super()._sizes()]

    def _parts(self) -> dict[str, Any]:
        """Give the defining arrays."""
        return {name: self.__dict__[name] for name in ("pointer", "column", "coupling", "field")}

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Add fields and the couplings of agreeing pairs."""
        first, second, coupling = self.edges()
        fields = self.field[np.arange(self.n_variables), states].sum(axis=1)
        return fields + (states[:, first] == states[:, second]) @ coupling

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Add each neighbour's coupling to the value it has."""
        near, coupling = self._row(variable)
        values = np.arange(self.field.shape[1])
        agree = states[:, None, near] == values[:, None]
        return self.field[variable] + agree @ coupling


def potts(
    couplings: Any,
    n_values: int | None = None,
    field: ArrayLike | None = None,
    *,
    n_variables: int | None = None,
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> Potts:
    """Make a Potts model: p(x) ~ exp(sum over i < j of J_ij [x_i = x_j] + sum of h_i(x_i)).

    Parameters
    ----------
    couplings
        J, as in `heeler.ising`: positive couplings make neighbours agree.
    n_values
        K, the number of values of every variable; may be left out where the field tells it.
    field
        h: log weights of the values, shape (n, K), or (K,) for all variables alike; -inf forbids
        a value.
    n_variables
        The number of variables, where a list of edges does not tell it.
    names, value_names
        Names of the variables and of their values.

    Returns
    -------
    Potts
        The model.
    """
    edges = read_edges(couplings)
    names = settle_names(names)
    weights = None if field is None else as_log_weights(field, "field")
    if weights is not None and weights.ndim not in (1, 2):
        raise ValueError(
            "The 'field' parameter must have shape (n, K) or (K,). "
            f"Got an array of shape {weights.shape} instead."
        )
    if n_values is None:
        if weights is None:
            raise ValueError("The 'n_values' parameter is needed where no field tells it.")
        n_values = weights.shape[-1]
    if isinstance(n_values, bool) or not isinstance(n_values, int | np.integer):
        raise TypeError(
            f"The 'n_values' parameter must be an integer. Got {shown(n_values)} instead."
        )
    length = len(weights) if weights is not None and weights.ndim == 2 else None
    count = count_variables(edges, n_variables, names, length)
    cardinalities = same_cardinalities(count, int(n_values))
    rows = symmetric_rows(count, edges.first, edges.second, edges.value)
    pointer, column, coupling = map(frozen, rows)
    return Potts(
        cardinalities,
        names,
        value_names,
        pointer=pointer,
        column=column,
        coupling=coupling,
        field=_full_field(weights, count, int(n_values)),
    )


def _full_field(
    weights: NDArray[np.float64] | None, count: int, n_values: int
) -> NDArray[np.float64]:
    """Show a field as (n, K); one row for all variables is stored once."""
    if weights is None:
        weights = np.zeros(n_values)
    if weights.shape not in ((n_values,), (count, n_values)):
        raise ValueError(
            f"The 'field' parameter must have shape ({count}, {n_values}) or ({n_values},). "
            f"Got an array of shape {weights.shape} instead."
        )
    forbidden = np.isneginf(weights).all(axis=-1)
    if forbidden.any():
        raise ValueError(
            "The 'field' parameter must leave every variable a value. "
            f"Got a row of -inf for variable {int(np.argmax(forbidden))}."
        )
    if weights.ndim == 1:
        return repeated(weights, (count, n_values))
    return frozen(weights.copy())
