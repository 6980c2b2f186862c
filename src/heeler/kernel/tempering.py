"""Parallel tempering: one engine a temperature, whose states change places."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The words of swaps: a key of their own beside the seed.
_SWAPS = 0x7E3A9E41


class TemperingEngine:
    """Chains at a ladder of temperatures; see the engine's contract in the design page.

    The first rung is the distribution that is sampled: states, sums and visits are its own. After
    every `every` passes neighbouring rungs offer each other their states, the even pairs and the
    odd ones in turns, and chains swap with the Metropolis probability.

    Parameters
    ----------
    parts
        Engines of the same chains, the coldest first.
    ratios
        Each rung's inverse temperature over that of the first: 1 first, falling.
    betas
        (first pass, count) -> inverse temperatures of the first rung.
    states, scores
        First states (lanes, n) of all rungs, and their log scores.
    every
        Passes from one round of swaps to the next.
    seed
        The seed of the swaps.
    """

    def __init__(
        self,
        parts: list[Any],
        ratios: NDArray[np.float64],
        betas: Callable[[int, int], NDArray[np.float64]],
        states: NDArray[Any],
        scores: NDArray[np.float64],
        every: int,
        seed: int,
    ) -> None:
        """Take the rungs over."""
        self.parts = parts
        self.ratios = ratios
        self._betas = betas
        self.lanes, self.n = states.shape
        self.binary = parts[0].binary
        self.entries = getattr(parts[0], "entries", self.n)
        self.rows = parts[0].rows
        self.passes = 0
        self._every = every
        self._seed = seed
        rungs = len(parts)
        self.rung_scores = np.repeat(np.asarray(scores, np.float64)[None, :], rungs, axis=0)
        # Which replica is at each rung, and whether it saw the hottest rung last.
        self.replica = np.repeat(np.arange(rungs)[:, None], self.lanes, axis=1)
        self.from_hot = np.zeros((rungs, self.lanes), bool)
        self.from_hot[-1] = True
        self.swaps = np.zeros((2, rungs - 1), np.int64)  # accepted, offered
        self.trips = np.zeros(1, np.int64)

    def advance(
        self, passes: int, scores: NDArray[np.float64] | None = None, threads: int = 1
    ) -> None:
        """Run passes.

        Parameters
        ----------
        passes
            How many.
        scores
            float64 (passes, lanes), or None: the first rung's log score after every pass.
        threads
            How many threads the parts may use.
        """
        if passes == 0:
            for part in self.parts:  # compiles what will be needed
                part.advance(0, np.empty((0, self.lanes)), threads)
        done = 0
        while done < passes:
            count = min(self._every - self.passes % self._every, passes - done)
            for rung, part in enumerate(self.parts):
                own = np.empty((count, self.lanes))
                part.advance(count, own, threads)
                self.rung_scores[rung] = own[-1]
                if rung == 0 and scores is not None:
                    scores[done : done + count] = own
            self.passes += count
            done += count
            if self.passes % self._every == 0:
                self._swap()
                if scores is not None:
                    scores[done - 1] = self.rung_scores[0]

    def _swap(self) -> None:
        """Offer neighbouring rungs each other's states."""
        round_number = self.passes // self._every
        beta = float(self._betas(self.passes - 1, 1)[0]) * self.ratios
        key = np.array([self._seed, _SWAPS], np.uint64)
        random = np.random.Generator(np.random.Philox(key=key, counter=[round_number, 0, 0, 0]))
        words = random.random((len(self.parts), self.lanes))
        order = np.repeat(np.arange(len(self.parts))[:, None], self.lanes, axis=1)
        for cold in range(round_number % 2, len(self.parts) - 1, 2):
            gain = (beta[cold] - beta[cold + 1]) * (
                self.rung_scores[cold + 1] - self.rung_scores[cold]
            )
            taken = words[cold] < np.exp(np.minimum(gain, 0.0))
            self.swaps[:, cold] += int(taken.sum()), self.lanes
            order[cold, taken], order[cold + 1, taken] = cold + 1, cold
        self._move(order)
        # A replica that comes to the cold end from the hot one has made a round trip.
        lane = np.arange(self.lanes)
        first, last = self.replica[0], self.replica[-1]
        self.trips += int(self.from_hot[first, lane].sum())
        self.from_hot[first, lane] = False
        self.from_hot[last, lane] = True

    def _move(self, order: NDArray[np.int64]) -> None:
        """Give every rung the states of the rungs named for it."""
        moved = (order != np.arange(len(order))[:, None]).any(axis=1)
        if not moved.any():
            return
        lane = np.arange(self.lanes)
        states = {int(r): self.parts[r].states().copy() for r in np.flatnonzero(moved)}
        self.rung_scores = self.rung_scores[order, lane]
        self.replica = self.replica[order, lane]
        for rung, own in states.items():
            mine = own.copy()
            for other in (rung - 1, rung + 1):
                from_there = order[rung] == other
                if from_there.any():
                    mine[from_there] = states[other][from_there]
            self.parts[rung].adopt(mine, self.rung_scores[rung])

    def adopt(self, states: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Take other states as those of the first rung.

        Parameters
        ----------
        states
            (lanes, n), inside the support.
        scores
            Their log scores (lanes,).
        """
        self.parts[0].adopt(states, scores)
        self.rung_scores[0] = scores

    def states(self) -> NDArray[Any]:
        """Give the first rung's present states (lanes, n)."""
        return self.parts[0].states()

    def best_states(self) -> NDArray[Any]:
        """Give the best states of every rung (bests, n)."""
        return np.concatenate([part.best_states() for part in self.parts])

    def best_scores(self) -> NDArray[np.float64]:
        """Give the best log scores of every rung (bests, 1)."""
        scores = [part.best_scores() for part in self.parts]
        return np.concatenate([s.reshape(len(s), -1).sum(axis=1) for s in scores])[:, None]

    def reset_sums(self) -> None:
        """Forget the averages: the burn-in is over."""
        for part in self.parts:
            part.reset_sums()
        self.swaps[:] = 0
        self.trips[:] = 0

    def sums(self) -> NDArray[np.float64]:
        """Give the first rung's sums (rows, entries)."""
        return self.parts[0].sums()

    def visits(self) -> NDArray[np.int64]:
        """Give how often each variable was updated at the first rung since the reset."""
        return self.parts[0].visits()

    @property
    def watch(self) -> Any:
        """The first rung's counters."""
        return getattr(self.parts[0], "watch", None)

    def statistics(self) -> dict[str, Any]:
        """Give swap rates and round trips since the reset."""
        with np.errstate(invalid="ignore"):
            rates = self.swaps[0] / self.swaps[1]
        return {
            "temperatures": (1.0 / self.ratios).tolist(),
            "swap_rates": rates.tolist(),
            "round_trips": int(self.trips[0]),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        result = {
            "passes": np.array([self.passes]),
            "rung_scores": self.rung_scores,
            "replica": self.replica,
            "from_hot": self.from_hot,
            "swaps": self.swaps,
            "trips": self.trips,
        }
        for k, part in enumerate(self.parts):
            result |= {f"{k}/{name}": array for name, array in part.arrays().items()}
        return result

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        rungs = np.arange(len(self.parts))
        if (np.sort(arrays["replica"], axis=0) != rungs[:, None]).any():
            raise ValueError("the array 'replica' must name every replica once in every chain")
        for k, part in enumerate(self.parts):
            prefix = f"{k}/"
            part.load({n[len(prefix) :]: a for n, a in arrays.items() if n.startswith(prefix)})
        self.passes = int(arrays["passes"][0])
        for name in ("rung_scores", "replica", "from_hot", "swaps", "trips"):
            getattr(self, name)[...] = arrays[name]
