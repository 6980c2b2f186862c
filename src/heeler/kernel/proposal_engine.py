"""The engine of moves that a user wrote in Python: proposals with their density, conditionals."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.kernel.density_engine import check_values
from heeler.kernel.general import move_statistics
from heeler.kernel.tally import Tally

# One move of one chain: (x, random, score, beta) -> (new x, its score, whether it was accepted).
Step = Callable[[NDArray[Any], np.random.Generator, float, float], tuple[NDArray[Any], float, bool]]


class ProposalEngine:
    """Advances chains by a function; see the engine's contract in the design page.

    Averages are of the states after every pass. The random numbers of a pass come from a generator
    of (seed, pass, lane), so runs may be cut anywhere and lanes do not know each other.

    Parameters
    ----------
    model
        A discrete model or a density.
    step
        Makes one move; None where a subclass does it.
    steps
        Moves of a pass.
    states, scores
        First states (lanes, n) and their log scores.
    betas
        (first pass, count) -> inverse temperatures.
    seed
        The seed.
    pairs, joint
        What is counted besides.
    rejects
        Whether moves may be rejected.
    """

    components = 1

    def __init__(
        self,
        model: Any,
        step: Step | None,
        steps: int,
        states: NDArray[Any],
        scores: NDArray[np.float64],
        betas: Callable[[int, int], NDArray[np.float64]],
        seed: int,
        pairs: NDArray[np.int64],
        joint: bool,
        rejects: bool,
    ) -> None:
        """Make the chains' arrays."""
        self._model, self._step, self._steps, self._betas = model, step, steps, betas
        self._rejects = rejects
        self._seed = seed
        self.lanes, self.n = states.shape
        self.rows = self.lanes
        self.passes = 0
        self.reset_at = 0
        self.x = np.array(states)
        self.score = np.array(scores, np.float64)
        self.best = self.x.copy()
        self.best_score = np.full(self.lanes, -np.inf)
        self.tally = Tally(model, states, pairs, joint)
        self.binary, self.entries = self.tally.binary, self.tally.entries
        # Accepted and proposed moves; a cache line for each lane, which may be in a thread.
        self.moves = np.zeros((self.lanes, 8), np.int64)

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
            Nothing: Python code runs in one thread.
        """
        del threads
        betas = self._betas(self.passes, passes)
        assert self._step is not None
        for t in range(passes):
            for lane in range(self.lanes):
                random = self._random(lane)
                for _ in range(self._steps):
                    x, score, accepted = self._step(
                        self.x[lane], random, float(self.score[lane]), float(betas[t])
                    )
                    self.moves[lane, :2] += (accepted, 1)
                    self.x[lane] = x
                    self.score[lane] = score
            better = self.score > self.best_score
            self.best[better] = self.x[better]
            self.best_score[better] = self.score[better]
            self.tally.add(self.x)
            if scores is not None:
                scores[t] = self.score
            self.passes += 1

    def _random(self, lane: int) -> np.random.Generator:
        """Give the random numbers of a pass of a lane."""
        bits = np.random.Philox(key=[self._seed, lane], counter=[0, 0, self.passes, 0])
        return np.random.Generator(bits)

    def states(self) -> NDArray[Any]:
        """Give the present states (lanes, n)."""
        return self.x

    def best_states(self) -> NDArray[Any]:
        """Give each lane's best states (lanes, n)."""
        return self.best

    def best_scores(self) -> NDArray[np.float64]:
        """Give each lane's best log scores (lanes, 1)."""
        return self.best_score[:, None].copy()

    def reset_sums(self) -> None:
        """Forget the averages: the burn-in is over."""
        self.tally.reset()
        self.moves[:] = 0
        self.reset_at = self.passes

    def sums(self) -> NDArray[np.float64]:
        """Give the sums since the reset, (lanes, columns)."""
        return self.tally.sums.copy()

    def visits(self) -> NDArray[np.int64]:
        """Give the passes since the reset: every variable is looked at after each."""
        return np.full(self.n, self.passes - self.reset_at)

    @property
    def watch(self) -> Any:
        """The counters of pairs and joint states."""
        return self.tally.watch

    @property
    def reference(self) -> NDArray[np.float64]:
        """What sums on a density are differences from, (dim,)."""
        return self.tally.reference

    def adopt(self, states: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Take other states as the present ones.

        Parameters
        ----------
        states
            (lanes, n), inside the support.
        scores
            Their log scores (lanes,).
        """
        self.x[:] = states
        self.score[:] = scores

    def statistics(self) -> dict[str, Any]:
        """Give plain numbers about the moves since the reset."""
        accepted, proposals = self.moves.sum(axis=0)[:2].tolist()
        return move_statistics(accepted, proposals) if self._rejects else {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        return {
            "x": self.x,
            "score": self.score,
            "best": self.best,
            "best_score": self.best_score,
            "moves": self.moves,
            "passes": np.array([self.passes, self.reset_at]),
            **{f"tally_{name}": array for name, array in self.tally.arrays().items()},
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """
        density = self._model.kind == "density"
        values = self._model.values if density else np.asarray(self._model.cardinalities)
        check_values("x", arrays["x"], values)
        for name in ("x", "score", "best", "best_score", "moves"):
            getattr(self, name)[...] = arrays[name]
        self.tally.load({n[6:]: a for n, a in arrays.items() if n.startswith("tally_")})
        self.passes, self.reset_at = (int(k) for k in arrays["passes"])
