"""Whole sweeps of Gibbs sampling as matrices, for models of few states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.exact.enumeration import log_joint
from heeler.exact.problem import Problem, problem_of

# Joint states of the free variables: a dense matrix of 1024 x 1024 takes 8 MiB, and comparing all
# pairs of its rows about half a second.
MOST_STATES = 1 << 10
# Entries of a sweep's matrix are products of exponentials and sums of few terms, so they are off by
# 1e-13 at most, relative to sums of one.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SmallModel:
    """A model of few states, its conditionals written out.

    Attributes
    ----------
    problem
        The free variables; local variable k is variable ``problem.free[k]`` of the model.
    shape
        Numbers of values of the free variables.
    target
        P(x) of all states of the free variables (states,), the last variable fastest.
    support
        The states of positive probability (states,).
    conditionals
        For each free variable P(x_i | rest), an array of the shape `shape`. Where the rest has
        probability zero no distribution is defined: it is uniform there.
    """

    problem: Problem
    shape: tuple[int, ...]
    target: NDArray[np.float64]
    support: NDArray[np.bool_]
    conditionals: list[NDArray[np.float64]]

    @property
    def least_conditional(self) -> float:
        """The smallest conditional probability of a value that is possible."""
        return min(float(c.ravel()[self.support].min()) for c in self.conditionals)

    def update(self, axis: int, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry distributions (rows, states) through one update of a variable.

        Parameters
        ----------
        axis
            The local number of the variable.
        rows
            Distributions over the states.

        Returns
        -------
        ndarray
            The distributions after the update (rows, states).
        """
        spread = rows.reshape(-1, *self.shape).sum(axis=axis + 1, keepdims=True)
        return (spread * self.conditionals[axis]).reshape(rows.shape)

    def sweep(self, order: Sequence[int]) -> NDArray[np.float64]:
        """Make the transition matrix of the updates of some variables, one after the other.

        Parameters
        ----------
        order
            Local numbers of variables.

        Returns
        -------
        ndarray
            float64 (states, states): row x is the distribution after the sweep that began in x.
        """
        rows = np.eye(len(self.target))
        for axis in order:
            rows = self.update(axis, rows)
        return rows

    def steps_to_everywhere(self, order: Sequence[int]) -> int | None:
        """Count the updates after which every state of the support can be reached from every one.

        Parameters
        ----------
        order
            Local numbers of variables: a sweep, repeated; counted from its worst place.

        Returns
        -------
        int or None
            At least the number of free variables; None where some state is never reached.
        """
        support = self.support
        if support.all():
            return len(order)
        most = 0
        for phase in range(len(order)):
            reached: NDArray[Any] = np.eye(len(support))[support]
            steps = quiet = 0
            while not (reached[:, support] > 0).all():
                # From the support an update leads into the support: no state beyond it is reached.
                after = (self.update(order[(phase + steps) % len(order)], reached) > 0) * 1.0
                quiet = quiet + 1 if (after == reached).all() else 0
                if quiet == len(order):
                    return None
                reached = after
                steps += 1
            most = max(most, steps)
        return max(most, len(order))


def small_model(model: Any, temperature: float = 1.0) -> SmallModel:
    """Write out the conditionals of a model of few states.

    Parameters
    ----------
    model
        Any heeler model, evidence included.
    temperature
        The distribution is p^(1/temperature).

    Returns
    -------
    SmallModel
        Its target and conditionals.

    Raises
    ------
    ValueError
        If there are more than 1024 joint states of the free variables.
    """
    problem = problem_of(model)
    count = 1
    for size in problem.sizes:
        count *= size
        if count > MOST_STATES:
            raise ValueError(
                f"matrices of whole sweeps are for models of at most {MOST_STATES} joint states"
            )
    weights = log_joint(problem) / temperature
    weights = np.asarray(weights, np.float64).reshape(problem.sizes)
    joint = np.exp(weights - weights.max())
    joint /= joint.sum()
    conditionals = []
    for axis, size in enumerate(problem.sizes):
        top = weights.max(axis=axis, keepdims=True)
        inside = np.isfinite(top)
        share = np.exp(weights - np.where(inside, top, 0.0))
        share = np.where(inside, share, 1.0 / size)
        conditionals.append(share / share.sum(axis=axis, keepdims=True))
    support = np.isfinite(weights.ravel())
    return SmallModel(problem, tuple(problem.sizes), joint.ravel(), support, conditionals)


def dobrushin_coefficient(
    kernel: NDArray[np.float64], rows: NDArray[np.bool_] | None = None
) -> float:
    """Compute the largest total variation distance between two rows of a transition matrix.

    Parameters
    ----------
    kernel
        float64 (states, states).
    rows
        The rows to compare (states,); None stands for all.

    Returns
    -------
    float
        From 0 (all rows agree: one step forgets everything) to 1; rounded up.
    """
    return min(1.0, widest(kernel if rows is None else kernel[rows]) + ROUNDING)


def widest(rows: NDArray[np.float64]) -> float:
    """Find half the largest sum of absolute differences between two rows.

    Parameters
    ----------
    rows
        A matrix.

    Returns
    -------
    float
        The largest distance; 0 for one row.
    """
    from scipy.spatial.distance import pdist

    return float(pdist(rows, "cityblock").max(initial=0.0)) / 2.0
