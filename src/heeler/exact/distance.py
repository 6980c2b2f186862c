"""Distances from the target after a scan, exactly: the whole distribution from every start."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.exact.oracle import enumerate_states
from heeler.model.base import Model
from heeler.scan.influence.bounds import positive
from heeler.scan.plan import Plan, as_plan
from heeler.scan.target import Target, as_target

# One distribution for every first state is kept: 128 MiB.
MOST_STATES = 4096
# The weighted distance is a linear programme in the states.
MOST_WEIGHTED = 256
# Programmes are solved for the most promising starts first, until no other can win.
FAR = 1e-12


@dataclass(frozen=True)
class Distances:
    """How far a Gibbs sampler is from its target after a scan, from the worst first states.

    Attributes
    ----------
    total : float
        Total variation of the joint distribution of all variables.
    marginal : float
        Total variation of the joint distribution of the target's variables.
    variables : ndarray
        float64 (n,): total variation of each single marginal, each from its own worst start.
    weighted : float or None
        The largest difference in the mean of a function that variable i moves by its weight at
        most; None where it was not asked for, and for models of more than 256 states.
    start : tuple of int
        The worst first state for ``marginal``.
    """

    total: float
    marginal: float
    variables: NDArray[np.float64]
    weighted: float | None
    start: tuple[int, ...]


def scan_distances(
    model: Model,
    scan: Any,
    target: Any = None,
    *,
    length: int | None = None,
    passes: int | None = None,
    temperature: float = 1.0,
    weighted: bool = True,
) -> Distances:
    """Compute exactly what `heeler.variation` bounds, on a small model.

    The distribution of the state is evolved from every possible first state, step by step.

    Parameters
    ----------
    model
        A model of at most 4096 states.
    scan
        As in `heeler.coupling_bounds`; not shuffled.
    target
        As in `heeler.variation`.
    length
        Steps in all; None stands for whole passes.
    passes
        Passes in all; None stands for one.
    temperature
        The distribution scanned is p^(1/temperature).
    weighted
        Whether the weighted distance is computed too, a linear programme for each start that may
        be the worst.

    Returns
    -------
    Distances
        Total variation, marginal and weighted total variation.
    """
    plan = as_plan(scan, SimpleNamespace(model=model), length, passes)
    if plan.any_order:
        raise ValueError("The 'scan' parameter must be a scan whose steps are known, not shuffled.")
    wanted = as_target(target, model)
    states = float(np.prod(np.asarray(model.cardinalities, np.float64)))
    if states > MOST_STATES:
        raise ValueError(
            f"The 'model' parameter must have at most {MOST_STATES} states. This one has "
            f"{states:.4g}."
        )
    p = enumerate_states(model) ** (1.0 / positive("temperature", temperature))
    p /= p.sum()
    starts = np.flatnonzero(p.ravel() > 0)
    now = evolved(p, starts, plan)
    difference = (now - p[None]).reshape(len(now), *p.shape)
    far = _distance(difference, tuple(range(p.ndim)))
    near = _distance(difference, tuple(wanted.index.tolist()))
    single = [
        float(_distance(difference, (v,)).max()) if model.evidence is None or e < 0 else 0.0
        for v, e in enumerate([-1] * p.ndim if model.evidence is None else model.evidence.tolist())
    ]
    worst = int(np.argmax(near))
    largest = None
    if weighted and p.size <= MOST_WEIGHTED:
        largest = weighted_distance(difference.reshape(len(now), -1), p.shape, wanted)
    start = tuple(int(k) for k in np.unravel_index(starts[worst], p.shape))
    return Distances(float(far.max()), float(near[worst]), np.array(single), largest, start)


def evolved(p: NDArray[np.float64], starts: NDArray[np.int64], plan: Plan) -> NDArray[np.float64]:
    """Evolve point masses by the steps of a plan.

    Parameters
    ----------
    p
        The target, one axis per variable.
    starts
        Flat numbers of the first states.
    plan
        The steps.

    Returns
    -------
    ndarray
        float64 (starts, *p.shape).
    """
    now = np.zeros((len(starts), p.size))
    now[np.arange(len(starts)), starts] = 1.0
    now = now.reshape(len(starts), *p.shape)
    conditional: dict[int, NDArray[np.float64]] = {}

    def updated(i: int) -> NDArray[np.float64]:
        if i not in conditional:
            rest = p.sum(axis=i, keepdims=True)
            conditional[i] = np.divide(p, rest, out=np.zeros_like(p), where=rest > 0)
        return now.sum(axis=i + 1, keepdims=True) * conditional[i][None]

    for t in range(plan.length):
        step = int(plan.step[t % len(plan.step)])
        if step >= 0:
            now = updated(step)
            continue
        row = slice(plan.row_pointer[-1 - step], plan.row_pointer[-step])
        choices = plan.row_index[row].tolist(), plan.row_probability[row].tolist()
        parts = [q * updated(i) for i, q in zip(*choices, strict=True)]
        now = np.sum(parts, axis=0)
    return now


def _distance(difference: NDArray[np.float64], kept: tuple[int, ...]) -> NDArray[np.float64]:
    """Take total variations of the marginals of some variables."""
    gone = tuple(v + 1 for v in range(difference.ndim - 1) if v not in kept)
    marginal = difference.sum(axis=gone) if gone else difference
    return np.abs(marginal).reshape(len(difference), -1).sum(axis=1) / 2


def weighted_distance(
    difference: NDArray[np.float64], shape: tuple[int, ...], target: Target
) -> float:
    """Find the function of bounded differences whose mean moves most, for the worst start.

    Parameters
    ----------
    difference
        float64 (starts, states): distributions less the target.
    shape
        Numbers of values.
    target
        The weights; a function moves by at most d_i with variable i.

    Returns
    -------
    float
        The largest difference in means.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    d = np.zeros(len(shape))
    d[target.index] = target.weight
    free = d > 0
    # Functions cannot see the other variables at all.
    gone = tuple(int(v) + 1 for v in np.flatnonzero(~free))
    sums = difference.reshape(len(difference), *shape).sum(axis=gone) if gone else difference
    sums = sums.reshape(len(difference), -1)
    sizes = tuple(k for k, seen in zip(shape, free, strict=True) if seen)
    number = np.arange(int(np.prod(sizes))).reshape(sizes)
    first, second, most = [], [], []
    for axis, weight in enumerate(d[free].tolist()):
        lines = np.moveaxis(number, axis, -1).reshape(-1, sizes[axis])
        for a in range(sizes[axis]):
            for b in range(sizes[axis]):
                if a != b:
                    first.append(lines[:, a])
                    second.append(lines[:, b])
                    most.append(np.full(len(lines), weight))
    i, j, limit = map(np.concatenate, (first, second, most))
    row = np.arange(len(i))
    matrix = coo_array(
        (
            np.repeat([1.0, -1.0], len(i)),
            (np.concatenate((row, row)), np.concatenate((i, j))),
        ),
        shape=(len(i), number.size),
    )
    # No start moves the mean by more than this times its distance.
    bound = np.abs(sums).sum(axis=1) / 2 * d.sum()
    best = 0.0
    for start in np.argsort(-bound, kind="stable"):
        if bound[start] <= best + FAR:
            break
        solved = linprog(-sums[start], A_ub=matrix.tocsr(), b_ub=limit, bounds=(None, None))
        best = max(best, -float(solved.fun))
    return best
