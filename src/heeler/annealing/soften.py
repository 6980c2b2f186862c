"""Models with zeros, made positive: the chains of annealing need a way from every state."""

from __future__ import annotations

from typing import Any

import numpy as np

from heeler.model import Model

# A zero becomes so much less, as a log weight, than the least positive entry of its table. Less
# would close the ways; more leaves too few chains in the support at the end.
SOFT = 7.0


def softened(model: Model) -> Model:
    """Give a positive model that agrees with a model wherever that one is positive.

    Parameters
    ----------
    model
        The model.

    Returns
    -------
    Model
        The same where it has no zeros, else a factor graph.
    """
    if not model.has_zeros:
        return model
    from heeler.model.factor_graph import factor_graph

    graph: Any = model.to_factor_graph()
    made: dict[int, Any] = {}  # tables that are shared stay shared
    factors = []
    for (scope, table), number in zip(graph.factors, graph.table_of.tolist(), strict=True):
        if number not in made:
            array = np.array(table, np.float64)
            finite = np.isfinite(array)
            low = array[finite].min() if finite.any() else 0.0
            array[~finite] = low - SOFT
            made[number] = array
        factors.append((scope, made[number].reshape(np.shape(table))))
    soft = factor_graph(np.asarray(graph.cardinalities), factors, log=True)
    if graph.evidence is None:
        return soft
    known = np.flatnonzero(graph.evidence >= 0)
    return soft.given({int(i): int(graph.evidence[i]) for i in known})
