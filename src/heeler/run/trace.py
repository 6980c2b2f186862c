"""The log score against passes, in constant memory."""

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 4096


class Trace:
    """Every stride-th log score; when there are 4096, every other one goes and the stride doubles.

    Parameters
    ----------
    lanes
        Chains.
    """

    def __init__(self, lanes: int) -> None:
        """Start with every pass."""
        self.stride = 1
        self.count = 0
        self.values = np.empty((MOST_POINTS, lanes))

    def add(self, first_pass: int, scores: NDArray[np.float64]) -> None:
        """Take the scores of some passes.

        Parameters
        ----------
        first_pass
            Number of the first of them, from 0.
        scores
            (passes, lanes): after each pass.
        """
        while True:
            skip = -(first_pass + 1) % self.stride  # points are at passes stride, 2 stride, ...
            points = scores[skip :: self.stride]
            room = MOST_POINTS - self.count
            if len(points) <= room:
                self.values[self.count : self.count + len(points)] = points
                self.count += len(points)
                return
            self.values[self.count :] = points[:room]
            used = skip + (room - 1) * self.stride + 1 if room else 0
            self.values[: MOST_POINTS // 2] = self.values[1::2].copy()
            self.count = MOST_POINTS // 2
            self.stride *= 2
            scores, first_pass = scores[used:], first_pass + used

    @property
    def passes(self) -> NDArray[np.int64]:
        """The numbers of passes done at the points."""
        return (1 + np.arange(self.count)) * self.stride

    def arrays(self) -> dict[str, NDArray]:
        """Give everything needed to go on."""
        return {"numbers": np.array([self.stride, self.count]), "values": self.values[: self.count]}

    def load(self, arrays: dict[str, NDArray]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        self.stride, self.count = (int(k) for k in arrays["numbers"])
        self.values[: self.count] = arrays["values"]
