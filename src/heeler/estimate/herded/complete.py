"""Herded Gibbs with full contexts on small models: Theorem 2, and a sharper bound.

The weights of a variable are keyed by all the others, either because the graph is complete or
because the context is `full`: any distribution is Markov on the complete graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.exact.sweep import ROUNDING, SmallModel, dobrushin_coefficient, small_model, widest

# The machine's conditionals: rounded to 2^-32, and kept possible where they are.
UNIT = 2.0**-32
# A residual of the fundamental matrix beyond this says that the chain hardly mixes.
WORST_RESIDUAL = 1e-6


@dataclass(frozen=True)
class Discrepancy:
    """The bound |P_T - pi| <= constant / T + bias of herded Gibbs, for every T and every burn-in.

    P_T is the empirical distribution of T states in a row, one a sweep. Lemma 3 says that in any
    stretch of visits to a context the frequency of a value is off by less than one visit, so one
    update carries P_T(i-1) into P_T(i) up to one visit in T for each context. A sweep with the
    transition matrix K therefore leaves P_T = P_T K + E with a known small E, and P_T - pi = E Z
    with the fundamental matrix Z of K. Summing what each context's unit of error becomes gives the
    constant; no burn-in and no least T are needed.

    Attributes
    ----------
    constant
        What 1 / T is multiplied by.
    bias
        What the rounding of the conditionals to 2^-32 may add.
    """

    constant: float
    bias: float

    def bound(self, sweeps: int) -> float:
        """Bound the distance of the average over some sweeps.

        Parameters
        ----------
        sweeps
            T, at least 1.

        Returns
        -------
        float
            At most 1.
        """
        return min(1.0, self.constant / sweeps + self.bias)

    def sweeps(self, epsilon: float) -> int | None:
        """Count the sweeps after which the distance is at most epsilon.

        Parameters
        ----------
        epsilon
            The distance wanted.

        Returns
        -------
        int or None
            T; None where rounding alone may be as large as epsilon.
        """
        if epsilon <= self.bias:
            return None
        count = max(1, math.ceil(self.constant / (epsilon - self.bias)))
        while self.constant / count + self.bias > epsilon:
            count += 1
        return count


@dataclass(frozen=True, kw_only=True, repr=False)
class FullBounds:
    """What is proved of herded Gibbs with full contexts, for any numbers of values.

    Distances are total variation, between the model's distribution and the empirical distribution
    of the states at the ends of sweeps. Made by `heeler.herded_bounds`.

    Attributes
    ----------
    variables
        N, the number of free variables.
    eta
        The Dobrushin coefficient of a sweep of Gibbs sampling.
    joint
        The bound on the joint distribution.
    """

    variables: int
    eta: float
    joint: Discrepancy
    _small: SmallModel
    _order: tuple[int, ...]
    _kernels: tuple[NDArray[np.float64], ...]
    _delta: float

    theorem = "Lemma 3 for any number of values"

    def marginal(self, variables: Sequence[int]) -> Discrepancy:
        """Bound the distance of the marginal distribution of some variables.

        Parameters
        ----------
        variables
            Indices in the model; those that are clamped are left out.

        Returns
        -------
        Discrepancy
            The sharper bound for what these variables do.
        """
        free = self._small.problem.free.tolist()
        axes = [free.index(v) for v in variables if v in free]
        return _discrepancy(self._small, self._order, self._kernels, axes, self._delta)

    def kernel(self) -> NDArray[np.float64]:
        """Give the transition matrix of a sweep of Gibbs sampling.

        Returns
        -------
        ndarray
            float64 (states, states) over the free variables, the last one fastest.
        """
        return self._small.sweep(self._order)

    def empirical_kernel(self, states: NDArray[np.integer]) -> NDArray[np.float64]:
        """Compute the transition matrix that a run's states show, the paper's equation 22.

        Where a context was never visited, the row is that of Gibbs sampling.

        Parameters
        ----------
        states
            The states at the ends of sweeps in a row, (T + 1, n).

        Returns
        -------
        ndarray
            float64 (states, states): the product of the empirical updates.
        """
        small, shape = self._small, self._small.shape
        now = np.asarray(states, np.int64)[:, small.problem.free]
        steps = len(now) - 1
        mixed = now[:-1].copy()
        rows = np.eye(len(small.target))
        for axis in self._order:
            mixed[:, axis] = now[1:, axis]
            counts = np.bincount(
                np.ravel_multi_index(tuple(mixed.T), shape), minlength=len(small.target)
            )
            if counts.sum() != steps:
                raise ValueError("The 'states' parameter must hold states of the model.")
            counts = counts.reshape(shape).astype(np.float64)
            visits = counts.sum(axis=axis, keepdims=True)
            share = np.divide(counts, visits, out=small.conditionals[axis].copy(), where=visits > 0)
            spread = rows.reshape(-1, *shape).sum(axis=axis + 1, keepdims=True)
            rows = (spread * share).reshape(rows.shape)
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Give what is known by name.

        Returns
        -------
        dict
            Plain numbers.
        """
        return {
            "theorem": self.theorem,
            "variables": self.variables,
            "dobrushin_coefficient": self.eta,
            "discrepancy": {"constant": self.joint.constant, "bias": self.joint.bias},
        }

    def __repr__(self) -> str:
        """Show the bound."""
        return (
            f"herded Gibbs with full contexts, {self.variables} variables\n"
            f"  for every T and burn-in: distance <= {self.joint.constant:.4g} / T "
            f"+ {self.joint.bias:.1e}\n"
            "  Theorem 2 of the paper is about variables of two values"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class CompleteBounds(FullBounds):
    """What is proved of herded Gibbs with full contexts on one binary model.

    Distances are total variation, between the model's distribution and the empirical distribution
    of the states at the ends of sweeps. Made by `heeler.herded_bounds`.

    Attributes
    ----------
    variables
        N, the number of free variables.
    eta
        The Dobrushin coefficient of a sweep of Gibbs sampling.
    least_conditional
        The smallest conditional probability that is not zero.
    steps
        t*: the updates after which any state can be reached from any other; N without zeros.
    l, b
        The constants of Proposition 4: a state is visited at least l T - B times in T sweeps.
    joint
        The sharper bound on the joint distribution.
    """

    least_conditional: float
    steps: int
    l: float  # noqa: E741 (the paper's letter)
    b: float

    theorem = "Theorem 2"

    @property
    def lam(self) -> float:
        """Lambda = 2 N (1 + eta) / (l (1 - eta)): the numerator of Theorem 2; infinite at eta 1."""
        if self.eta >= 1.0:
            return math.inf
        return 2.0 * self.variables * (1.0 + self.eta) / (self.l * (1.0 - self.eta))

    @property
    def t_star(self) -> float:
        """T* = 2 B / l: the fewest sweeps that Theorem 2 speaks of."""
        return 2.0 * self.b / self.l

    @property
    def bias(self) -> float:
        """What rounding the conditionals to 2^-32 adds to the bounds of the paper."""
        return self.variables * self._delta / max(1.0 - self.eta, 1e-300)

    def tau_star(self, sweeps: float) -> int:
        """Count the sweeps of burn-in that Theorem 2 needs.

        The paper's proof needs one more than its formula where that is no whole number: its
        equation 46 rounds up, and its equation 47 holds after that sweep.

        Parameters
        ----------
        sweeps
            T.

        Returns
        -------
        int
            The first tau from which the bound holds.
        """
        if self.eta >= 1.0:
            raise ValueError("Theorem 2 says nothing where the Dobrushin coefficient is 1.")
        inside = (1.0 - self.eta) * self.l * sweeps / (4.0 * self.variables)
        if inside <= 1.0:
            return 1
        return math.ceil(math.log(inside) / math.log(2.0 / (1.0 + self.eta))) + 1

    def theorem_2(self, sweeps: int) -> float | None:
        """Bound the distance after the burn-in of `tau_star`.

        Parameters
        ----------
        sweeps
            T.

        Returns
        -------
        float or None
            Lambda / T and rounding; None below T*. A bound of 1 or more is vacuous.
        """
        if self.eta >= 1.0 or sweeps < self.t_star:
            return None
        return self.lam / sweeps + self.bias

    def corollary_10(self, sweeps: int) -> float | None:
        """Bound the distance without burn-in.

        Parameters
        ----------
        sweeps
            T.

        Returns
        -------
        float or None
            (lambda + tau*(T)) / T and rounding; None below T* + tau*(T*).
        """
        if self.eta >= 1.0 or sweeps < self.t_star + self.tau_star(self.t_star):
            return None
        return (self.lam + self.tau_star(sweeps)) / sweeps + self.bias

    def proposition_7(self, sweeps: int) -> float | None:
        """Bound the distance of the empirical transition matrix from that of Gibbs sampling.

        Parameters
        ----------
        sweeps
            T.

        Returns
        -------
        float or None
            4 N / (l T) and rounding, in the norm that is the largest sum of a row; None below T*.
            Never more than 2 can be reached: such a bound is vacuous.
        """
        if sweeps < self.t_star:
            return None
        return 4.0 * self.variables / (self.l * sweeps) + 2.0 * self.variables * self._delta

    def sweeps_of_theorem_2(self, epsilon: float) -> int | None:
        """Count the sweeps after which Theorem 2 guarantees a distance.

        Parameters
        ----------
        epsilon
            The distance wanted.

        Returns
        -------
        int or None
            T, after a burn-in of `tau_star` of it; None where rounding is as large as epsilon.
        """
        if self.eta >= 1.0 or epsilon <= self.bias:
            return None
        return max(math.ceil(self.t_star), math.ceil(self.lam / (epsilon - self.bias)))

    def vacuous(self, sweeps: int) -> bool:
        """Say whether the paper's bounds say nothing at this T.

        Parameters
        ----------
        sweeps
            T.

        Returns
        -------
        bool
            True where no theorem applies or its bound is 1 or more.
        """
        bounds = (self.theorem_2(sweeps), self.corollary_10(sweeps))
        return all(bound is None or bound >= 1.0 for bound in bounds)

    def to_dict(self) -> dict[str, Any]:
        """Give the constants by name.

        Returns
        -------
        dict
            Plain numbers; infinite ones are None.
        """
        tau = self.tau_star(self.t_star) if self.eta < 1.0 else None
        return {
            "theorem": self.theorem,
            "variables": self.variables,
            "dobrushin_coefficient": self.eta,
            "least_conditional": self.least_conditional,
            "steps": self.steps,
            "l": self.l,
            "B": self.b,
            "lambda": self.lam if math.isfinite(self.lam) else None,
            "T_star": self.t_star,
            "tau_star_of_T_star": tau,
            "discrepancy": {"constant": self.joint.constant, "bias": self.joint.bias},
        }

    def __repr__(self) -> str:
        """Show the constants and what they are worth."""
        useful = "never" if self.eta >= 1.0 else f"{max(self.t_star, self.lam):.3g} sweeps"
        return (
            f"herded Gibbs with full contexts, {self.variables} binary variables\n"
            f"  Theorem 2: eta {self.eta:.6g}, l {self.l:.3g}, B {self.b:.3g}, "
            f"lambda {self.lam:.3g}, T* {self.t_star:.3g}; vacuous before {useful}\n"
            f"  sharper, for every T and burn-in: distance <= {self.joint.constant:.4g} / T "
            f"+ {self.joint.bias:.1e}"
        )


def complete_bounds(
    model: Any, order: Sequence[int], temperature: float, delta: float
) -> FullBounds | str:
    """Compute the constants, or say why there are none.

    Parameters
    ----------
    model
        A model; its graph or the context makes every weight belong to a full context.
    order
        The variables of a sweep, each free one once, by index in the model.
    temperature
        The temperature.
    delta
        How far the machine's conditionals may be from the model's.

    Returns
    -------
    FullBounds or str
        The bounds, `CompleteBounds` where all variables have two values; or the reason.
    """
    try:
        small = small_model(model, temperature)
    except ValueError as reason:
        return str(reason)
    free = small.problem.free.tolist()
    axes = tuple(free.index(int(v)) for v in order)
    n = len(axes)
    steps = small.steps_to_everywhere(axes)
    if steps is None:
        return "zeros keep single updates from reaching every possible state"
    kernels = _tails(small, axes)
    if kernels is None:
        return "the chain mixes so slowly that rounding would swamp the constants"
    eta = dobrushin_coefficient(small.sweep(axes), small.support)
    common: dict[str, Any] = {
        "variables": n,
        "eta": eta,
        "joint": _discrepancy(small, axes, kernels, None, delta),
        "_small": small,
        "_order": axes,
        "_kernels": kernels,
        "_delta": delta,
    }
    if max(small.shape) > 2:
        return FullBounds(**common)
    # The theorem speaks of the conditionals that are herded, and those are the machine's.
    least = max(small.least_conditional - delta, UNIT)
    ell = least**steps
    rounds = math.ceil(steps / n)
    b = rounds * ell + sum(least**j * 2.0 ** min(n, j) for j in range(steps))
    return CompleteBounds(least_conditional=least, steps=steps, l=ell, b=b, **common)


def misplaced(values: int) -> int:
    """Bound how many visits of a context may go to wrong values, over any stretch of visits.

    Two values: less than one (Lemma 3). With K values and the rule `argmax`, the chosen value has
    the largest weight, at least the mean after adding p, and pays 1; so no weight is ever lower
    than its mean less 1 (first weights are from [0, 1)), and what lies below the mean adds up to at
    most K - 1. Frequencies are differences of weights at two times: at most twice that.

    Parameters
    ----------
    values
        K.

    Returns
    -------
    int
        1 for two values, else 2 (K - 1).
    """
    return 1 if values <= 2 else 2 * (values - 1)


def _tails(small: SmallModel, order: tuple[int, ...]) -> tuple[NDArray[np.float64], ...] | None:
    """Make, for each update of a sweep, what an error made there becomes: the rest of it, and Z.

    The first matrix is Z itself (up to a constant in each column, which differences do not see).
    """
    states = len(small.target)
    sweep = small.sweep(order)
    # Rows beyond the support are never used; with the target in them they cannot disturb.
    sweep[~small.support] = small.target
    system = np.eye(states) - sweep + small.target
    try:
        fundamental: NDArray[Any] = np.linalg.inv(system)
    except np.linalg.LinAlgError:
        return None
    residual = np.abs(system @ fundamental - np.eye(states)).sum(axis=1).max()
    # The inverse of what was inverted, and what the rounding of the matrix itself becomes in it.
    grown = np.abs(fundamental).sum(axis=1).max() * ROUNDING
    if not residual + grown < WORST_RESIDUAL:
        return None
    tails: list[NDArray[Any]] = [fundamental]
    for k in range(len(order)):
        rows = np.eye(states)
        for axis in order[k + 1 :]:
            rows = small.update(axis, rows)
        tails.append(rows @ fundamental)
    return tuple(tails)


def _discrepancy(
    small: SmallModel,
    order: tuple[int, ...],
    kernels: tuple[NDArray[np.float64], ...],
    axes: list[int] | None,
    delta: float,
) -> Discrepancy:
    """Add up what one visit of error in every context becomes, for the joint or a marginal."""
    shape = small.shape
    support = small.support.reshape(shape)

    def seen(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        if axes is None:
            return rows
        others = tuple(k + 1 for k in range(len(shape)) if k not in axes)
        return rows.reshape(-1, *shape).sum(axis=others).reshape(len(rows), -1)

    constant = bias = 0.0
    for axis, kernel in zip(order, kernels[1:], strict=True):
        rows = np.moveaxis(seen(kernel).reshape(*shape, -1), axis, 0)
        possible = np.moveaxis(support, axis, 0)
        # The error moves visits between two values at a time; those impossible get none.
        apart = np.zeros(possible.shape[1:])
        for v, w in combinations(range(shape[axis]), 2):
            distance = np.abs(rows[v] - rows[w]).sum(axis=-1) / 2.0
            apart = np.maximum(apart, np.where(possible[v] & possible[w], distance, 0.0))
        constant += misplaced(shape[axis]) * float(apart.sum())
        bias += delta * float(apart.max(initial=0.0))
    # The window moves on by a sweep: one state goes, one comes.
    constant += widest(seen(kernels[0])[small.support])
    slack = 1.0 + 10.0 * WORST_RESIDUAL
    return Discrepancy(constant * slack, bias * slack)
