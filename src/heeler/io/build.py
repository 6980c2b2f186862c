"""From what a file says to a model: the models' own refusals become the reader's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heeler.io.errors import ReadError

if TYPE_CHECKING:
    from heeler.model import BayesNet, FactorGraph

__all__ = ["build_model"]

# Published networks have tables rounded to a few digits; a row further from 1 is a mistake.
_ROW_TOLERANCE = 1e-2


def build_model(
    path: str,
    cardinalities: np.ndarray,
    factors: list[tuple[tuple[int, ...], np.ndarray]] | None = None,
    *,
    cpts: list[tuple[int, tuple[int, ...], np.ndarray]] | None = None,
    names: Sequence[str] | None = None,
    value_names: Sequence[Sequence[str]] | None = None,
    log: bool = False,
) -> FactorGraph | BayesNet:
    """Return the model that a file describes.

    Parameters
    ----------
    path : str
        The file's name, for messages.
    cardinalities : array of int
        How many values each variable has.
    factors : list of (scope, table), optional
        The factors of a factor graph.
    cpts : list of (child, parents, table), optional
        The tables of a Bayesian network, the child's axis last; given instead of `factors`.
    names : sequence of str, optional
        The variables' names.
    value_names : sequence of sequences of str, optional
        The values' names.
    log : bool
        Whether the factors' tables are natural logarithms.

    Returns
    -------
    FactorGraph or BayesNet
        The model.

    Raises
    ------
    ReadError
        If no model can be made of it.
    """
    import heeler

    named: dict[str, Any] = {"names": names, "value_names": value_names}
    try:
        if cpts is None:
            return heeler.factor_graph(cardinalities, factors, log=log, **named)
        rows = [(child, parents, _normalised(table, child, path)) for child, parents, table in cpts]
        return heeler.bayes_net(cardinalities, rows, **named)
    except ReadError:
        raise
    except ValueError as error:
        raise ReadError(f"expected the description of a model: {error}", path) from error


def _normalised(table: np.ndarray, child: int, path: str) -> np.ndarray:
    """Return a child's table with rows that sum to 1 as closely as floats can."""
    sums = table.sum(axis=-1, keepdims=True)
    wrong = ~(np.abs(sums - 1.0) <= _ROW_TOLERANCE)
    if wrong.any():
        value = float(sums[wrong][0])
        message = f"expected the probabilities of variable {child} to sum to 1, found {value:g}"
        raise ReadError(message, path)
    # Dividing by a sum that is 1 but for rounding would change numbers that were exact.
    return np.where(np.abs(sums - 1.0) <= 1e-12, table, table / sums)
