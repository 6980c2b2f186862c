"""Everything about one small chain, computed when it is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.exact.lab import spectrum, structure
from heeler.exact.lab.hitting import hitting_matrix, hitting_times
from heeler.exact.lab.limits import DEFAULT_LIMIT, check_size
from heeler.exact.lab.matrix import TransitionMatrix, as_stochastic, transition_matrix
from heeler.exact.lab.words import report_of
from heeler.exact.oracle import check_limit
from heeler.model import Model

# A user's numbers carry rounding of their own.
_USERS_ROUNDING = 1e-9
_EPSILON = 0.25  # the usual distance at which a chain is called mixed


class Analysis:
    """What can be known about a small Markov chain; made by `heeler.lab`.

    Everything is computed from the whole transition matrix when it is first asked for. `report`
    says it in words, `to_dict` in numbers, `plot` in pictures.

    Attributes
    ----------
    matrix : TransitionMatrix
        The transition matrix.
    target : ndarray or None
        The distribution that the chain is meant for.
    labels : sequence of str
        Names of the states.
    """

    def __init__(
        self, matrix: TransitionMatrix, target: NDArray[np.float64] | None, memory_limit: int
    ) -> None:
        """Keep the matrix; nothing is computed yet."""
        self.matrix = matrix
        self.target = target
        self.labels = matrix.labels
        self._limit = memory_limit

    def __len__(self) -> int:
        """Count the states."""
        return self.matrix.n_states

    @property
    def tolerance(self) -> float:
        """How much of a difference the rounding of the probabilities explains."""
        return max(self.matrix.tolerance, 1e-12 * len(self))

    @cached_property
    def classes(self) -> list[structure.CommunicatingClass]:
        """The communicating classes, the closed ones first."""
        return structure.classes_of(self.matrix, self.labels)

    @property
    def closed_classes(self) -> list[structure.CommunicatingClass]:
        """The classes that the chain cannot leave."""
        return [c for c in self.classes if c.closed]

    @property
    def irreducible(self) -> bool:
        """Whether every state can be reached from every other one."""
        return len(self.classes) == 1

    @cached_property
    def period(self) -> int:
        """The period that the chain has after long; 1 is called aperiodic."""
        return structure.common_period(self.classes)

    @property
    def ergodic(self) -> bool:
        """Whether the chain converges to one distribution from every start.

        That takes one closed class, of period 1. Detailed balance does not imply it: the identity
        is in balance with everything and never moves.
        """
        return len(self.closed_classes) == 1 and self.period == 1

    @cached_property
    def stationary_distributions(self) -> NDArray[np.float64]:
        """The stationary distribution of each closed class, (classes, states)."""
        return np.stack(
            [structure.stationary_of(self.matrix, c.members) for c in self.closed_classes]
        )

    @property
    def stationary(self) -> NDArray[np.float64] | None:
        """The stationary distribution, or None where there are several."""
        return self.stationary_distributions[0] if len(self.closed_classes) == 1 else None

    @property
    def reference(self) -> NDArray[np.float64]:
        """The distribution that distances are taken from: the stationary one, or else the target.

        With several closed classes and no target it is the average of their distributions.
        """
        if self.stationary is not None:
            return self.stationary
        return self.stationary_distributions.mean(axis=0) if self.target is None else self.target

    @cached_property
    def drift(self) -> float | None:
        """How far one pass moves the target, the sum of absolute differences; None without one."""
        if self.target is None:
            return None
        return float(np.abs(self.target @ self.matrix - self.target).sum())

    @property
    def invariant(self) -> bool | None:
        """Whether the target is stationary, up to rounding; None without a target."""
        return None if self.drift is None else self.drift <= self.tolerance

    @property
    def bias(self) -> float | None:
        """Total variation between the stationary distribution and the target, where both exist."""
        if self.target is None or self.stationary is None:
            return None
        return float(0.5 * np.abs(self.stationary - self.target).sum())

    @cached_property
    def balance(self) -> structure.Balance:
        """Whether detailed balance holds, and the pair of states where it fails most."""
        pi = self.target if self.target is not None and self.invariant else self.reference
        return structure.balance_of(self.matrix, pi, self.labels, self.tolerance)

    @property
    def reversible(self) -> bool:
        """Whether detailed balance holds."""
        return self.balance.holds

    @cached_property
    def eigenvalues(self) -> NDArray[Any]:
        """All eigenvalues, the largest in absolute value first; real for reversible chains.

        Small ones of a chain that is not reversible are inaccurate: a product of conditionals has
        zero as a defective eigenvalue, which rounding spreads over a small disc.
        """
        self._fits("the eigenvalues", 6)
        pi = self.stationary if self.irreducible and self.reversible else None
        return spectrum.eigenvalues_of(self.matrix, pi, pi is not None)

    @property
    def second_eigenvalue(self) -> float:
        """The second largest absolute value of an eigenvalue; 1 for a chain that never mixes."""
        return spectrum.second(self.eigenvalues) if self.ergodic else 1.0

    @property
    def spectral_gap(self) -> float:
        """One minus the second largest absolute value of an eigenvalue."""
        return 1.0 - self.second_eigenvalue

    @property
    def relaxation_time(self) -> float:
        """One over the spectral gap, in passes: what distances fall by e in, after long."""
        return math.inf if self.spectral_gap <= 0 else 1.0 / self.spectral_gap

    @cached_property
    def _powers(self) -> spectrum.Powers:
        """Squares of the matrix, half of the memory that is allowed."""
        self._fits("powers of the matrix", 4)
        return spectrum.Powers(self.matrix, int(self._limit // (16 * len(self) ** 2)))

    def mixing_time(self, epsilon: float = _EPSILON) -> float:
        """Find the passes after which every start is within epsilon in total variation.

        Parameters
        ----------
        epsilon : float
            The distance, between 0 and 1.

        Returns
        -------
        float
            Passes; infinity for a chain that does not converge.
        """
        if not 0 < epsilon < 1:
            raise ValueError(
                "The 'epsilon' parameter must lie between 0 and 1, without the ends. "
                f"Got {epsilon!r} instead."
            )
        if not self.ergodic:
            return math.inf
        return spectrum.mixing_time(self._powers, self.reference, epsilon)

    def total_variation(self, times: Any) -> NDArray[np.float64]:
        """Compute how far the chain is from its stationary distribution, from every start.

        Parameters
        ----------
        times : sequence of int
            Numbers of passes.

        Returns
        -------
        ndarray
            (times, states): entry [k, l] for a chain that started in state l.
        """
        wanted = np.atleast_1d(np.asarray(times))
        if wanted.dtype.kind not in "iu" or wanted.ndim != 1 or (wanted < 0).any():
            raise ValueError(
                "The 'times' parameter must hold whole numbers that are not negative. "
                f"Got {times!r} instead."
            )
        result = np.empty((len(wanted), len(self)))
        rows, now = np.eye(len(self)), 0
        for k in np.argsort(wanted, kind="stable"):
            rows = self._powers.apply(rows, int(wanted[k]) - now)
            now = int(wanted[k])
            result[k] = spectrum.distances(rows, self.reference)
        return result

    def distribution(self, start: Any, passes: int) -> NDArray[np.float64]:
        """Compute where the chain is after some passes.

        Parameters
        ----------
        start : state or distribution
            A state as `state_index` takes it, or a probability of every state.
        passes : int
            How many.

        Returns
        -------
        ndarray
            float64 (states,).
        """
        from heeler.run.sample import whole

        first = np.zeros(len(self))
        given = np.asarray(start) if isinstance(start, np.ndarray | list | tuple) else None
        if given is not None and given.shape == (len(self),) and given.dtype.kind == "f":
            first[:] = given
        else:
            first[self.state_index(start)] = 1.0
        return self._powers.apply(first[None, :], whole("passes", passes, 0))[0]

    @cached_property
    def minorisation(self) -> spectrum.Minorisation:
        """The notes' bound (1 - v)^t, for the fewest passes that make v positive."""
        return self.minorised(None)

    def minorised(self, steps: int | None) -> spectrum.Minorisation:
        """Find the notes' v when some passes count as one move.

        Parameters
        ----------
        steps : int or None
            Passes; None takes the fewest up to 64 with v > 0.

        Returns
        -------
        Minorisation
            The bound, and the pair of states that it depends on.
        """
        from heeler.run.sample import whole

        self._fits("the overlaps of rows", 3)
        steps = None if steps is None else whole("steps", steps, 1)
        return spectrum.minorisation(self.matrix, self.reference, self.labels, steps)

    @cached_property
    def dobrushin(self) -> float:
        """The Dobrushin coefficient: every pass brings any two starts closer by this factor."""
        self._fits("the distances of rows", 3)
        return spectrum.dobrushin(self.matrix)

    @cached_property
    def perron(self) -> spectrum.Perron:
        """The Perron root, which is 1, between the least and the largest row sum."""
        self._fits("the eigenvectors", 8)
        return spectrum.perron(self.matrix)

    def state_index(self, state: Any) -> int:
        """Find a state's row.

        Parameters
        ----------
        state : int, str, sequence of int or mapping
            Its number, its label, its values, or its values by name.

        Returns
        -------
        int
            The row.
        """
        found = np.flatnonzero(self._members(state))
        if found.size != 1:
            raise ValueError(
                f"The 'state' parameter must be one state of the chain. Got {state!r}, which is "
                f"{found.size} of them."
            )
        return int(found[0])

    def _members(self, goal: Any) -> NDArray[np.bool_]:
        """Read a set of states."""
        inside = np.zeros(len(self), bool)
        states, model = self.matrix.states, self.matrix.model
        if isinstance(goal, str):
            inside[[k for k, name in enumerate(self.labels) if name == goal]] = True
        elif isinstance(goal, dict) and model is not None and states is not None:
            inside[:] = True
            for variable, value in goal.items():
                i = model.index(variable)
                inside &= states[:, i] == model.value_index(i, value)
        elif isinstance(goal, int | np.integer) and not isinstance(goal, bool):
            if 0 <= goal < len(self):
                inside[goal] = True
        elif isinstance(goal, np.ndarray) and goal.dtype == bool and goal.shape == inside.shape:
            inside |= goal
        elif isinstance(goal, Sequence | np.ndarray) and len(goal):
            if states is not None and np.shape(goal) == (states.shape[1],):
                inside = (states == np.asarray(goal)).all(axis=1)
            else:
                for member in goal:
                    inside |= self._members(member)
        if not inside.any():
            raise ValueError(
                "The chain has no such state: give a number from 0 to "
                f"{len(self) - 1}, a label, the values of a possible state, or a mapping from "
                f"variables to values. Got {goal!r}."
            )
        return inside

    def hitting_times(self, goal: Any) -> NDArray[np.float64]:
        """Compute the expected passes until some states are first met, from every start.

        Parameters
        ----------
        goal : state or states
            A state as `state_index` takes it, several of them, a mapping that clamps some
            variables, or an array of bool.

        Returns
        -------
        ndarray
            float64 (states,): 0 in the goal, infinity where it may never be met.
        """
        return hitting_times(self.matrix, self._members(goal))

    @cached_property
    def hitting_matrix(self) -> NDArray[np.float64]:
        """Expected passes from every state to every other one; irreducible chains only."""
        if not self.irreducible:
            raise ValueError(
                "The matrix of hitting times is for irreducible chains: use hitting_times(goal)."
            )
        self._fits("the hitting times", 5)
        return hitting_matrix(self.matrix, self.reference)

    @property
    def mean_hitting_time(self) -> float:
        """Kemeny's constant: expected passes to a state drawn from the stationary distribution.

        It is the same from every start; infinite for chains with several classes.
        """
        if not self.irreducible:
            return math.inf
        return float(self.hitting_matrix[0] @ self.reference)

    def _fits(self, what: str, matrices: int) -> None:
        """Refuse what needs more memory than allowed."""
        check_size(what, len(self), matrices * 8 * len(self) ** 2, self._limit)

    def report(self) -> str:
        """Say everything in words.

        Returns
        -------
        str
            Some lines.
        """
        return report_of(self)

    def __str__(self) -> str:
        """Say everything in words."""
        return self.report()

    def __repr__(self) -> str:
        """Say what the chain is, computing little."""
        kind = "ergodic" if self.ergodic else "not ergodic"
        name = self.matrix.description or "a given chain"
        return f"Analysis({name}: {len(self)} states, {self.matrix.nnz} transitions, {kind})"

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers, lists and texts.

        Returns
        -------
        dict
            Ready for JSON; infinities are floats.
        """
        from heeler.exact.lab.words import numbers_of

        return numbers_of(self)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the matrix, its eigenvalues, distances against time, and the distribution.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the picture to, by its ending.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.
        """
        from heeler.exact.lab.plot import plot_of

        return plot_of(self, path)


def analyse(
    chain: Any,
    kernel: Any = "gibbs",
    scan: Any = "systematic",
    *,
    temperature: float = 1.0,
    quantised: bool = True,
    target: Any = None,
    labels: Sequence[str] | None = None,
    memory_limit: int = DEFAULT_LIMIT,
) -> Analysis:
    """Analyse a kernel on a small model, or any small Markov chain.

    Parameters
    ----------
    chain : Model or matrix
        A model; or a transition matrix, entry [k, l] from state k to state l.
    kernel, scan, temperature, quantised
        As in `transition_matrix`, for a model.
    target : sequence of float, optional
        The distribution that a given chain is meant for; a model has its own.
    labels : sequence of str, optional
        Names of a given chain's states.
    memory_limit : int
        Bytes that matrices may take.

    Returns
    -------
    Analysis
        Stationary distribution, detailed balance, classes, periods, eigenvalues, mixing and
        hitting times, bounds.

    Raises
    ------
    TooLarge
        With the number of states and the memory.

    Examples
    --------
    >>> import heeler
    >>> found = heeler.lab.analyse([[0.5, 0.5], [0.2, 0.8]], labels=["rain", "sun"])
    >>> found.stationary.round(4).tolist(), found.reversible, round(found.spectral_gap, 3)
    ([0.2857, 0.7143], True, 0.7)
    """
    limit = check_limit(memory_limit)
    if isinstance(chain, Model):
        if target is not None or labels is not None:
            raise ValueError(
                "The 'target' and 'labels' parameters are for a matrix: a model has its own."
            )
        matrix = transition_matrix(
            chain,
            kernel,
            scan,
            temperature=temperature,
            quantised=quantised,
            memory_limit=limit,
        )
        return Analysis(matrix, matrix.target, limit)
    if isinstance(chain, TransitionMatrix) and chain.description:
        return Analysis(chain, chain.target if target is None else _share(target, chain), limit)
    plain = as_stochastic(chain, "chain")
    n = len(plain.indptr) - 1
    names = [str(k) for k in range(n)] if labels is None else [str(name) for name in labels]
    if len(names) != n:
        raise ValueError(
            f"The 'labels' parameter must name {n} states. Got {len(names)} names instead."
        )
    matrix = TransitionMatrix.of(plain, labels=names, tolerance=_USERS_ROUNDING)
    return Analysis(matrix, None if target is None else _share(target, matrix), limit)


def _share(target: Any, matrix: TransitionMatrix) -> NDArray[np.float64]:
    """Check a distribution over the states."""
    n = matrix.n_states
    try:
        share = np.asarray(target, np.float64)
    except (TypeError, ValueError):
        share = np.empty(0)
    if share.shape != (n,) or not (share >= 0).all() or not abs(share.sum() - 1.0) < 1e-6:
        raise ValueError(
            f"The 'target' parameter must hold {n} probabilities that sum to 1. "
            f"Got {target!r:.80} instead."
        )
    return share / share.sum()
