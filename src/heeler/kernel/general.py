"""The general engine: any model, scan and driver, one lane at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.conditionals import Bipartite, Dense
from heeler.compiled.loop import Chain, Watch, advance_binary, advance_kary
from heeler.compiled.scans import Weighted
from heeler.kernel.lowered import Lowered, make_scratch
from heeler.kernel.memory import Memory
from heeler.kernel.threads import run_parts

# Below every score that can occur, so that the first pass always sets the best state.
_NO_SCORE = np.int64(-(1 << 62))
_BINARY_ONE = 2.0**32
_KARY_ONE = 2.0**30


@dataclass(frozen=True)
class Plan:
    """What an engine is to run.

    Attributes
    ----------
    lowered
        The model as flat arrays.
    scan
        A tuple of `heeler.compiled.scans`.
    steps
        Updates of a pass, all components together.
    visits
        Updates of each variable in a pass, for scans where that is fixed; else None.
    memory
        The driver.
    betas
        (first pass, count) -> inverse temperatures.
    states
        The first states (lanes, n).
    scores
        Their log scores (lanes, components).
    variables
        Where each component's variables begin (components + 1,).
    restart
        Whether every pass starts from the first state.
    pairs
        Pairs of variables to count jointly, (pairs, 2).
    joint
        Whether to count whole states.
    """

    lowered: Lowered
    scan: Any
    steps: int
    visits: NDArray[np.int64] | None
    memory: Memory
    betas: Callable[[int, int], NDArray[np.float64]]
    states: NDArray[Any]
    scores: NDArray[np.float64]
    variables: NDArray[np.int64]
    restart: bool = False
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    joint: bool = False


class GeneralEngine:
    """Advances the chains of a plan; see the engine's contract in the design page.

    Parameters
    ----------
    plan
        What to run.
    """

    def __init__(self, plan: Plan) -> None:
        """Make the chain's arrays."""
        lowered = plan.lowered
        self.plan = plan
        self.binary = lowered.binary
        self.n = lowered.n
        self.lanes, self.components = plan.scores.shape
        self.rows = self.lanes
        self.passes = 0
        self.reset_at = 0
        cards = np.asarray(lowered.cardinalities, np.int64)
        self.entries = self.n if self.binary else int(cards.sum())
        self.entry = np.cumsum(cards) - cards
        kind = np.uint8 if lowered.cardinalities.max() <= 256 else np.uint16
        x = np.zeros((self.lanes, self.n + 1), kind)
        x[:, : self.n] = self._arranged(plan.states)
        shape = (self.lanes, self.components)
        self.chain = Chain(
            x,
            np.zeros((self.lanes, self.entries), np.uint64),
            np.zeros(shape, np.int64),
            np.full(shape, _NO_SCORE),
            x.copy(),
            np.zeros(self.n, np.int64),
            plan.variables,
            np.empty(0, np.int64) if self.binary else self.entry,
            x.copy() if plan.restart else np.empty((0, 0), kind),
            np.zeros(shape, np.int64),
            *self._touched(),
        )
        self.watch = self._watched(make_watch(plan, self.lanes, cards))
        self.visits_at_reset = np.zeros(self.n, np.int64)
        plan.memory.start(x[:, : self.n])
        self._refresh_fields()
        self.gains_at_reset = plan.memory.gains(self.entries)
        self.most_values = int(cards.max())

    def _arranged(self, states: NDArray[Any]) -> NDArray[Any]:
        """Put the columns of states into the order that the loop uses: the model's own."""
        return states

    def _watched(self, watch: Watch) -> Watch:
        """Put what is watched into the order that the loop uses."""
        return watch

    def advance(
        self, passes: int, scores: NDArray[np.float64] | None = None, threads: int = 1
    ) -> None:
        """Run passes.

        Parameters
        ----------
        passes
            How many.
        scores
            float64 (passes, lanes * components), or None: the log score after every pass.
        threads
            How many threads may take jobs.
        """
        betas = self.plan.betas(self.passes, passes)
        jobs = np.arange(self.lanes * self.components)
        done = np.zeros(len(jobs), np.int64)
        steps = np.zeros((0 if scores is None else passes, len(jobs)), np.int64)
        while True:
            count = min(threads, len(jobs))
            parts = np.array_split(jobs, count) if count > 1 else [jobs]
            run_parts([self._part(part, betas, steps, done) for part in parts])
            if (done == passes).all():
                break
            self.plan.memory.grow()
        if scores is not None:
            # Jobs are numbered component by component, lanes fastest.
            offset = self.plan.scores.T.ravel()
            np.multiply(steps, self.plan.lowered.unit, out=scores)
            scores += offset
        self.passes += passes

    def _part(
        self, jobs: NDArray, betas: NDArray, steps: NDArray, done: NDArray
    ) -> Callable[[], None]:
        """Bind one thread's call."""
        plan = self.plan
        steps_made = plan.steps if self.components == 1 else 0
        scratch = make_scratch(
            self.most_values, steps_made, np.zeros(self.n + 1, self.chain.x.dtype)
        )
        advance = advance_binary if self.binary else advance_kary
        start = self.passes

        def call() -> None:
            advance(
                plan.lowered.conditional,
                plan.memory.driver,
                plan.scan,
                self.chain,
                self.watch,
                betas,
                start,
                jobs,
                steps,
                done,
                scratch,
            )

        return call

    def states(self) -> NDArray[Any]:
        """Give the present states (lanes, n)."""
        return self.chain.x[:, : self.n]

    def best_states(self) -> NDArray[Any]:
        """Give each lane's best states (lanes, n); components have their own bests."""
        return self.chain.best[:, : self.n]

    def best_scores(self) -> NDArray[np.float64]:
        """Give the best log scores (lanes, components)."""
        return self.plan.scores + self.chain.best_score * self.plan.lowered.unit

    def reset_sums(self) -> None:
        """Forget the averages: the burn-in is over."""
        self.chain.sums[:] = 0
        self.watch.pairs[:] = 0
        self.watch.joint[:] = 0
        self.plan.memory.reset()
        self.visits_at_reset = self.chain.visits.copy()
        self.gains_at_reset = self.plan.memory.gains(self.entries)
        self.reset_at = self.passes

    def sums(self) -> NDArray[np.float64]:
        """Give the sums of probabilities over the updates since the reset, (lanes, entries)."""
        if self.plan.restart:
            return self.credits().astype(np.float64)
        one = _BINARY_ONE if self.binary else _KARY_ONE
        gains = self.plan.memory.gains(self.entries)
        if gains is None or self.gains_at_reset is None:
            return self.credits() / one
        # Sum of p = (count of choices) * one + (weights now - weights then), exactly.
        return self.credits().astype(np.float64) + (gains - self.gains_at_reset) / one

    def credits(self) -> NDArray[np.uint64]:
        """Give the credits by variable (and value)."""
        return self.chain.sums

    def visits(self) -> NDArray[np.int64]:
        """Give how often each variable was updated since the reset."""
        passes = self.passes - self.reset_at
        if self.plan.restart:
            return np.where(self._in_scan(), passes, 0)
        if self.plan.visits is None:
            return self.chain.visits - self.visits_at_reset
        return self.plan.visits * passes

    def _touched(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the sites that a pass may change, component by component, where it starts afresh."""
        if not self.plan.restart:
            return np.empty(0, np.int64), np.zeros(1, np.int64)
        order, start = self.plan.scan.order, self.plan.scan.start
        if self.components == 1:  # a scan that draws its sites has one pass of other length
            sites = [np.unique(order)]
        else:
            sites = [np.unique(part) for part in np.split(order, start[1:-1])]
        ends = np.concatenate(([0], np.cumsum([len(part) for part in sites])))
        return np.concatenate(sites).astype(np.int64), ends.astype(np.int64)

    def _in_scan(self) -> NDArray[np.bool_]:
        """Say which variables the scan may update."""
        member = np.zeros(self.n, bool)
        member[self.plan.scan.order] = True
        return member

    def _refresh_fields(self) -> None:
        """Compute the local fields of dense models from the states."""
        conditional = self.plan.lowered.conditional
        x = self.states().astype(np.int64)
        if isinstance(conditional, Dense):
            conditional.fields[:] = conditional.bias + x @ conditional.weights.astype(np.int64)
        elif isinstance(conditional, Bipartite):
            visible = len(conditional.weights)
            weights = conditional.weights.astype(np.int64)
            conditional.fields[:] = conditional.bias
            conditional.fields[:, visible:] += x[:, :visible] @ weights
            conditional.fields[:, :visible] += x[:, visible:] @ weights.T

    def adopt(self, states: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Take other states as the present ones; memory, counters and sums stay.

        Parameters
        ----------
        states
            (lanes, n), inside the support.
        scores
            Their log scores (lanes,).
        """
        chain = self.chain
        chain.x[:, : self.n] = self._arranged(states)
        chain.score[:, 0] = np.rint((scores - self.plan.scores[:, 0]) / self.plan.lowered.unit)
        self.plan.memory.start(chain.x[:, : self.n])
        self._refresh_fields()

    def statistics(self) -> dict[str, Any]:
        """Give plain numbers about the moves since the reset."""
        moves = self.plan.memory.moves()
        if moves is None:
            return {}
        return move_statistics(moves, int(self.visits().sum()) * self.lanes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        chain = self.chain
        result = {
            "x": chain.x,
            "sums": chain.sums,
            "score": chain.score,
            "best_score": chain.best_score,
            "best": chain.best,
            "visits": chain.visits,
            "visits_at_reset": self.visits_at_reset,
            "passes": np.array([self.passes, self.reset_at]),
            "pairs": self.watch.pairs,
            "joint": self.watch.joint,
            "base_scores": self.plan.scores,
            "first_states": chain.restart,
        }
        if self.gains_at_reset is not None:
            result["gains_at_reset"] = self.gains_at_reset
        return result | {
            f"memory_{name}": array for name, array in self.plan.memory.arrays().items()
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        chain = self.chain
        for name in ("x", "best", "first_states"):
            self._check_values(name, arrays[name])
        for name in ("x", "sums", "score", "best_score", "best", "visits"):
            getattr(chain, name)[...] = arrays[name]
        chain.restart[...] = arrays["first_states"]
        self.plan.scores[...] = arrays["base_scores"]
        self.watch.pairs[...] = arrays["pairs"]
        self.watch.joint[...] = arrays["joint"]
        self.visits_at_reset = arrays["visits_at_reset"].copy()
        self.passes, self.reset_at = (int(k) for k in arrays["passes"])
        self.plan.memory.load(
            {name[7:]: a for name, a in arrays.items() if name.startswith("memory_")}
        )
        if "gains_at_reset" in arrays:
            self.gains_at_reset = arrays["gains_at_reset"].copy()
        self._refresh_fields()

    def _check_values(self, name: str, states: NDArray[Any]) -> None:
        """Refuse values that the loop would use as indices beyond its arrays."""
        high = (
            states[:, : self.n] >= self.plan.lowered.cardinalities
            if states.size
            else np.zeros(1, bool)
        )
        if high.any() or states[:, self.n :].any():
            raise ValueError(f"the array {name!r} holds values that the variables do not have")


def move_statistics(moves: int, proposals: int) -> dict[str, Any]:
    """Say how often proposals were accepted.

    Parameters
    ----------
    moves, proposals
        Accepted proposals, and all of them.

    Returns
    -------
    dict
        Plain numbers.
    """
    rate = moves / proposals if proposals else float("nan")
    return {"acceptance": rate, "accepted": moves, "proposals": proposals}


def make_watch(plan: Plan, lanes: int, cards: NDArray[np.int64]) -> Watch:
    """Lay out the counters of pairs and joint states.

    Parameters
    ----------
    plan
        Names the pairs.
    lanes
        Chains.
    cards
        Numbers of values.

    Returns
    -------
    Watch
        Zeros.
    """
    pairs = plan.pairs
    if not (len(pairs) or plan.joint):
        return _nothing_watched(lanes)
    cells = cards[pairs[:, 0]] * cards[pairs[:, 1]]
    stride = np.empty(0, np.int64)
    states = 0
    if plan.joint:
        stride = np.concatenate([np.cumprod(cards[::-1])[::-1][1:], [1]]).astype(np.int64)
        states = int(np.prod(cards))
    return Watch(
        pairs[:, 0].astype(np.uint32),
        pairs[:, 1].astype(np.uint32),
        np.cumsum(cells) - cells,
        cards[pairs[:, 1]],
        np.zeros((lanes, int(cells.sum())), np.int64),
        stride,
        np.zeros((lanes, states), np.int64),
    )


@lru_cache(maxsize=64)
def _nothing_watched(lanes: int) -> Watch:
    """Lay out no counters: nothing is ever written to them, so all engines share them."""
    none, rows = np.zeros(0, np.int64), np.zeros((lanes, 0), np.int64)
    return Watch(none.astype(np.uint32), none.astype(np.uint32), none, none, rows, none, rows)


def counts_visits(scan: Any) -> bool:
    """Say whether an engine must count visits as it goes.

    Parameters
    ----------
    scan
        A tuple of `heeler.compiled.scans`.

    Returns
    -------
    bool
        True for scans with independent draws.
    """
    return isinstance(scan, Weighted)
