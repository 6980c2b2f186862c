"""Distances of Gibbs sampling on models of few states: computed, from the worst start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.estimate.target import Asked
from heeler.exact.sweep import ROUNDING, SmallModel, small_model
from heeler.model.base import Model
from heeler.scan.plan import Plan

MOST_DOUBLINGS = 40


class SmallChain:
    """The chain of whole passes on a model of few states.

    Parameters
    ----------
    model
        The model.
    plan
        The scan, its length one pass.
    asked
        What the distance is about.
    temperature
        The temperature.

    Raises
    ------
    ValueError
        Where there are too many states, or the order of a pass is not known.
    """

    def __init__(self, model: Model, plan: Plan, asked: Asked, temperature: float) -> None:
        """Make the transition matrix of a pass."""
        if plan.any_order:
            raise ValueError("the order of a shuffled pass is not known")
        self._small = small_model(model, temperature)
        place = {int(v): k for k, v in enumerate(self._small.problem.free)}
        self._asked = asked
        self._axes = [place[int(v)] for v in asked.index if int(v) in place]
        self.kernel = self._pass(plan, place)

    def _pass(self, plan: Plan, place: dict[int, int]) -> NDArray[np.float64]:
        """Multiply the steps of one pass."""
        small: SmallModel = self._small
        rows: NDArray[Any] = np.eye(len(small.target))
        if len(plan.step) == 1 and plan.step[0] < 0:
            return np.linalg.matrix_power(self._draw(plan, 0, place, rows), plan.length)
        for step in plan.steps().tolist():
            if step >= 0:
                rows = small.update(place[step], rows) if step in place else rows
            else:
                rows = self._draw(plan, -1 - step, place, rows)
        return rows

    def _draw(self, plan: Plan, row: int, place: dict[int, int], rows: Any) -> NDArray[np.float64]:
        """Mix the updates of a step that draws its variable."""
        begin, end = plan.row_pointer[row : row + 2]
        mixed = np.zeros_like(rows)
        for variable, share in zip(
            plan.row_index[begin:end].tolist(), plan.row_probability[begin:end], strict=True
        ):
            mixed += share * self._small.update(place[variable], rows)
        return mixed

    def distance(self, kernel: NDArray[np.float64], passes: int) -> float:
        """Give the distance from the worst start, rounded up.

        Parameters
        ----------
        kernel
            The transition matrix of that many passes.
        passes
            How many.

        Returns
        -------
        float
            The distance times the largest possible one.
        """
        small = self._small
        others = tuple(k + 1 for k in range(len(small.shape)) if k not in self._axes)
        apart = (kernel - small.target)[small.support].reshape(-1, *small.shape).sum(axis=others)
        worst = np.abs(apart.reshape(len(apart), -1)).sum(axis=1).max() / 2.0
        return self._asked.total * min(1.0, float(worst) + passes * ROUNDING)

    def after(self, passes: int) -> float:
        """Give the distance after some passes.

        Parameters
        ----------
        passes
            How many.

        Returns
        -------
        float
            The distance.
        """
        return self.distance(np.linalg.matrix_power(self.kernel, passes), passes)

    def enough(self, epsilon: float) -> int | None:
        """Find passes after which the distance is at most epsilon.

        Parameters
        ----------
        epsilon
            The distance wanted.

        Returns
        -------
        int or None
            Passes, the fewest for all variables; None where 2^40 are not enough or rounding hides
            it.
        """
        powers = [self.kernel]
        while self.distance(powers[-1], 1 << (len(powers) - 1)) > epsilon:
            if len(powers) > MOST_DOUBLINGS or ROUNDING * 2.0 ** len(powers) > epsilon:
                return None
            powers.append(powers[-1] @ powers[-1])
        # The longest run of passes that is too short, bit by bit; one more is enough.
        short, done = np.eye(len(self.kernel)), 0
        if self.distance(short, 0) <= epsilon:
            return 0
        for bit in range(len(powers) - 2, -1, -1):
            longer = short @ powers[bit]
            if self.distance(longer, done + (1 << bit)) > epsilon:
                short, done = longer, done + (1 << bit)
        return done + 1
