"""The engine of swaps."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.swaps import Graph, Partners, SwapChain, advance_swaps
from heeler.compiled.words import BLOCK
from heeler.kernel.proposal_engine import ProposalEngine
from heeler.kernel.threads import run_parts


class SwapEngine(ProposalEngine):
    """Advances chains by swaps; see the engine's contract in the design page.

    Parameters
    ----------
    model
        A discrete model.
    partners
        Which pairs are proposed.
    states, scores
        First states (lanes, n) and their log scores.
    betas
        (first pass, count) -> inverse temperatures.
    pairs, joint
        What is counted besides.
    """

    def __init__(
        self,
        model: Any,
        partners: Partners,
        states: NDArray[Any],
        scores: NDArray[np.float64],
        betas: Callable[[int, int], NDArray[np.float64]],
        pairs: NDArray[np.int64],
        joint: bool,
    ) -> None:
        """Lay the factors out."""
        super().__init__(model, None, 1, states, scores, betas, 0, pairs, joint, rejects=True)
        graph = model.to_factor_graph()
        slot_pointer, position = graph.incidence
        self._graph = Graph(
            np.ascontiguousarray(slot_pointer, np.int64),
            np.ascontiguousarray(position, np.int64),
            np.ascontiguousarray(graph.factor_of, np.int64),
            np.ascontiguousarray(graph.scope_pointer, np.int64),
            np.ascontiguousarray(graph.scope, np.int32),
            np.ascontiguousarray(graph.scope_stride, np.int64),
            np.ascontiguousarray(graph.table_pointer[graph.table_of], np.int64),
            np.array(graph.log_tables, np.float64),
        )
        self._partners = partners
        self._chain = SwapChain(
            self.x,
            self.score,
            self.best,
            self.best_score,
            self.tally.sums,
            np.ascontiguousarray(self.tally.start, np.int64),
            int(self.binary),
            self.moves,
        )

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
            How many threads may take lanes.
        """
        betas = self._betas(self.passes, passes)
        done = np.empty((passes, self.lanes)) if scores is None else scores
        groups = np.array_split(np.arange(self.lanes), min(threads, self.lanes))
        run_parts([self._part(lanes, betas, done) for lanes in groups])
        self.passes += passes

    def _part(self, lanes: NDArray, betas: NDArray, scores: NDArray) -> Callable[[], None]:
        """Bind one thread's call."""
        words = np.zeros((3, BLOCK), np.uint32)
        start = self.passes

        def call() -> None:
            advance_swaps(
                self._graph, self._partners, self._chain, self.tally.watch, betas, start, lanes,
                scores, words,
            )  # fmt: skip

        return call
