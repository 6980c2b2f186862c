"""Enumeration: every joint state of a small model, one array."""

from __future__ import annotations

import math

import numpy as np

from heeler.exact.problem import Problem, raise_contradiction
from heeler.exact.propagate import combine

STATE_LIMIT = 1 << 24


def count_states(problem: Problem) -> int:
    """Return the number of joint states, refusing what cannot be enumerated.

    Raises
    ------
    ValueError
        With the count, above 2^24 states.
    """
    count = math.prod(problem.cardinalities.tolist())
    if count > STATE_LIMIT:
        shown = str(count) if count < 10**30 else f"about 2^{count.bit_length() - 1}"
        raise ValueError(f"model has {shown} joint states; enumeration takes at most {STATE_LIMIT}")
    if problem.cardinalities.size > 64:
        raise ValueError(
            f"model has {problem.cardinalities.size} variables; an array has at most 64 axes"
        )
    return count


def log_joint(problem: Problem) -> np.ndarray:
    """Return log f(x) for all states of the free variables, one axis for each."""
    items = []
    for scope, table in zip(problem.scopes, problem.tables, strict=True):
        arranged = sorted(range(len(scope)), key=scope.__getitem__)
        items.append((tuple(scope[i] for i in arranged), table.transpose(arranged)))
    return combine(tuple(problem.sizes), items) + problem.constant


def joint(problem: Problem) -> tuple[np.ndarray, float]:
    """Return P(x) over all variables, one axis each, and log Z.

    Clamped variables keep their axis; states against the evidence have probability zero.

    Raises
    ------
    ValueError
        Too many states.
    Contradiction
        No state is possible.
    """
    count_states(problem)
    weights = log_joint(problem)
    top = float(weights.max())
    if top == -math.inf:
        raise_contradiction(problem)
    free = np.exp(weights - top)
    total = float(free.sum())
    result = np.zeros(problem.cardinalities.tolist())
    where = tuple(slice(None) if e < 0 else int(e) for e in problem.evidence)
    result[where] = free / total
    return result, top + math.log(total)
