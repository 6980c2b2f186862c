"""The engine of compiled moves on a user's log density."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.density import (
    FLIP,
    GIBBS,
    GLOBAL,
    INFINITE,
    RAISED,
    SLICE,
    WALK,
    DensityChain,
    DensityScratch,
    Move,
    advance_density,
)
from heeler.compiled.normal import stream
from heeler.kernel.general import move_statistics
from heeler.kernel.threads import run_parts


class DensityEngine:
    """Advances chains on a log density; see the engine's contract in the design page.

    Averages are of the states after every pass: of each variable's difference from a reference, of
    its square, and of each value of a discrete variable.

    Parameters
    ----------
    density
        A `heeler.Density`.
    kind
        The move's number in `heeler.compiled.density`.
    variables
        Which variables move.
    states
        First states (lanes, dim).
    scores
        Their log densities (lanes,).
    betas
        (first pass, count) -> inverse temperatures.
    seed
        The seed.
    steps
        First scales of the walk or widths of the slices, one a variable.
    adapt
        Whether steps are adapted until the sums are reset.
    target
        The acceptance rate aimed at.
    centre, root
        Mean and lower Cholesky factor of global proposals.
    """

    binary = False
    components = 1

    def __init__(
        self,
        density: Any,
        kind: int,
        variables: NDArray[np.int64],
        states: NDArray[np.float64],
        scores: NDArray[np.float64],
        betas: Callable[[int, int], NDArray[np.float64]],
        seed: int,
        *,
        steps: NDArray[np.float64] | None = None,
        adapt: bool = False,
        target: float = 0.234,
        centre: NDArray[np.float64] | None = None,
        root: NDArray[np.float64] | None = None,
    ) -> None:
        """Make the chains' arrays."""
        self._density = density
        self._betas = betas
        self.lanes, self.n = states.shape
        self.rows = self.lanes
        self.passes = 0
        self.reset_at = 0
        count = len(variables)
        columns = np.asarray(density.columns)
        self.entries = int(columns.sum())
        learned = np.zeros((self.lanes, 3 + 3 * count))
        first = np.ones(count) if steps is None else steps
        learned[:, 3 : 3 + count] = first
        self._move = Move(
            kind,
            np.uint64(seed),
            np.ascontiguousarray(variables, np.int64),
            np.tile(first, (self.lanes, 1)),
            np.zeros(count) if centre is None else np.ascontiguousarray(centre, np.float64),
            np.eye(count) if root is None else np.ascontiguousarray(root, np.float64),
            np.ascontiguousarray(density.values, np.int64),
            np.array([int(adapt)]),
            learned,
            float(target),
        )
        x = np.array(states, np.float64, order="C")
        self.chain = DensityChain(
            x,
            np.array(scores, np.float64),
            np.zeros((self.lanes, self.entries)),
            x.copy(),
            np.full(self.lanes, -np.inf),
            x[0].copy(),
            np.cumsum(columns) - columns,
            np.zeros((self.lanes, 8), np.int64),
            np.zeros(self.lanes, np.int64),
            np.zeros_like(x),
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
            float64 (passes, lanes), or None: the log density after every pass.
        threads
            How many threads may take lanes; a plain Python function is called by one.
        """
        betas = self._betas(self.passes, passes)
        done = np.empty((passes, self.lanes)) if scores is None else scores
        function = self._density.address()
        threads = min(threads, self.lanes) if function.threads else 1
        groups = np.array_split(np.arange(self.lanes), threads)
        self.chain.failed[:] = 0
        run_parts([self._part(function, lanes, betas, done) for lanes in groups])
        failed = np.flatnonzero(self.chain.failed)
        if len(failed):
            self._fail(function, int(failed[0]))
        self.passes += passes

    def _part(
        self, function: Any, lanes: NDArray, betas: NDArray, scores: NDArray
    ) -> Callable[[], None]:
        """Bind one thread's call."""
        most = max(int(self._move.values.max(initial=0)), 1)
        scratch = DensityScratch(
            np.zeros(self.n), np.zeros(self.n), np.zeros(most), np.zeros(1, np.int64), stream()
        )
        start = self.passes

        def call() -> None:
            advance_density(
                function.address, self._move, self.chain, betas, start, lanes, scores, scratch
            )

        return call

    def _fail(self, function: Any, lane: int) -> None:
        """Raise what was wrong with the log density."""
        code, x = self.chain.failed[lane], self.chain.failed_at[lane].copy()
        self.chain.failed[:] = 0
        if code == RAISED:
            function.failure(x)
        what = "+infinity" if code == INFINITE else "NaN"
        raise ValueError(
            f"The log density 'logp' must be a number, or -inf outside the support. Got {what} at "
            f"x = {np.array2string(x, threshold=10)}."
        )

    def states(self) -> NDArray[np.float64]:
        """Give the present states (lanes, dim)."""
        return self.chain.x

    def best_states(self) -> NDArray[np.float64]:
        """Give each lane's best states (lanes, dim)."""
        return self.chain.best

    def best_scores(self) -> NDArray[np.float64]:
        """Give each lane's best log densities (lanes, 1)."""
        return self.chain.best_score[:, None].copy()

    def reset_sums(self) -> None:
        """Forget the averages and stop adapting: the burn-in is over."""
        self.chain.sums[:] = 0
        self.chain.moves[:] = 0
        self._move.adapting[0] = 0
        self.reset_at = self.passes

    def sums(self) -> NDArray[np.float64]:
        """Give the sums since the reset, (lanes, columns)."""
        return self.chain.sums.copy()

    def visits(self) -> NDArray[np.int64]:
        """Give the passes since the reset: every variable is looked at after each."""
        return np.full(self.n, self.passes - self.reset_at)

    @property
    def reference(self) -> NDArray[np.float64]:
        """What sums are differences from, (dim,)."""
        return self.chain.reference

    def adopt(self, states: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Take other states as the present ones.

        Parameters
        ----------
        states
            (lanes, dim), inside the support.
        scores
            Their log densities (lanes,).
        """
        self.chain.x[:] = states
        self.chain.score[:] = scores

    def statistics(self) -> dict[str, Any]:
        """Give plain numbers about the moves since the reset."""
        accepted, proposals, evaluations = self.chain.moves.sum(axis=0)[:3].tolist()
        kind = self._move.kind
        result: dict[str, Any] = {"evaluations": evaluations}
        if kind not in (SLICE, GIBBS):
            result |= move_statistics(accepted, proposals)
        if kind in (WALK, SLICE):
            result["step"] = self._move.step.mean(axis=0).tolist()
        if kind == WALK:
            result["rule_of_thumb"] = self._rule_of_thumb(accepted / proposals if proposals else 0)
        return result

    def _rule_of_thumb(self, acceptance: float) -> float:
        """Estimate the passes to an independent state: (L / step)^2 / acceptance, the largest."""
        passes = self.passes - self.reset_at
        if not passes or not acceptance:
            return float("inf")
        at = self.chain.column[self._move.variables]
        sums = self.chain.sums.sum(axis=0) / (passes * self.lanes)
        spread = np.sqrt(np.maximum(sums[at + 1] - sums[at] ** 2, 0.0))
        return float(((spread / self._move.step.mean(axis=0)) ** 2).max() / acceptance)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        chain, move = self.chain, self._move
        return {
            "x": chain.x,
            "score": chain.score,
            "sums": chain.sums,
            "best": chain.best,
            "best_score": chain.best_score,
            "reference": chain.reference,
            "moves": chain.moves,
            "step": move.step,
            "learned": move.learned,
            "adapting": move.adapting,
            "passes": np.array([self.passes, self.reset_at]),
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        check_values("x", arrays["x"], self._move.values)
        for name, target in self.arrays().items():
            if name != "passes":
                target[...] = arrays[name]
        self.passes, self.reset_at = (int(k) for k in arrays["passes"])


def check_values(name: str, states: NDArray[Any], values: NDArray[np.int64]) -> None:
    """Refuse discrete values that the loop would use as indices beyond its arrays.

    Parameters
    ----------
    name
        The array's name.
    states
        (lanes, dim).
    values
        Numbers of values, 0 for continuous variables.
    """
    discrete = np.flatnonzero(values)
    part = states[:, discrete]
    if not ((part >= 0) & (part < values[discrete]) & (part == np.floor(part))).all():
        raise ValueError(f"the array {name!r} holds values that the variables do not have")


__all__ = ["FLIP", "GIBBS", "GLOBAL", "SLICE", "WALK", "DensityEngine", "check_values"]
