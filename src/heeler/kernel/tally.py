"""Averages of states after every pass, for engines whose moves have no conditionals to average."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.loop import Watch


class Tally:
    """Sums over states, pairs and joint states; in the layout that the run loop expects.

    Parameters
    ----------
    model
        A discrete model or a density.
    states
        First states (lanes, n).
    pairs
        Pairs of variables to count jointly, (pairs, 2).
    joint
        Whether to count whole states.
    """

    def __init__(
        self, model: Any, states: NDArray[Any], pairs: NDArray[np.int64], joint: bool
    ) -> None:
        """Lay the columns out."""
        lanes, n = states.shape
        self.density = model.kind == "density"
        self.reference = np.zeros(n)
        if self.density:
            widths, self.reference = model.columns, np.array(states[0], np.float64)
            self._discrete = np.flatnonzero(model.values)
        else:
            widths = np.asarray(model.cardinalities, np.int64)
            self._discrete = np.arange(n)
        self.binary = not self.density and bool((widths == 2).all())
        self.start = np.arange(n) if self.binary else np.cumsum(widths) - widths
        self.entries = n if self.binary else int(widths.sum())
        self.sums = np.zeros((lanes, self.entries))
        cards = np.where(widths > 0, widths, 1)
        cells = cards[pairs[:, 0]] * cards[pairs[:, 1]]
        stride = np.empty(0, np.int64)
        if joint:
            stride = np.concatenate([np.cumprod(cards[::-1])[::-1][1:], [1]]).astype(np.int64)
        self.watch = Watch(
            pairs[:, 0].astype(np.uint32),
            pairs[:, 1].astype(np.uint32),
            np.cumsum(cells) - cells,
            cards[pairs[:, 1]],
            np.zeros((lanes, int(cells.sum())), np.int64),
            stride,
            np.zeros((lanes, int(np.prod(cards)) if joint else 0), np.int64),
        )

    def add(self, states: NDArray[Any]) -> None:
        """Count the states after a pass.

        Parameters
        ----------
        states
            (lanes, n).
        """
        lanes = np.arange(len(states))
        if self.density:
            off = states - self.reference
            self.sums[:, self.start] += off
            self.sums[:, self.start + 1] += off * off
            at = self.start[self._discrete] + 2 + states[:, self._discrete].astype(np.int64)
            self.sums[lanes[:, None], at] += 1.0
            return
        if self.binary:
            self.sums += states
        else:
            self.sums[lanes[:, None], self.start + states] += 1.0
        watch = self.watch
        if watch.first.size:
            first = states[:, watch.first].astype(np.int64)
            at = watch.offset + first * watch.width + states[:, watch.second]
            watch.pairs[lanes[:, None], at] += 1
        if watch.stride.size:
            watch.joint[lanes, states.astype(np.int64) @ watch.stride] += 1

    def reset(self) -> None:
        """Forget what was counted."""
        self.sums[:] = 0
        self.watch.pairs[:] = 0
        self.watch.joint[:] = 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give what must be kept to go on."""
        return {
            "sums": self.sums,
            "reference": self.reference,
            "pairs": self.watch.pairs,
            "joint": self.watch.joint,
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        for name, target in self.arrays().items():
            target[...] = arrays[name]
