"""A model as the exact engines see it: free variables, log tables, a constant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from heeler.exact.errors import Contradiction

LogFactor = tuple[Sequence[int], np.ndarray]


class Problem(NamedTuple):
    """Factors over free variables only, evidence absorbed.

    Free variables are numbered 0..m-1 here ("local" numbers); ``free[k]`` is the number of local
    variable k in the model. Variables with one value count as clamped.
    """

    cardinalities: np.ndarray
    """int64 (n,), all variables of the model."""
    evidence: np.ndarray
    """int64 (n,), -1 where free."""
    free: np.ndarray
    """int64 (m,)."""
    sizes: list[int]
    """Cardinalities of the free variables."""
    scopes: list[tuple[int, ...]]
    """Local variables of each factor, none twice."""
    tables: list[np.ndarray]
    """Log tables, one axis per variable of the scope."""
    constant: float
    """Log of the product of all factors without a free variable."""


def absorb(
    cardinalities: Sequence[int] | np.ndarray,
    factors: Iterable[LogFactor],
    evidence: Sequence[int] | np.ndarray | None = None,
) -> Problem:
    """Put the evidence into the factors and keep what is left to compute with.

    Parameters
    ----------
    cardinalities : (n,) int
    factors : iterable of (scope, log_table)
        Natural logs, -inf for zero, the last variable of the scope fastest.
    evidence : (n,) int, optional
        -1 for free variables.
    """
    cards: np.ndarray = np.asarray(cardinalities, dtype=np.int64)
    clamped: np.ndarray = np.full(cards.shape, -1, dtype=np.int64)
    if evidence is not None:
        clamped[:] = evidence
    clamped[(cards == 1) & (clamped < 0)] = 0
    free = np.flatnonzero(clamped < 0)
    local: np.ndarray = np.full(cards.shape, -1, dtype=np.int64)
    local[free] = np.arange(free.size)
    local_of: list[int] = local.tolist()
    card_of: list[int] = cards.tolist()
    value_of: list[int] = clamped.tolist()
    scopes: list[tuple[int, ...]] = []
    tables: list[np.ndarray] = []
    constants: list[float] = []
    for scope, log_table in factors:
        members = [int(v) for v in scope]
        table = np.asarray(log_table, dtype=np.float64).reshape([card_of[v] for v in members])
        kept = tuple(local_of[v] for v in members if local_of[v] >= 0)
        if len(kept) < len(members):
            table = table[tuple(slice(None) if value_of[v] < 0 else value_of[v] for v in members)]
        if kept:
            scopes.append(kept)
            tables.append(table)
        else:
            constants.append(float(table))
    constant = float(np.sum(constants)) if constants else 0.0
    return Problem(cards, clamped, free, cards[free].tolist(), scopes, tables, constant)


def problem_of(model: Any) -> Problem:
    """Make the problem of any heeler model, through its factor graph.

    Raises
    ------
    TypeError
        If the argument is no model.
    Contradiction
        If the clamped variables alone already contradict a factor.
    """
    if not hasattr(model, "to_factor_graph"):
        raise TypeError(
            f"The 'model' parameter must be a heeler model. Got {type(model).__name__} instead."
        )
    graph = model.to_factor_graph()
    problem = absorb(graph.cardinalities, graph.factors, graph.evidence)
    if problem.constant == -np.inf:
        raise_contradiction(problem)
    return problem


def raise_contradiction(problem: Problem) -> None:
    """Raise the error for a partition function of zero."""
    clamped = int((problem.evidence[problem.cardinalities > 1] >= 0).sum())
    if clamped:
        raise Contradiction(
            f"the evidence ({clamped} clamped variables) has probability zero under the model"
        )
    raise Contradiction("the model gives probability zero to every state")
