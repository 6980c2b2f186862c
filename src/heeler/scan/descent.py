"""The descent of an optimised scan: history forwards in pieces, choices backwards."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled import optimise as compiled
from heeler.scan.plan import Plan

NO_BLOCKS = compiled.Blocks(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
# Numbers that may be kept at once, as a multiple of variables + steps.
MEMORY = 4
# Shorter arrays are cleared in microseconds.
LAZY = 1 << 14


def _zeros(count: int, dtype: Any) -> NDArray[Any]:
    """Make an array of zeros that costs nothing until it is touched.

    `numpy.zeros` is lazy at first only: once a process has freed large arrays, its memory is used
    again and has to be cleared.
    """
    if count < LAZY:
        return np.zeros(count, dtype)
    return np.frombuffer(mmap.mmap(-1, count * np.dtype(dtype).itemsize), dtype)


class Forward:
    """Coupling bounds along a plan; nothing is done to variables that it never reaches.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The steps.
    blocks
        How many things a step may be, if not single variables.
    """

    def __init__(self, matrix: Any, plan: Plan, blocks: int | None = None) -> None:
        """Make the working arrays, of zeros that take no memory until they are touched."""
        n = matrix.n_variables
        self.plan = plan
        self.rows = compiled.Rows(*matrix.flat())
        self.draws = compiled.Draws(plan.row_pointer, plan.row_index, plan.row_probability)
        self.fresh = np.empty(int(np.diff(plan.row_pointer).max(initial=0)))
        self.widest = max(len(self.fresh), 1)
        self.budget = max(MEMORY * (n + plan.length), self.widest)
        used = n if blocks is None else blocks
        leaves = 1 << max(used - 1, 0).bit_length()
        known, active = _zeros(n, np.uint8), _zeros(n, np.uint8)
        b, d, r, gain = (_zeros(n, np.float64) for _ in range(4))
        tree = _zeros(2 * leaves, np.float64)
        self.work = compiled.Work(
            known, b, d, active, r, gain, tree, np.int64(leaves), np.int64(used)
        )

    def skip(self, begin: int, count: int, work: Any = None) -> None:
        """Do steps whose history is not wanted.

        Parameters
        ----------
        begin
            Steps done before.
        count
            Steps to do.
        work
            The bounds; None stands for this object's.
        """
        work = self.work if work is None else work
        at_once = max(1, min(count, self.budget // self.widest, 1 << 16))
        history = np.empty(at_once * self.widest)
        for t in range(begin, begin + count, at_once):
            self.keep(work, t, min(at_once, begin + count - t), history)

    def keep(self, work: Any, begin: int, count: int, history: NDArray[np.float64]) -> int:
        """Do steps and write down what they replace.

        Parameters
        ----------
        work
            The bounds.
        begin
            Steps done before.
        count
            Steps to do.
        history
            Large enough for all.

        Returns
        -------
        int
            How many numbers were written.
        """
        place = begin % len(self.plan.step)
        arrays = self.rows, self.draws, self.plan.step
        return int(compiled.forward_history(*arrays, place, count, work, self.fresh, history))

    def bounds(self, index: NDArray[np.integer]) -> NDArray[np.float64]:
        """Give the bounds of some variables.

        Parameters
        ----------
        index
            The variables.

        Returns
        -------
        ndarray
            float64.
        """
        return np.where(self.work.known[index] > 0, self.work.b[index], 1.0)


class Descent(Forward):
    """One pass of Algorithm 2 over a plan.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The scan to be improved.
    goals
        The targets and when they are asked.
    blocks
        What a step may update, if not single variables.
    """

    def __init__(
        self,
        matrix: Any,
        plan: Plan,
        goals: compiled.Goals,
        blocks: compiled.Blocks = NO_BLOCKS,
    ) -> None:
        """Begin with nothing chosen."""
        super().__init__(matrix, plan, len(blocks.pointer) - 1 if len(blocks.member) else None)
        self.goals, self.blocks = goals, blocks
        self.columns = compiled.Rows(*matrix.transposed().flat())
        self.chosen = np.empty(plan.length, np.int32)
        self.asked, self.total = 0, 0.0

    def run(self, epsilon: float) -> int:
        """Choose steps from the last one on.

        Parameters
        ----------
        epsilon
            Stop where the variation is at most this; -inf never stops.

        Returns
        -------
        int
            How many first steps were left alone; the others are in ``chosen``.
        """
        length = self.plan.length
        if length * self.widest <= self.budget:
            history = np.empty(length * self.widest)
            written = self.keep(self.work, 0, length, history)
            return self._backward(0, length, history, written, epsilon)
        # Bounds cannot be taken back where steps draw: they are made again from marks.
        first = self._copy(self.work)
        self.skip(0, length)
        return self._piece(first, 0, length, epsilon)

    def _piece(self, start: Any, begin: int, end: int, epsilon: float) -> int:
        """Choose the steps of a piece; `start` holds the bounds before it."""
        if (end - begin) * self.widest <= self.budget:
            history = np.empty((end - begin) * self.widest)
            written = self.keep(start, begin, end - begin, history)
            return self._backward(begin, end - begin, history, written, epsilon)
        parts = max(2, min(self.budget // len(self.work.b), end - begin))
        borders = [begin + (end - begin) * k // parts for k in range(parts + 1)]
        marks = [start]
        for k in range(parts - 1):
            marks.append(self._copy(marks[-1]))
            self.skip(borders[k], borders[k + 1] - borders[k], marks[-1])
        left = end
        for k in range(parts - 1, -1, -1):
            left = self._piece(marks.pop(), borders[k], borders[k + 1], epsilon)
            if left > borders[k]:
                break
        return left

    @staticmethod
    def _copy(work: Any) -> Any:
        """Copy the bounds."""
        return work._replace(b=work.b.copy(), known=work.known.copy())

    def _backward(
        self, begin: int, count: int, history: NDArray[np.float64], written: int, epsilon: float
    ) -> int:
        """Choose steps; give where it stopped."""
        left, asked, total = compiled.backward(
            self.rows,
            self.columns,
            self.draws,
            self.plan.step,
            begin,
            count,
            self.work,
            self.blocks,
            self.goals,
            self.asked,
            history,
            written,
            epsilon,
            self.total,
            self.chosen,
        )
        self.asked, self.total = int(asked), float(total)
        return int(left)
