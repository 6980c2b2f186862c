"""Several models as one factor graph whose parts do not touch."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.model.chain import Chain
from heeler.model.factor_graph import FactorGraph, from_flat


def unite(models: Sequence[Model]) -> tuple[FactorGraph, NDArray[np.int64]]:
    """Put models side by side.

    Parameters
    ----------
    models
        The models.

    Returns
    -------
    union : FactorGraph
        All of them, unnamed and without evidence.
    variables : ndarray
        int64 (models + 1,): where each model's variables begin.
    """
    variables = _begins([m.n_variables for m in models])
    chains = [m for m in models if isinstance(m, Chain) and not m.skip]
    same = len(chains) == len(models) and len({c.node.shape[1] for c in chains}) == 1
    arrays = _chains(chains, variables) if same else _graphs(models, variables)
    cards = np.concatenate([m.cardinalities for m in models])
    shell: Any = SimpleNamespace(cardinalities=cards, names=None, value_names=None, evidence=None)
    return from_flat(shell, *arrays), variables


def _begins(sizes: Sequence[int] | NDArray) -> NDArray[np.int64]:
    """Add sizes up, from 0."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _chains(chains: list[Chain], variables: NDArray[np.int64]) -> tuple[NDArray, ...]:
    """Lay chains out end to end, at once: a node factor each, an edge factor between neighbours."""
    n, count = int(variables[-1]), chains[0].node.shape[1]
    node = np.concatenate([c.node for c in chains])
    edge = np.concatenate([c.edge for c in chains])  # one table a step
    inside = np.ones(n, bool)
    inside[variables[1:] - 1] = False  # the last position of a chain has no step
    left = np.flatnonzero(inside)
    scope = np.concatenate([np.arange(n), np.stack([left, left + 1], axis=1).ravel()])
    sizes = np.repeat((1, 2), (n, len(left)))
    entries = np.repeat((count, count * count), (n, len(left)))
    tables = np.concatenate([node.ravel(), edge.ravel()])
    return _begins(sizes), scope, np.arange(n + len(left)), _begins(entries), tables


def _graphs(models: Sequence[Model], variables: NDArray[np.int64]) -> tuple[NDArray, ...]:
    """Concatenate factor graphs, renumbering variables and tables."""
    graphs: list[Any] = [m.to_factor_graph() for m in models]
    tables = _begins([len(g.table_pointer) - 1 for g in graphs])
    scope = np.concatenate([g.scope + v for g, v in zip(graphs, variables, strict=False)])
    table_of = np.concatenate([g.table_of + t for g, t in zip(graphs, tables, strict=False)])
    sizes = np.concatenate([np.diff(g.scope_pointer) for g in graphs])
    entries = np.concatenate([np.diff(g.table_pointer) for g in graphs])
    return (
        _begins(sizes),
        scope,
        table_of,
        _begins(entries),
        np.concatenate([g.log_tables for g in graphs]),
    )


def component_scores(
    union: FactorGraph, variables: NDArray[np.int64], states: NDArray[Any]
) -> NDArray[np.float64]:
    """Score each model of a union.

    Parameters
    ----------
    union, variables
        What `unite` gave.
    states
        (m, n).

    Returns
    -------
    ndarray
        float64 (m, models).
    """
    sizes = np.diff(union.scope_pointer)
    owner = np.searchsorted(variables, union.scope, side="right") - 1  # of each scope entry
    factor = np.repeat(np.arange(len(sizes)), sizes)
    component = np.zeros(len(sizes), np.int64)
    component[factor] = (
        owner  # all entries of a factor agree; constant factors score for the first model
    )
    base = union.table_pointer[union.table_of]
    result = np.empty((len(states), len(variables) - 1))
    for row, state in enumerate(states):
        moved = (state[union.scope] * union.scope_stride).astype(np.float64)
        place = base + np.bincount(factor, moved, len(sizes)).astype(np.int64)
        result[row] = np.bincount(component, union.log_tables[place], len(variables) - 1)
    return result
