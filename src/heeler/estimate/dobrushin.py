"""How the Dobrushin variation of a scan falls from pass to pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heeler.estimate.target import Asked
from heeler.scan.plan import Plan
from heeler.scan.variation import advance, bounds_after, first_bounds, weighted_sum

# Elementary steps to spend, about half a minute; and passes, each with its cost in Python.
MOST_WORK = 1 << 34
MOST_PASSES = 1 << 20
# Bounds that all fall by less than this share in a pass have stopped falling.
STILL = 1e-9


@dataclass(frozen=True)
class Fall:
    """Where the bound was when the search ended.

    Attributes
    ----------
    value
        The variation.
    passes
        After so many passes.
    steps
        And so many steps: fewer than whole passes where those are enough.
    stopped
        Whether the bounds had stopped falling; else, above epsilon, the work allowed was spent.
    """

    value: float
    passes: int
    steps: int | None
    stopped: bool


def fall(matrix: Any, plan: Plan, asked: Asked, passes: int | None, epsilon: float | None) -> Fall:
    """Follow the bounds for some passes, or until they are small enough or fall no more.

    Every bound is of a probability, so after each pass those above 1 are set to 1.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The scan, its length one pass.
    asked
        What the distance is about.
    passes
        How many, or None for as many as `epsilon` needs.
    epsilon
        The distance wanted, or None.

    Returns
    -------
    Fall
        The end.
    """
    goal = -1.0 if epsilon is None else epsilon
    rows = int(np.diff(plan.row_pointer).max(initial=1))
    work = plan.length * rows * max(1, matrix.nnz // max(matrix.n_variables, 1))
    most = max(1, min(MOST_PASSES, MOST_WORK // max(work, 1)))
    most = most if passes is None else passes
    b = first_bounds(matrix)
    value = weighted_sum(asked.weight, b[asked.index])
    done = 0
    while value > goal and done < most:
        before = b.copy()
        b = np.minimum(_pass(matrix, plan, b), 1.0)
        done += 1
        value = weighted_sum(asked.weight, b[asked.index])
        if value <= goal:
            return Fall(value, done, _fewest(matrix, plan, asked, before, goal, done), False)
        if (b >= before * (1.0 - STILL)).all():
            return Fall(value, done if passes is None else passes, None, True)
    return Fall(value, done, plan.length * done, False)


def _pass(matrix: Any, plan: Plan, b: Any) -> Any:
    """Make one pass."""
    if plan.any_order:
        return bounds_after(matrix, plan, b)
    advance(matrix, plan, 0, plan.length, b)
    return b


def _fewest(matrix: Any, plan: Plan, asked: Asked, before: Any, goal: float, done: int) -> int:
    """Find steps of the last pass that are enough already, by halving."""
    full = plan.length * (done - 1)
    if plan.any_order:
        return full + plan.length
    low, high = 0, plan.length
    while high - low > 1:
        middle = (low + high) // 2
        b = before.copy()
        advance(matrix, plan, 0, middle, b)
        enough = weighted_sum(asked.weight, np.minimum(b, 1.0)[asked.index]) <= goal
        low, high = (low, middle) if enough else (middle, high)
    return full + high
