"""Proposals: swaps, and what a user writes with its density, or draws from conditionals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import shown
from heeler.run.settings import Settings
from heeler.run.step import Kernel


class Target:
    """A model as a user's move sees it: checks of states, scores of single ones.

    Parameters
    ----------
    model
        A discrete model or a density.
    """

    def __init__(self, model: Any) -> None:
        """Look the domain up."""
        self.model = model
        self.density = model.kind == "density"
        counts = model.values if self.density else np.asarray(model.cardinalities, np.int64)
        self.counts = counts
        self.kind = np.float64 if self.density else np.uint8 if counts.max() <= 256 else np.uint16
        clamped = None if self.density else model.evidence
        self.clamped = np.empty(0, np.int64) if clamped is None else np.flatnonzero(clamped >= 0)

    def score(self, x: NDArray[Any]) -> float:
        """Compute the log score of a state."""
        if self.density:
            return self.model.log_score(x)
        return float(self.model._log_scores(x[None])[0])  # `checked` has looked at it

    def checked(self, answer: Any, old: NDArray[Any], who: str) -> NDArray[Any]:
        """Check a state that a user's function gave."""
        if not self.density and isinstance(answer, np.ndarray) and answer.dtype.kind in "iu":
            inside = answer.shape == old.shape and ((answer >= 0) & (answer < self.counts)).all()
            if inside and not self.clamped.size:  # the usual case, without conversions
                return answer.astype(self.kind)
        try:
            x = np.asarray(answer, np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{who} must give a state. Got {shown(answer)} instead.") from None
        if x.shape != old.shape:
            raise ValueError(
                f"{who} must give a state of shape {old.shape}. Got shape {x.shape} instead."
            )
        if not np.isfinite(x).all():
            raise ValueError(f"{who} must give finite numbers. Got {_array(x)}.")
        discrete = self.counts > 0
        part = x[discrete]
        bad = (part < 0) | (part >= self.counts[discrete]) | (part != np.floor(part))
        if bad.any():
            place = int(np.flatnonzero(discrete)[np.flatnonzero(bad)[0]])
            raise ValueError(
                f"{who} left the domain: variable {self.model.names[place]!r} has values 0 to "
                f"{self.counts[place] - 1}. Got {x[place]:g}."
            )
        if (x[self.clamped] != old[self.clamped]).any():
            place = int(self.clamped[np.flatnonzero(x[self.clamped] != old[self.clamped])[0]])
            raise ValueError(
                f"{who} must leave clamped variables alone. Got another value of "
                f"{self.model.names[place]!r}."
            )
        return x.astype(self.kind)


def _array(x: NDArray[Any]) -> str:
    """Show a state in an error message."""
    return np.array2string(x, threshold=10)


@dataclass(frozen=True)
class Swap(Kernel):
    """Two variables exchange their values: Metropolis with a proposal that keeps the composition.

    A proposal is a pair drawn uniformly, accepted with probability min(1, f(new) / f(old)). Leaves
    p invariant, in detailed balance; how often each value occurs among the variables never changes,
    so mix it with another kernel unless that is what is wanted.

    Parameters
    ----------
    pairs
        Pairs of variables (names or indices) to draw from; ``"edges"`` for the model's neighbours;
        None for all pairs of free variables with equally many values.
    steps
        Proposals of a pass; None stands for one a free variable.
    """

    name: ClassVar[str] = "swap"
    pairs: Any = None
    steps: int | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        from heeler.run.sample import whole

        if self.steps is not None:
            whole("steps", self.steps, 1)
        if self.pairs is None or (isinstance(self.pairs, str) and self.pairs == "edges"):
            return
        try:
            pairs = tuple((u, v) for u, v in self.pairs)
        except (TypeError, ValueError):
            pairs = ()
        if not pairs or isinstance(self.pairs, str):
            raise ValueError(
                "The 'pairs' parameter must be pairs of variables, 'edges' or None. "
                f"Got {shown(self.pairs)} instead."
            )
        plain = [[v if isinstance(v, str) else int(v) for v in pair] for pair in pairs]
        object.__setattr__(self, "pairs", tuple(map(tuple, plain)))

    def engine(
        self, model: Any, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains.

        Parameters
        ----------
        model
            A discrete model.
        settings
            Chains, seed, temperature, what is kept.
        states
            First states (lanes, n).
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        del sweeps
        from heeler.kernel.swap_engine import SwapEngine

        if model.kind == "density":
            raise ValueError("The kernel 'swap' is for discrete models. Got a density.")
        scores = np.atleast_1d(model.log_score(states))
        return SwapEngine(
            model, self._partners(model, settings.seed), states.astype(Target(model).kind), scores,
            settings.betas, settings.keep.pairs, settings.keep.joint,
        )  # fmt: skip

    def transition_matrix(self, model: Any, temperature: float = 1.0) -> Any:
        """Compute the whole transition matrix of a pass on a small model.

        Parameters
        ----------
        model
            The model.
        temperature
            The distribution is p^(1/temperature).

        Returns
        -------
        csr_array
            Over the possible states, the last variable fastest.
        """
        from scipy.sparse import csr_array, eye_array

        counts = tuple(np.asarray(model.cardinalities).tolist())
        states = np.stack(np.unravel_index(np.arange(int(np.prod(counts))), counts), axis=1)
        scores = np.asarray(model.log_score(states))
        place = np.full(len(states), -1)
        possible = np.flatnonzero(scores > -np.inf)
        place[possible] = np.arange(len(possible))
        states, scores = states[possible], scores[possible] / temperature
        parts = self._partners(model, 0)
        pairs: list[tuple[int, int, float]] = []
        for k, first in enumerate(parts.first.tolist()):
            if len(parts.start):
                begin, count = int(parts.start[k]), int(parts.count[k])
                others = parts.second[begin : begin + count].tolist()
                share = 1.0 / len(parts.first) / (count - 1)
            else:
                others, share = [int(parts.second[k])], 1.0 / len(parts.first)
            pairs += [(first, other, share) for other in others if other != first]
        here = np.arange(len(states))
        one = csr_array((len(states), len(states)))
        for i, j, share in pairs:
            other = states.copy()
            other[:, [i, j]] = states[:, [j, i]]
            to = place[np.ravel_multi_index(tuple(other.T), counts)]
            gain = np.where(to >= 0, scores[to] - scores, -np.inf)
            moves = np.minimum(np.exp(np.minimum(gain, 0.0)), 1.0) * share * (to != here)
            kept = moves > 0
            one = one + csr_array((moves[kept], (here[kept], to[kept])), shape=one.shape)
        stays = 1.0 - np.asarray(one.sum(axis=1)).ravel()
        one = one + csr_array((stays, (here, here)), shape=one.shape)
        matrix = eye_array(len(states), format="csr")
        for _ in range(parts.steps):
            matrix = matrix @ one
        return csr_array(matrix)

    def _partners(self, model: Any, seed: int) -> Any:
        """List the pairs that are proposed."""
        from heeler.compiled.swaps import Partners

        free, cards = model.free, np.asarray(model.cardinalities)
        steps = len(free) if self.steps is None else self.steps
        none = np.empty(0, np.int64)
        if self.pairs is None:
            order = free[np.argsort(cards[free], kind="stable")]
            _, start, count = np.unique(cards[order], return_index=True, return_counts=True)
            begin, size = np.repeat(start, count), np.repeat(count, count)
            eligible = size > 1
            parts = (order[eligible], order, begin[eligible], size[eligible])
        else:
            pairs = self._resolved(model)
            parts = (pairs[:, 0], pairs[:, 1], none, none)
        first, second, begin, size = parts
        if not len(first):
            raise ValueError("The kernel 'swap' needs two free variables with equally many values.")
        return Partners(
            np.uint64(seed), first.astype(np.int32), second.astype(np.int32),
            begin.astype(np.int64), size.astype(np.int64), steps,
        )  # fmt: skip

    def _resolved(self, model: Any) -> NDArray[np.int64]:
        """Give the pairs as indices, checked against the model."""
        cards = np.asarray(model.cardinalities)
        if self.pairs == "edges":
            pointer, index = model.adjacency()
            row = np.repeat(np.arange(model.n_variables), np.diff(pointer))
            pairs = np.column_stack([row, index])[row < index].astype(np.int64)
            free = np.isin(pairs, model.free).all(axis=1)
            return pairs[free & (cards[pairs[:, 0]] == cards[pairs[:, 1]])]
        pairs = np.array([[model.index(u), model.index(v)] for u, v in self.pairs], np.int64)
        same = cards[pairs[:, 0]] == cards[pairs[:, 1]]
        fine = same & (pairs[:, 0] != pairs[:, 1]) & np.isin(pairs, model.free).all(axis=1)
        if not fine.all():
            wrong = pairs[np.flatnonzero(~fine)[0]]
            raise ValueError(
                "The 'pairs' parameter must be pairs of different free variables with equally many "
                f"values. Got {tuple(model.names[int(v)] for v in wrong)}."
            )
        return pairs

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        pairs = [list(pair) for pair in self.pairs] if isinstance(self.pairs, tuple) else self.pairs
        return {"name": self.name, "pairs": pairs, "steps": self.steps}

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Swap":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Swap
            The kernel.
        """
        return Swap(words["pairs"], words["steps"])


@dataclass(frozen=True)
class Proposal(Kernel):
    """A proposal of one's own: Metropolis-Hastings on a discrete model or a density.

    The state y = propose(x, random) is accepted with probability
    min(1, f(y) q(x | y) / (f(x) q(y | x))). Leaves p invariant, in detailed balance, if
    `log_density` really is the density of `propose`; `propose` must be a function of its arguments
    alone.

    Parameters
    ----------
    propose
        Function of a state (n,) and a `numpy.random.Generator` that gives another state; the
        generator is all the randomness it may use. States hold values (integers) of a discrete
        model, float64 of a density.
    log_density
        Function of two states: log q(new | old), up to a constant. None for symmetric proposals,
        q(x | y) = q(y | x).
    steps
        Proposals of a pass.
    """

    name: ClassVar[str] = "proposal"
    has_code: ClassVar[bool] = True
    propose: Callable[[NDArray[Any], np.random.Generator], Any]
    log_density: Callable[[NDArray[Any], NDArray[Any]], float] | None = None
    steps: int = 1

    def __post_init__(self) -> None:
        """Check the fields."""
        from heeler.run.sample import whole

        if not callable(self.propose):
            raise TypeError(
                "The 'propose' parameter must be a function of a state and a random generator. "
                f"Got {shown(self.propose)} instead."
            )
        if self.log_density is not None and not callable(self.log_density):
            raise TypeError(
                "The 'log_density' parameter must be a function of the new and the old state, or "
                f"None. Got {shown(self.log_density)} instead."
            )
        whole("steps", self.steps, 1)

    def engine(
        self, model: Any, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains.

        Parameters
        ----------
        model
            A discrete model or a density.
        settings
            Chains, seed, temperature, what is kept.
        states
            First states (lanes, n).
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        del sweeps
        target = Target(model)

        def step(
            x: NDArray[Any], random: np.random.Generator, score: float, beta: float
        ) -> tuple[NDArray[Any], float, bool]:
            old = _given(x)
            new = target.checked(self.propose(old, random), x, "The function 'propose'")
            ratio = 0.0
            if self.log_density is not None:
                new_given, old_given = _given(new), _given(x)
                ratio = self._log_q(old_given, new_given, back=True)
                ratio -= self._log_q(new_given, old_given, back=False)
            if np.isneginf(ratio):
                return x, score, False
            value = target.score(new)
            accepted = np.log(1.0 - random.random()) < beta * (value - score) + ratio
            return (new, value, True) if accepted else (x, score, False)

        return _make_engine(model, settings, states, target, step, self.steps, rejects=True)

    def _log_q(self, new: NDArray[Any], old: NDArray[Any], *, back: bool) -> float:
        """Call the proposal's density, and check what it gives."""
        assert self.log_density is not None
        answer = self.log_density(new, old)
        try:
            value = float(answer)
        except (TypeError, ValueError):
            value = np.nan
        if np.isnan(value) or value == np.inf:
            raise ValueError(
                "The function 'log_density' must give a number, or -inf. Got "
                f"{shown(answer)} for {_array(new)} given {_array(old)}."
            )
        if value == -np.inf and not back:
            raise ValueError(
                "The function 'log_density' says that what 'propose' gave is impossible: "
                f"{_array(new)} given {_array(old)}."
            )
        return value

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values; its functions by name."""
        return {
            "name": self.name,
            "propose": _name(self.propose),
            "log_density": None if self.log_density is None else _name(self.log_density),
            "steps": self.steps,
            "code": True,
        }


@dataclass(frozen=True)
class Conditionals(Kernel):
    """Gibbs sampling with conditionals of one's own: each draw is accepted.

    Leaves p invariant if each function really draws from the conditional of its variables given
    all the others. A pass makes every draw once, in the order given.

    Parameters
    ----------
    draws
        Variable, or tuple of variables -> function of a state (n,) and a
        `numpy.random.Generator` that gives the variables' new values.
    """

    name: ClassVar[str] = "conditionals"
    has_code: ClassVar[bool] = True
    draws: Mapping[Any, Callable[[NDArray[Any], np.random.Generator], Any]]

    def __post_init__(self) -> None:
        """Check the functions."""
        if (
            not isinstance(self.draws, Mapping)
            or not self.draws
            or not all(callable(draw) for draw in self.draws.values())
        ):
            raise TypeError(
                "The 'draws' parameter must map variables to functions of a state and a random "
                f"generator. Got {shown(self.draws)} instead."
            )

    def engine(
        self, model: Any, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains.

        Parameters
        ----------
        model
            A discrete model or a density.
        settings
            Chains, seed, what is kept; the temperature must be 1.
        states
            First states (lanes, n).
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        del sweeps
        if settings.beta != 1.0:
            raise ValueError(
                "The 'temperature' parameter must be 1 with conditionals of your own, which are "
                "those of the distribution itself."
            )
        target = Target(model)
        places = [
            np.array([model.index(v) for v in (key if isinstance(key, tuple) else (key,))])
            for key in self.draws
        ]
        draws = list(self.draws.values())

        def step(
            x: NDArray[Any], random: np.random.Generator, score: float, beta: float
        ) -> tuple[NDArray[Any], float, bool]:
            del score, beta
            for at, draw in zip(places, draws, strict=True):
                answer = draw(_given(x), random)
                y = np.array(x, np.float64)
                try:
                    y[at] = np.asarray(answer, np.float64).reshape(len(at))
                except (TypeError, ValueError):
                    raise ValueError(
                        f"The function that draws variables {at.tolist()} must give {len(at)} "
                        f"numbers. Got {shown(answer)} instead."
                    ) from None
                x = target.checked(y, x, f"The function that draws variables {at.tolist()}")
            value = target.score(x)
            if value == -np.inf:
                raise ValueError(
                    f"The functions of 'draws' left the support: {_array(x)} is impossible."
                )
            return x, value, True

        return _make_engine(model, settings, states, target, step, 1, rejects=False)

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values; its functions by name."""
        named = {str(key): _name(draw) for key, draw in self.draws.items()}
        return {"name": self.name, "draws": named, "code": True}


def _given(x: NDArray[Any]) -> NDArray[Any]:
    """Copy a state for a user's function: it may do with it as it likes."""
    return x.astype(np.int64) if x.dtype.kind == "u" else x.copy()


def _name(function: Any) -> str:
    """Name a function."""
    return getattr(function, "__qualname__", type(function).__name__)


def _make_engine(
    model: Any,
    settings: Settings,
    states: NDArray[Any],
    target: Target,
    step: Any,
    steps: int,
    *,
    rejects: bool,
) -> Any:
    """Make the engine of a move in Python."""
    from heeler.kernel.proposal_engine import ProposalEngine

    scores = np.atleast_1d(model.log_score(states))
    return ProposalEngine(
        model, step, steps, states.astype(target.kind), scores, settings.betas, settings.seed,
        settings.keep.pairs, settings.keep.joint, rejects,
    )  # fmt: skip
