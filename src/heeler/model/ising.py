"""Ising models on any graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.check import as_field, as_finite, frozen, same_cardinalities
from heeler.model.couplings import count_variables, read_edges
from heeler.model.factor_graph import FactorGraph
from heeler.model.graph import symmetric_rows
from heeler.model.pairwise import Pairwise, pair_factor_graph, scaled_rows, settle_names

# s_i s_j for values 0 and 1 of two spins.
SPIN_PRODUCT = np.array([[1.0, -1.0], [-1.0, 1.0]])


class Ising(Pairwise):
    """Spins with pair couplings and fields; made by `heeler.ising`.

    p(s) is proportional to exp(sum over pairs i < j of J_ij s_i s_j + sum of h_i s_i), where the
    spin of value x is s = 2 x - 1.

    Attributes
    ----------
    pointer, column, coupling : ndarray
        The couplings in symmetric compressed rows.
    field : ndarray
        float64 (n,).
    """

    kind = "ising"
    field: NDArray[np.float64]

    def to_factor_graph(self) -> FactorGraph:
        """Give the same distribution, evidence kept, as a factor graph."""
        unary = scaled_rows(self.field, (-1.0, 1.0))
        return pair_factor_graph(self, unary, self.edges(), SPIN_PRODUCT)

    def _parts(self) -> dict[str, Any]:
        """Give the defining arrays."""
        return {name: self.__dict__[name] for name in ("pointer", "column", "coupling", "field")}

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Add fields and couplings."""
        first, second, coupling = self.edges()
        spins = 2.0 * states - 1.0
        return spins @ self.field + (spins[:, first] * spins[:, second]) @ coupling

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Give -h and +h for the local field h."""
        near, coupling = self._row(variable)
        local = self.field[variable] + (2.0 * states[:, near] - 1.0) @ coupling
        return np.stack((-local, local), axis=1)


def ising(
    couplings: Any,
    field: ArrayLike = 0.0,
    *,
    n_variables: int | None = None,
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> Ising:
    """Make an Ising model: p(s) ~ exp(sum over pairs i < j of J_ij s_i s_j + sum of h_i s_i).

    Parameters
    ----------
    couplings
        J: a SciPy sparse or dense matrix (symmetric, or triangular with each pair once), a tuple
        ``(i, j, J)`` of arrays, a list of tuples ``(i, j, J)`` or a mapping ``{(i, j): J}``, each
        unordered pair once. Zeros of a matrix are no pairs.
    field
        h: one number, or one per variable.
    n_variables
        The number of variables, where a list of edges does not tell it.
    names, value_names
        Names of the variables and of their values; value 0 is spin -1, value 1 is spin +1.

    Returns
    -------
    Ising
        The model.
    """
    edges = read_edges(couplings)
    names = settle_names(names)
    fields = as_finite(field, "field")
    length = len(fields) if fields.ndim == 1 else None
    count = count_variables(edges, n_variables, names, length)
    cardinalities = same_cardinalities(count, 2)
    rows = symmetric_rows(count, edges.first, edges.second, edges.value)
    pointer, column, coupling = map(frozen, rows)
    return Ising(
        cardinalities,
        names,
        value_names,
        pointer=pointer,
        column=column,
        coupling=coupling,
        field=as_field(fields, count, "field"),
    )
