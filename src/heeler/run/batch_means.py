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
        self.means = np.zeros((MOST_BATCHES, lanes, entries))
        self.weights = np.zeros((MOST_BATCHES, entries))
        self.count = 0
        self.last_sums = np.zeros((lanes, entries))
        self.last_visits = np.zeros(entries)

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
        weight = visits - self.last_visits
        with np.errstate(invalid="ignore", divide="ignore"):
            self.means[self.count] = (sums - self.last_sums) / weight
        self.weights[self.count] = weight
        self.last_sums = sums.copy()
        self.last_visits = visits.astype(np.float64)
        self.count += 1
        if self.count == MOST_BATCHES:
            self._merge()

    def _merge(self) -> None:
        """Make one batch of each two."""
        half = MOST_BATCHES // 2
        weights = self.weights[0::2] + self.weights[1::2]
        filled = [np.where(self.weights[k::2, None] > 0, self.means[k::2], 0.0) for k in (0, 1)]
        total = filled[0] * self.weights[0::2, None] + filled[1] * self.weights[1::2, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            self.means[:half] = total / weights[:, None]
        self.weights[:half] = weights
        self.count = half
        self.length *= 2

    def errors(self) -> NDArray[np.float64]:
        """Estimate the standard error of the mean over all lanes and batches.

        Returns
        -------
        ndarray
            float64 (entries,); NaN with fewer than four batches.
        """
        if self.count < 4:
            return np.full(self.means.shape[2], np.nan)
        means = self.means[: self.count]
        return means.std(axis=(0, 1), ddof=1) / np.sqrt(means.shape[0] * means.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        return {
            "numbers": np.array([self.length, self.count]),
            "means": self.means,
            "weights": self.weights,
            "last_sums": self.last_sums,
            "last_visits": self.last_visits,
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        self.length, self.count = (int(k) for k in arrays["numbers"])
        for name in ("means", "weights", "last_sums", "last_visits"):
            setattr(self, name, arrays[name].copy())
