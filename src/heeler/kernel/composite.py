"""Engines made of engines: the states go from one to the next, everything else stays at home."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.loop import Watch
from heeler.compiled.words import BLOCK, DRAW_SITE, fill_words

# What all lanes share in a mixture, its choices, uses the words of a lane that does not exist.
_CHOICE_LANE = 0xFFFFFFFF
THREAD_SECONDS = 0.002  # a part's turn must take this long before a second thread pays


class Clock:
    """The temperatures of parts, which do not know how many passes the whole has made.

    Parameters
    ----------
    betas
        (first pass, count) -> inverse temperatures, by the whole's passes.
    """

    def __init__(self, betas: Callable[[int, int], NDArray[np.float64]]) -> None:
        """Start before the first pass."""
        self._betas = betas
        self.start = 0
        self.running = False

    def betas(self, first: int, count: int) -> NDArray[np.float64]:
        """Give the inverse temperatures of a part's next passes.

        Parameters
        ----------
        first
            The part's own number of passes; the whole's counts instead.
        count
            How many.

        Returns
        -------
        ndarray
            float64 (count,).
        """
        del first
        if self.running:
            return self._betas(self.start, count)
        return np.repeat(self._betas(self.start, 1), count)


class CompositeEngine:
    """What mixtures and cycles have in common; see the engine's contract in the design page.

    Sums and visits are those of the parts, added up. A part takes the states of the one before it
    and keeps its memory, its random words and its statistics.

    Parameters
    ----------
    parts
        Engines of the same chains.
    clock
        The clock that the parts look at.
    states, scores
        First states (lanes, n) and their log scores, which the parts start from too.
    titles
        The parts' names.
    """

    def __init__(
        self,
        parts: list[Any],
        clock: Clock,
        states: NDArray[Any],
        scores: NDArray[np.float64],
        titles: list[str],
    ) -> None:
        """Take the parts over."""
        self.parts = parts
        self._titles = titles
        self.clock = clock
        self.lanes, self.n = states.shape
        self.passes = 0
        self.holder = 0  # the part that has the present states
        self.scores = np.array(scores, np.float64)
        self._seconds = [0.0] * len(parts)  # of a part's last pass; leaves no trace in numbers
        self.binary = all(part.binary for part in parts)
        self.entries = self.n if self.binary else max(_columns(part) for part in parts)
        rows = {part.rows for part in parts}
        self.rows = rows.pop() if len(rows) == 1 else 1

    def advance(
        self, passes: int, scores: NDArray[np.float64] | None = None, threads: int = 1
    ) -> None:
        """Run passes.

        Parameters
        ----------
        passes
            How many.
        scores
            float64 (passes, lanes), or None: the log score after every pass.
        threads
            How many threads the parts may use.
        """
        done = np.empty((passes, self.lanes)) if scores is None else scores
        first, last = self.passes, self.passes + passes
        while self.passes < last:
            begin = self.passes - first
            count = self._next(last - self.passes, done[begin:], threads)
            self.passes += count
        if passes == 0:
            for part in self.parts:  # compiles what will be needed
                part.advance(0, np.empty((0, self.lanes)), threads)

    def _next(self, most: int, scores: NDArray[np.float64], threads: int) -> int:
        """Run one pass or more, at most so many; say how many."""
        raise NotImplementedError(f"{type(self).__name__} must define _next")

    def _run_part(
        self, number: int, passes: int, scores: NDArray[np.float64], threads: int
    ) -> None:
        """Hand the states to a part and let it run."""
        part = self.parts[number]
        if number != self.holder:
            part.adopt(self.parts[self.holder].states(), self.scores)
            self.holder = number
        # Starting threads takes longer than a pass of a small model: they must pay.
        alone = passes * self._seconds[number] < THREAD_SECONDS
        begin = time.perf_counter()
        part.advance(passes, scores, 1 if alone else threads)
        self._seconds[number] = (time.perf_counter() - begin) / passes
        self.scores[:] = scores[passes - 1]

    def adopt(self, states: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Take other states as the present ones.

        Parameters
        ----------
        states
            (lanes, n), inside the support.
        scores
            Their log scores (lanes,).
        """
        self.parts[self.holder].adopt(states, scores)
        self.scores[:] = scores

    def states(self) -> NDArray[Any]:
        """Give the present states (lanes, n)."""
        return self.parts[self.holder].states()

    def best_states(self) -> NDArray[Any]:
        """Give the best states of every part (bests, n)."""
        return np.concatenate([part.best_states() for part in self.parts])

    def best_scores(self) -> NDArray[np.float64]:
        """Give the best log scores of every part (bests, 1)."""
        scores = [part.best_scores() for part in self.parts]
        return np.concatenate([s.reshape(len(s), -1).sum(axis=1) for s in scores])[:, None]

    def reset_sums(self) -> None:
        """Forget the averages: the burn-in is over."""
        for part in self.parts:
            part.reset_sums()

    def sums(self) -> NDArray[np.float64]:
        """Give the sums of the parts (rows, entries)."""
        return sum(self._of_part(part) for part in self.parts)  # type: ignore[return-value]

    def _of_part(self, part: Any) -> NDArray[np.float64]:
        """Give a part's sums in the rows and columns of the whole."""
        sums = part.sums()
        if part.rows != self.rows:
            sums = sums.mean(axis=0, keepdims=True)
        if part.binary and not self.binary:
            other = part.visits() - sums
            sums = np.stack([other, sums], axis=2).reshape(len(sums), -1)
        return sums

    def visits(self) -> NDArray[np.int64]:
        """Give how often each variable was updated since the reset, by any part."""
        return sum(np.asarray(part.visits()) for part in self.parts)  # type: ignore[return-value]

    @property
    def reference(self) -> Any:
        """What sums on a density are differences from: the same for all parts."""
        return self.parts[0].reference

    @property
    def watch(self) -> Watch | None:
        """The counters of all parts together; None where a part has none."""
        watches = [getattr(part, "watch", None) for part in self.parts]
        if any(watch is None for watch in watches):
            return None
        pairs = sum(watch.pairs for watch in watches)  # type: ignore[union-attr]
        joint = sum(watch.joint for watch in watches)  # type: ignore[union-attr]
        return watches[0]._replace(pairs=pairs, joint=joint)  # type: ignore[union-attr]

    def statistics(self) -> dict[str, Any]:
        """Give every part's passes and its own numbers."""
        named = zip(self._titles, self.parts, strict=True)
        return {
            "parts": [
                {"kernel": title, "passes": part.passes, **part.statistics()}
                for title, part in named
            ]
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        result = {
            "passes": np.array([self.passes, self.holder]),
            "present_scores": self.scores,
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
        passes, holder = (int(k) for k in arrays["passes"])
        if not 0 <= holder < len(self.parts):
            raise ValueError("the array 'passes' names a part that the kernel does not have")
        for k, part in enumerate(self.parts):
            prefix = f"{k}/"
            part.load({n[len(prefix) :]: a for n, a in arrays.items() if n.startswith(prefix)})
        self.passes, self.holder = passes, holder
        self.scores[:] = arrays["present_scores"]


class CycleEngine(CompositeEngine):
    """Every part in its turn, in every pass.

    Parameters
    ----------
    parts, clock, states, scores, titles
        As in `CompositeEngine`.
    repeats
        Passes of each part in its turn.
    """

    def __init__(
        self,
        parts: list[Any],
        clock: Clock,
        states: NDArray[Any],
        scores: NDArray[np.float64],
        titles: list[str],
        repeats: tuple[int, ...],
    ) -> None:
        """Take the parts over."""
        super().__init__(parts, clock, states, scores, titles)
        self._repeats = repeats

    def _next(self, most: int, scores: NDArray[np.float64], threads: int) -> int:
        """Run one pass."""
        del most
        self.clock.start, self.clock.running = self.passes, False
        for number, repeats in enumerate(self._repeats):
            self._run_part(number, repeats, np.empty((repeats, self.lanes)), threads)
        scores[0] = self.scores
        return 1


class MixtureEngine(CompositeEngine):
    """One part in every pass, chosen at random, the same for all chains.

    Parameters
    ----------
    parts, clock, states, scores, titles
        As in `CompositeEngine`.
    weights
        Probabilities of the parts.
    seed
        The seed of the choices.
    """

    def __init__(
        self,
        parts: list[Any],
        clock: Clock,
        states: NDArray[Any],
        scores: NDArray[np.float64],
        titles: list[str],
        weights: tuple[float, ...],
        seed: int,
    ) -> None:
        """Take the parts over."""
        super().__init__(parts, clock, states, scores, titles)
        # Part k is chosen by words below limits[k] that no earlier part takes.
        self._limits = np.rint(np.cumsum(weights) * 2.0**32)[:-1].astype(np.uint64)
        self._key = np.uint64(seed)

    def choices(self, first: int, count: int) -> NDArray[np.int64]:
        """Give the parts chosen in some passes.

        Parameters
        ----------
        first
            Number of the first pass.
        count
            How many.

        Returns
        -------
        ndarray
            int64 (count,): numbers of parts.
        """
        blocks = range(first // BLOCK, -(-(first + count) // BLOCK))
        words = np.empty(len(blocks) * BLOCK, np.uint32)
        for k, block in enumerate(blocks):
            mine = words[k * BLOCK : (k + 1) * BLOCK]
            fill_words(mine, self._key, block, DRAW_SITE, _CHOICE_LANE)
        start = first % BLOCK
        chosen = words[start : start + count].astype(np.uint64)
        return np.searchsorted(self._limits, chosen, side="right")

    def _next(self, most: int, scores: NDArray[np.float64], threads: int) -> int:
        """Run the passes up to the next change of part."""
        chosen = self.choices(self.passes, min(most, BLOCK))
        change = np.flatnonzero(chosen != chosen[0])
        count = int(change[0]) if len(change) else len(chosen)
        self.clock.start, self.clock.running = self.passes, True
        self._run_part(int(chosen[0]), count, scores[:count], threads)
        return count


def _columns(part: Any) -> int:
    """Count the columns of a part's sums."""
    return part.n if part.binary else part.entries
