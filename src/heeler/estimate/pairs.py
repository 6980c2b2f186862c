"""Pairs of coupled chains: by common words with any engine, or maximally with a loop of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.estimate.chains import Chains
from heeler.estimate.target import Asked
from heeler.kernel.orders import compile_scan
from heeler.kernel.threads import run_parts
from heeler.model.base import Model
from heeler.run.settings import Settings

# Updates between two looks at whether all pairs have met, about 10 ms of work.
PIECE_UPDATES = 1 << 20


class UniformPairs:
    """Two sets of chains that read the same words.

    Parameters
    ----------
    model, settings
        What is run.
    leader
        The chains that are ahead.
    start
        First states of the others (pairs, n).
    lag
        How many sweeps ahead the leader is.
    target
        What the distance is about.
    """

    piece = 1  # states are compared after every pass

    def __init__(
        self,
        model: Model,
        settings: Settings,
        leader: Chains,
        start: NDArray[Any],
        lag: int,
        target: Asked,
    ) -> None:
        """Set the followers to the leaders' place in time."""
        self._leader = leader
        self._follower = Chains(model, settings, start, lag)
        self._target = target

    def _differ(self) -> NDArray[np.bool_]:
        """Say where the states differ (pairs, n)."""
        return np.not_equal(self._leader.states(), self._follower.states())

    def apart(self) -> NDArray[np.float64]:
        """Measure how far apart the pairs are (pairs,)."""
        return self._target.distances(self._differ() @ self._target.weights)

    def together(self) -> NDArray[np.bool_]:
        """Say which pairs agree everywhere (pairs,)."""
        return np.logical_not(np.any(self._differ(), axis=1))

    def advance(self, passes: int, threads: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Run passes.

        Parameters
        ----------
        passes
            How many: one.
        threads
            Threads to use.

        Returns
        -------
        apart, together : ndarray
            (passes, pairs): how far apart, and whether everywhere equal, after each.
        """
        self._leader.advance(passes, threads)
        self._follower.advance(passes, threads)
        return self.apart()[None], self.together()[None]


class MaximalPairs:
    """Pairs whose updates are coupled maximally; see `heeler.compiled.coupled`.

    Parameters
    ----------
    model, settings, leader, start, lag, target
        As for `UniformPairs`.
    """

    def __init__(
        self,
        model: Model,
        settings: Settings,
        leader: Chains,
        start: NDArray[Any],
        lag: int,
        target: Asked,
    ) -> None:
        """Lower the model as variables of any number of values."""
        from heeler.kernel.lowered import MOST_CONTEXTS, lower_potts, lower_slots
        from heeler.kernel.slots import slots_of

        self._scan, steps = compile_scan(settings.scan, model, settings.seed)
        kind: Any = model
        beta = settings.beta
        if (
            model.kind == "potts"
            and kind.field.shape[1] ** int(np.diff(kind.pointer).max(initial=0)) > MOST_CONTEXTS
        ):
            lowered = lower_potts(kind.pointer, kind.column, kind.coupling, kind.field)
        else:
            lowered = lower_slots(slots_of(model.to_factor_graph()), beta, False, model.has_zeros)
        self._conditional, self._beta = lowered.conditional, beta
        self._key = np.uint64(settings.seed)
        n = model.n_variables
        self._states = np.zeros((len(start), 2, n + 1), np.uint16)
        self._states[:, 0, :n], self._states[:, 1, :n] = leader.states(), start
        self._passes, self._target, self._n = lag, target, n
        self._steps = steps
        self._values = int(np.asarray(model.cardinalities).max())
        self.piece = max(1, PIECE_UPDATES // (steps * len(start)))

    def apart(self) -> NDArray[np.float64]:
        """Measure how far apart the pairs are (pairs,)."""
        differ = self._states[:, 0, : self._n] != self._states[:, 1, : self._n]
        return self._target.distances(differ @ self._target.weights)

    def together(self) -> NDArray[np.bool_]:
        """Say which pairs agree everywhere (pairs,)."""
        return (self._states[:, 0] == self._states[:, 1]).all(axis=1)

    def advance(self, passes: int, threads: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Run passes.

        Parameters
        ----------
        passes
            How many.
        threads
            Threads to use.

        Returns
        -------
        apart, together : ndarray
            (passes, pairs): how far apart, and whether everywhere equal, after each.
        """
        pairs = len(self._states)
        apart = np.zeros((passes, 2, pairs))
        parts = np.array_split(np.arange(pairs), min(threads, pairs))
        run_parts([self._part(jobs, passes, apart) for jobs in parts])
        self._passes += passes
        return self._target.distances(apart[:, 0]), apart[:, 1] == 0

    def _part(self, jobs: NDArray, passes: int, apart: NDArray) -> Any:
        """Bind one thread's call."""
        from heeler.compiled.coupled import advance_coupled
        from heeler.kernel.lowered import make_scratch

        scratch = make_scratch(self._values, self._steps, np.zeros(self._n + 1, np.uint16))
        room = np.zeros((2, self._values), np.int64)
        weights = np.stack([self._target.weights, np.ones(self._n)])

        def call() -> None:
            advance_coupled(
                self._conditional, self._scan, self._key, self._states, self._beta, self._passes,
                passes, jobs, weights, apart, scratch, room,
            )  # fmt: skip

        return call
