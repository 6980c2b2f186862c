"""The engine of many chains of one sparse binary model: lanes side by side in vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.drivers import Metropolis, Modified
from heeler.compiled.lanes import LaneChain, advance_lanes, lane_scratch
from heeler.compiled.loop import Watch
from heeler.kernel.general import Plan, make_watch, move_statistics
from heeler.kernel.threads import run_parts

LEAST_LANES = 8
BLOCK_LANES = (
    32  # of one call: more lanes a block are hardly faster, and blocks are what threads take
)
_NO_SCORE = np.int64(-(1 << 62))
_ONE = 2.0**32


class LanesEngine:
    """Advances blocks of lanes; see the engine's contract in the design page.

    Averages are kept for groups of lanes, not for each lane: `rows` of them.

    Parameters
    ----------
    plan
        What to run: a `Sparse` conditional, at least 8 lanes; a random or quasi driver,
        or Metropolis with a number of lanes that is a multiple of 8.
    """

    binary = True
    components = 1

    def __init__(self, plan: Plan) -> None:
        """Make the blocks."""
        self.plan = plan
        self.n = plan.lowered.n
        self.lanes = len(plan.scores)
        self.passes = 0
        self.reset_at = 0
        driver = plan.memory.driver
        self._moving = isinstance(driver, (Metropolis, Modified))
        size = _block_size(self.lanes, LEAST_LANES if self._moving else 1)
        self._firsts = range(0, self.lanes, size)
        self._groups = next(g for g in (8, 4, 2, 1) if size % g == 0)
        self.rows = len(self._firsts) * self._groups
        self._blocks = [self._block(first, size) for first in self._firsts]
        self._drivers = [
            Metropolis(driver.keys, np.zeros((1, size), np.int64)) if self._moving else driver
            for _ in self._firsts
        ]
        cards = np.full(self.n, 2)
        self._watches = [make_watch(plan, size, cards) for _ in self._firsts]
        self.visits_at_reset = np.zeros(self.n, np.int64)

    def _block(self, first: int, size: int) -> LaneChain:
        """Make one block's arrays."""
        plan = self.plan
        x = np.zeros((self.n + 1, size), np.uint8)
        x[: self.n] = plan.states[first : first + size].T
        # Scores are counted from the first chain's, so that the lanes of a block can be compared.
        score = np.rint(
            (plan.scores[first : first + size, 0] - plan.scores[0, 0]) / plan.lowered.unit
        )
        return LaneChain(
            x,
            np.zeros((self.n, self._groups), np.uint64),
            score.astype(np.int64),
            np.full(1, _NO_SCORE),
            x[: self.n, 0].copy(),
            np.zeros(self.n, np.int64),
        )

    @property
    def watch(self) -> Watch:
        """The counters of all blocks together."""
        pairs = np.concatenate([w.pairs for w in self._watches])
        joint = np.concatenate([w.joint for w in self._watches])
        return self._watches[0]._replace(pairs=pairs, joint=joint)

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
            How many threads may take blocks.
        """
        betas = self.plan.betas(self.passes, passes)
        blocks = np.array_split(np.arange(len(self._blocks)), min(threads, len(self._blocks)))
        run_parts([self._part(part, betas, scores) for part in blocks])
        self.passes += passes

    def _part(self, numbers: NDArray, betas: NDArray, scores: NDArray | None) -> Callable[[], None]:
        """Bind one thread's call."""
        plan, start = self.plan, self.passes

        def call() -> None:
            for number in numbers:
                chain, first = self._blocks[number], self._firsts[number]
                lanes = chain.x.shape[1]
                steps = np.zeros((0 if scores is None else len(betas), lanes), np.int64)
                advance_lanes(
                    plan.lowered.conditional,
                    self._drivers[number],
                    plan.scan,
                    chain,
                    self._watches[number],
                    betas,
                    start,
                    first,
                    steps,
                    lane_scratch(lanes, plan.steps),
                )
                if scores is not None:
                    scores[:, first : first + lanes] = steps * plan.lowered.unit + plan.scores[0, 0]

        return call

    def states(self) -> NDArray[Any]:
        """Give the present states (lanes, n)."""
        return np.concatenate([block.x[: self.n].T for block in self._blocks])

    def best_states(self) -> NDArray[Any]:
        """Give each block's best state (blocks, n)."""
        return np.stack([block.best for block in self._blocks])

    def best_scores(self) -> NDArray[np.float64]:
        """Give each block's best log score (blocks, 1)."""
        best = np.stack([block.best_score for block in self._blocks])
        return self.plan.scores[0, 0] + best * self.plan.lowered.unit

    def reset_sums(self) -> None:
        """Forget the averages: the burn-in is over."""
        for block, watch in zip(self._blocks, self._watches, strict=True):
            block.sums[:] = 0
            watch.pairs[:] = 0
            watch.joint[:] = 0
        for driver in self._drivers if self._moving else ():
            driver.moves[:] = 0
        self.visits_at_reset = self._blocks[0].visits.copy()
        self.reset_at = self.passes

    def sums(self) -> NDArray[np.float64]:
        """Give the sums of P(x_i = 1) since the reset, averaged over a group's lanes (rows, n)."""
        share = self._blocks[0].x.shape[1] // self._groups
        return np.concatenate([block.sums.T for block in self._blocks]) / (_ONE * share)

    def visits(self) -> NDArray[np.int64]:
        """Give how often each variable was updated since the reset."""
        if self.plan.visits is None:
            return self._blocks[0].visits - self.visits_at_reset
        return self.plan.visits * (self.passes - self.reset_at)

    def adopt(self, states: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Take other states as the present ones.

        Parameters
        ----------
        states
            (lanes, n), inside the support.
        scores
            Their log scores (lanes,).
        """
        steps = np.rint((scores - self.plan.scores[0, 0]) / self.plan.lowered.unit)
        for block, first in zip(self._blocks, self._firsts, strict=True):
            mine = slice(first, first + block.x.shape[1])
            block.x[: self.n] = states[mine].T
            block.score[:] = steps[mine]

    def statistics(self) -> dict[str, Any]:
        """Give plain numbers about the moves since the reset."""
        if not self._moving:
            return {}
        moves = sum(int(driver.moves.sum()) for driver in self._drivers)
        return move_statistics(moves, int(self.visits().sum()) * self.lanes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        result = {
            "passes": np.array([self.passes, self.reset_at]),
            "visits_at_reset": self.visits_at_reset,
        }
        for name in LaneChain._fields:
            result[f"block_{name}"] = np.stack([getattr(block, name) for block in self._blocks])
        result["pairs"] = np.stack([watch.pairs for watch in self._watches])
        result["joint"] = np.stack([watch.joint for watch in self._watches])
        result["base_scores"] = self.plan.scores
        if self._moving:
            result["moves"] = np.stack([driver.moves for driver in self._drivers])
        return result

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        if (
            (arrays["block_x"] > 1).any()
            or arrays["block_x"][:, self.n :].any()
            or (arrays["block_best"] > 1).any()
        ):
            raise ValueError(
                "the array 'block_x' or 'block_best' holds values that the variables do not have"
            )
        for name in LaneChain._fields:
            for k, block in enumerate(self._blocks):
                getattr(block, name)[...] = arrays[f"block_{name}"][k]
        for k, watch in enumerate(self._watches):
            watch.pairs[...] = arrays["pairs"][k]
            watch.joint[...] = arrays["joint"][k]
        for k, driver in enumerate(self._drivers if self._moving else ()):
            driver.moves[...] = arrays["moves"][k]
        self.plan.scores[...] = arrays["base_scores"]
        self.visits_at_reset = arrays["visits_at_reset"].copy()
        self.passes, self.reset_at = (int(k) for k in arrays["passes"])


def _block_size(lanes: int, multiple: int) -> int:
    """Choose equal blocks of at least 8 lanes, near 32: blocks of 16 take half as long again.

    Their size is a multiple of a number that divides the number of lanes.
    """
    counts = [k for k in range(1, lanes // LEAST_LANES + 1) if lanes % (k * multiple) == 0]
    wanted = -(-lanes // BLOCK_LANES)
    return lanes // min(counts, key=lambda k: (abs(k - wanted), k))
