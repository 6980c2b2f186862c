"""The engine of coloured sparse binary graphs: 256 conditionals at a time, bands in parallel."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.coloured import SlotChain, advance_coloured, coloured_scratch, meeting
from heeler.compiled.coloured_layout import herded_in_slots, lay_out, slot_variables
from heeler.compiled.drivers import Herded
from heeler.compiled.lattice_plan import Share
from heeler.compiled.loop import Watch
from heeler.kernel.general import GeneralEngine, Plan
from heeler.kernel.threads import run_parts

BAND_SITES = (
    1 << 13
)  # of a chain: with fewer, meeting at the end of every class costs more than it saves


class ColouredEngine(GeneralEngine):
    """A general engine whose arrays are in slots, the order of updates.

    Parameters
    ----------
    plan
        What to run: a `Sparse` conditional with all its couplings and a `Fixed` scan in classes.
    """

    def __init__(self, plan: Plan) -> None:
        """Lay model and driver out in slots."""
        self._slots = slot_variables(plan.scan.order, plan.lowered.n)  # the variable of every slot
        self._place = np.argsort(self._slots)  # the slot of every variable
        self._model = lay_out(plan.lowered.conditional, plan.scan)
        driver = plan.memory.driver
        self._driver = (
            herded_in_slots(driver, plan.scan.order) if isinstance(driver, Herded) else driver
        )
        super().__init__(plan)
        chain = self.chain
        self._slot_chain = SlotChain(chain.x, chain.sums, chain.score, chain.best_score, chain.best)

    def _arranged(self, states: NDArray[Any]) -> NDArray[Any]:
        """Put the columns of states into slots."""
        return states[:, self._slots]

    def _watched(self, watch: Watch) -> Watch:
        """Name the watched variables by slots."""
        place = self._place.astype(np.uint32)
        stride = watch.stride[self._slots] if watch.stride.size else watch.stride
        return watch._replace(first=place[watch.first], second=place[watch.second], stride=stride)

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
            Chains go side by side first; what threads are left share the classes of one chain.
        """
        betas = self.plan.betas(self.passes, passes)
        steps = np.zeros((0 if scores is None else passes, self.lanes), np.int64)
        groups = np.array_split(np.arange(self.lanes), min(threads, self.lanes))
        bands = threads // len(groups) if self.n >= BAND_SITES else 1
        calls: list[Callable[[], None]] = []
        for lanes in groups:
            where = meeting(bands)
            shares = [
                Share(int(lanes[0]), int(lanes[-1]) + 1, band, bands) for band in range(bands)
            ]
            calls += [self._call(share, where, betas, steps) for share in shares]
        run_parts(calls)
        if scores is not None:
            np.multiply(steps, self.plan.lowered.unit, out=scores)
            scores += self.plan.scores[:, 0]
        self.passes += passes

    def _call(self, share: Share, where: Any, betas: NDArray, steps: NDArray) -> Callable[[], None]:
        """Bind one thread's call."""
        start = self.passes

        def call() -> None:
            scratch = coloured_scratch()
            advance_coloured(
                self._model,
                self._driver,
                self._slot_chain,
                self.watch,
                betas,
                start,
                share,
                where,
                steps,
                scratch,
            )

        return call

    def states(self) -> NDArray[Any]:
        """Give the present states (lanes, n), by variable."""
        return self.chain.x[:, self._place]

    def best_states(self) -> NDArray[Any]:
        """Give each lane's best states (lanes, n), by variable."""
        return self.chain.best[:, self._place]

    def credits(self) -> NDArray[np.uint64]:
        """Give the credits by variable."""
        return self.chain.sums[:, self._place]

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        super().load(arrays)
        if isinstance(self._driver, Herded):
            self._driver = self._driver._replace(weights=self.plan.memory.driver.weights)
