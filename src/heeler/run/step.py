"""The step level: kernels make and advance states, for loops of one's own."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.run.build import build_engine
from heeler.run.careful import advance_or_stop
from heeler.run.sample import first_states, resolve, whole
from heeler.run.session import Limits
from heeler.run.settings import Settings


class State:
    """Running chains: assignments, the driver's memory, counters.

    A state is used up by a kernel's `advance`, which hands out the next one; `copy` first to keep
    one.

    Parameters
    ----------
    model, settings
        What is run.
    engine
        The chains.
    """

    def __init__(self, model: Model, settings: Settings, engine: Any) -> None:
        """Take the chains over."""
        self.model = model
        self._settings = settings
        self._engine = engine
        self._scores: NDArray[np.float64] | None = None

    @property
    def engine(self) -> Any:
        """The running chains; an error where they have gone on without this state."""
        if self._engine is None:
            raise ValueError(
                "This state has been advanced: use the state that came of it, or copy() before."
            )
        return self._engine

    @property
    def values(self) -> NDArray[Any]:
        """The chains' assignments (lanes, n), a copy."""
        return self.engine.states().copy()

    @property
    def passes(self) -> int:
        """The passes done."""
        return self.engine.passes

    @property
    def log_scores(self) -> NDArray[np.float64]:
        """The log score of each chain's assignment (lanes,)."""
        if self._scores is None:
            self._scores = np.atleast_1d(self.model.log_score(self.values))
        return self._scores

    @property
    def marginals(self) -> NDArray[np.float64]:
        """The average P(x_i = v) so far: of value 1 (n,), or of all values one after the other."""
        engine = self.engine
        visits = engine.visits()
        if not engine.binary:
            visits = np.repeat(visits, np.asarray(self.model.cardinalities))
        with np.errstate(invalid="ignore", divide="ignore"):
            return engine.sums().mean(axis=0) / visits

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on, as arrays: a checkpoint."""
        return {name: np.array(array) for name, array in self.engine.arrays().items()}

    def copy(self) -> "State":
        """Make a state that goes on by itself, to the same bits."""
        engine = build_engine(self.model, self._settings, self.values, None)
        engine.load(self.arrays())
        return State(self.model, self._settings, engine)


class Kernel:
    """A move that leaves a model's distribution invariant, and how the run loop gets at it.

    A kernel is a description: immutable, without a model. Its `engine` holds running chains.
    `heeler.sample` takes any kernel, and kernels are made of kernels.
    """

    name: ClassVar[str] = "kernel"
    #: What the spread of chains means: "random", "quasi", "herded" or "greedy".
    chance: ClassVar[str] = "random"
    #: Whether the kernel holds functions of the user's, which files do not store.
    has_code: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """What to call the kernel among others."""
        return self.name

    def engine(
        self, model: Any, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains.

        Parameters
        ----------
        model
            The model, evidence included.
        settings
            Chains, seed, temperature, what is kept. Driver, scan and context say nothing here.
        states
            First states (lanes, n), inside the support.
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        raise NotImplementedError(f"{type(self).__name__} must define engine")

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values: its name, and what makes it again."""
        raise NotImplementedError(f"{type(self).__name__} must define words")

    def settings(self, model: Any, options: dict[str, Any]) -> Settings:
        """Resolve the settings of a run with this kernel.

        Parameters
        ----------
        model
            The model.
        options
            As `heeler.sample` checks them.

        Returns
        -------
        Settings
            What will be run.
        """
        return resolve(model, options | {"kernel": self}, Limits())

    def init(self, model: Any, lanes: int = 1, seed: int = 0, init: Any = None) -> State:
        """Make first states inside the support.

        Parameters
        ----------
        model
            The model, evidence included.
        lanes
            Chains.
        seed
            Whole number from 0 to 2^64 - 1.
        init
            First state (n,) or states (lanes, n) of one's own.

        Returns
        -------
        State
            The chains before their first pass.
        """
        options = {
            "driver": "auto",
            "scan": "auto",
            "context": "auto",
            "temperature": 1.0,
            "burn_in": 0,
            "thin": 1,
            "chains": whole("lanes", lanes, 1),
            "keep": None,
            "restart": False,
            "seed": whole("seed", seed, 0),
            "kernel": None,
        }
        if not len(model.free):
            raise ValueError("All variables of the model are clamped: there is nothing to update.")
        settings = self.settings(model, options)
        states = first_states(model, init, settings)
        return State(model, settings, build_engine(model, settings, states, None))

    def advance(self, state: State, n: int = 1, threads: int = 1) -> State:
        """Run passes.

        Parameters
        ----------
        state
            The state to go on from; it is used up.
        n
            Passes.
        threads
            Threads to use.

        Returns
        -------
        State
            The state after them.
        """
        engine = state.engine
        scores = np.empty((whole("n", n, 0), engine.lanes))
        threads = whole("threads", threads, 1)
        if state.model.kind == "density" or self.has_code:
            failure = advance_or_stop(engine, n, scores, threads)[1]
            if failure is not None:
                raise failure  # the state goes on from the last whole pass
        else:
            engine.advance(n, scores, threads)
        state._engine = None
        return State(state.model, state._settings, engine)
