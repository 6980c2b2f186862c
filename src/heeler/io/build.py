"""From what a file says to a model: the models' own refusals become the reader's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heeler.io.errors import ReadError

if TYPE_CHECKING:
    from heeler.model.bayes_net import BayesNet
    from heeler.model.factor_graph import FactorGraph

__all__ = ["build_model"]


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
    from heeler.model.bayes_net import bayes_net
    from heeler.model.factor_graph import factor_graph

    named: dict[str, Any] = {"names": names, "value_names": value_names}
    try:
        if cpts is None:
            return factor_graph(cardinalities, factors or [], log=log, **named)
        return bayes_net(cardinalities, cpts, **named)
    except ValueError as error:
        raise ReadError(f"expected the description of a model: {error}", path) from error
