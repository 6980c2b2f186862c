"""Batch means in constant memory: batches get longer as a run does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BATCHES = 16


class Batches:
    """Means of consecutive stretches of a run; once there are 16, neighbours merge.

    So lengths double, at fixed numbers of passes: a run in pieces has the batches of an unbroken
    one.

    Parameters
    ----------
    lanes, entries
        Chains, and numbers averaged.
    """

    def __init__(self, lanes: int, entries: int) -> None:
        """Start with batches of one pass."""
        self.length = 1
        self.count = 0
        # The run's sums at the ends of batches, the first entry its start. Two batches become one
        # by forgetting the end between them, and nothing is divided before errors are asked for.
        self.marks = np.zeros((MOST_BATCHES + 1, lanes, entries))
        self.visits = np.zeros((MOST_BATCHES + 1, entries))

    def next_pass(self, passes: int) -> int:
        """Say at which pass the present batch ends.

        Parameters
        ----------
        passes
            Passes done since the burn-in.

        Returns
        -------
        int
            A later number of passes.
        """
        return (passes // self.length + 1) * self.length

    def add(self, sums: NDArray[np.float64], visits: NDArray[np.int64]) -> None:
        """End a batch.

        Parameters
        ----------
        sums
            Sums since the burn-in, (lanes, entries).
        visits
            Updates behind each entry, (entries,).
        """
        self.count += 1
        self.marks[self.count] = sums
        self.visits[self.count] = visits
        if self.count == MOST_BATCHES:
            self._merge()

    def _merge(self) -> None:
        """Make one batch of each two."""
        self.count //= 2
        for kept in (self.marks, self.visits):
            kept[1 : self.count + 1] = kept[2::2]
        self.length *= 2

    def errors(self) -> NDArray[np.float64]:
        """Estimate the standard error of the mean over all lanes and batches.

        Returns
        -------
        ndarray
            float64 (entries,); NaN with fewer than four batches.
        """
        if self.count < 4:
            return np.full(self.visits.shape[1], np.nan)
        until = self.count + 1
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.diff(self.marks[:until], axis=0)
            means /= np.diff(self.visits[:until], axis=0)[:, None]
            return means.std(axis=(0, 1), ddof=1) / np.sqrt(means.shape[0] * means.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        return {
            "numbers": np.array([self.length, self.count]),
            "marks": self.marks,
            "visits": self.visits,
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        self.length, self.count = (int(k) for k in arrays["numbers"])
        for name in ("marks", "visits"):
            setattr(self, name, arrays[name].copy())
