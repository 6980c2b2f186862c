"""Dobrushin variation: how far a chain can be from its target after the steps of a scan."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.model.check import as_numbers, shown
from heeler.scan.influence.bounds import influence as influence_of
from heeler.scan.influence.given import as_influence
from heeler.scan.plan import Plan, as_plan, variables_of
from heeler.scan.target import as_target

# Improvements of the bound of a pass in an unknown order; each of them is a bound.
ROUNDS = 50


def coupling_bounds(
    influence: Any,
    scan: Any,
    *,
    length: int | None = None,
    passes: int | None = None,
    start: Any = None,
) -> NDArray[np.float64]:
    """Bound, for every variable, how likely it still differs from the target after a scan.

    Run a Gibbs sampler with this scan from any state, beside one that starts in the target
    distribution. Entry i is at least the probability that variable i differs between the two when
    they are coupled well, and so at least the total variation distance of its marginal.

    Parameters
    ----------
    influence
        What `heeler.influence` gives, a matrix of bounds C[i, j] of the influence of j on i, or a
        model, whose influence is then computed.
    scan
        A name, a sequence of variables, a sequence of steps of which some draw their variable (see
        `heeler.scan.Steps`), or an object of `heeler.scan`. In a shuffled scan each pass is
        bounded for the worst order.
    length
        Steps in all: the scan is repeated, or cut. None stands for whole passes.
    passes
        Passes in all; None stands for one.
    start
        Bounds before the first step, one per variable; None stands for 1: nothing is known.

    Returns
    -------
    ndarray
        float64 (n,); 0 for clamped variables.

    References
    ----------
    Mitliagkas and Mackey, "Improving Gibbs Sampler Scan Quality with DoGS", ICML 2017, Theorem 8.
    """
    matrix = matrix_of(influence)
    return bounds_after(matrix, as_plan(scan, matrix, length, passes), start)


def variation(
    influence: Any,
    scan: Any,
    target: Any = None,
    *,
    length: int | None = None,
    passes: int | None = None,
    start: Any = None,
) -> float:
    """Bound the distance from the target distribution after a scan, from whatever start.

    The Dobrushin variation: the sum of the bounds of `coupling_bounds`, weighted. It is at least
    the total variation distance of the joint distribution of the variables in ``target`` where
    these have weight 1, and with other weights at least the largest difference in the mean of a
    function that variable i moves by its weight at most.

    Parameters
    ----------
    influence
        What `heeler.influence` gives, a matrix of bounds, or a model.
    scan
        As in `coupling_bounds`.
    target
        None for all free variables, one variable, several, a mapping from variables to weights,
        or an array of one weight per variable.
    length
        Steps in all; None stands for whole passes.
    passes
        Passes in all; None stands for one.
    start
        Bounds before the first step; None stands for 1.

    Returns
    -------
    float
        The bound; above 1 (times the largest weight) it says nothing about a single probability.

    References
    ----------
    Mitliagkas and Mackey, "Improving Gibbs Sampler Scan Quality with DoGS", ICML 2017, Theorem 8.
    """
    matrix = matrix_of(influence)
    wanted = as_target(target, variables_of(matrix))
    b = bounds_after(matrix, as_plan(scan, matrix, length, passes), start)
    return weighted_sum(wanted.weight, b[wanted.index])


def matrix_of(influence: Any) -> Any:
    """Give the influence matrix of a model, or check a matrix.

    Parameters
    ----------
    influence
        A model, an `Influence` or a matrix.

    Returns
    -------
    Influence
        The matrix.
    """
    return influence_of(influence) if isinstance(influence, Model) else as_influence(influence)


def weighted_sum(weight: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Add weighted bounds up, rounded up.

    Parameters
    ----------
    weight, b
        Numbers that are not negative.

    Returns
    -------
    float
        The sum.
    """
    return float(weight @ b * (1.0 + (len(b) + 2) * np.finfo(float).eps))


def first_bounds(matrix: Any, start: Any = None) -> NDArray[np.float64]:
    """Give the bounds before any step.

    Parameters
    ----------
    matrix
        The `Influence`.
    start
        The user's bounds, or None.

    Returns
    -------
    ndarray
        float64 (n,), a new array; 0 for clamped variables.
    """
    n = matrix.n_variables
    if start is None:
        b = np.ones(n)
    else:
        b = np.array(as_numbers(start, "start"), np.float64)
        if b.shape != (n,) or not np.isfinite(b).all() or (b < 0).any():
            raise ValueError(
                f"The 'start' parameter must be {n} finite numbers >= 0. Got {shown(start)} "
                "instead."
            )
    if matrix.evidence is not None:
        b[matrix.evidence >= 0] = 0.0
    return b


def bounds_after(matrix: Any, plan: Plan, start: Any = None) -> NDArray[np.float64]:
    """Update bounds by all steps of a plan.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The steps.
    start
        The bounds before, or None.

    Returns
    -------
    ndarray
        float64 (n,).
    """
    b = first_bounds(matrix, start)
    if plan.any_order:
        for _ in range(plan.length // len(plan.step)):
            b = _any_order(matrix, plan, b)
        return b
    advance(matrix, plan, 0, plan.length, b)
    return b


def advance(matrix: Any, plan: Plan, begin: int, count: int, b: NDArray[np.float64]) -> None:
    """Update bounds by some steps of a plan, in place.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The steps, none of them in an unknown order.
    begin
        Steps done before.
    count
        Steps to do.
    b
        The bounds.
    """
    from heeler.compiled.variation import forward

    pointer, index, value = matrix.flat()
    fresh = np.empty(int(np.diff(plan.row_pointer).max(initial=0)))
    forward(
        pointer,
        index,
        value,
        plan.step,
        plan.row_pointer,
        plan.row_index,
        plan.row_probability,
        begin % len(plan.step),
        count,
        b,
        fresh,
    )


def _any_order(matrix: Any, plan: Plan, b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound one pass in the worst order.

    Suppose that no update of the pass gives more than u. An update sees old bounds b and new ones,
    so it gives at most C max(b, u), and this is a better u. Probabilities are at most 1: the first.
    """
    up = 1.0 + (float(np.diff(matrix.indptr).max(initial=0)) + 2) * np.finfo(float).eps
    mine = plan.step
    worst = b.copy()
    worst[mine] = 1.0
    for _ in range(ROUNDS):
        better = b.copy()
        # u is used for the variables of the pass only; the others stay at b.
        better[mine] = np.minimum(worst[mine], up * (matrix @ np.maximum(b, worst))[mine])
        if np.allclose(better, worst, rtol=1e-9, atol=0.0):
            return better
        worst = better
    return worst
