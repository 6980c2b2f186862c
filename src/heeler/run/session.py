"""A run in progress: an engine, what is collected from it, and the loop in chunks between them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.run.batch_means import Batches
from heeler.run.careful import advance_or_stop
from heeler.run.interrupt import Interrupt
from heeler.run.settings import Settings
from heeler.run.trace import Trace

CHUNK_SECONDS = 0.05  # between looks at progress, Ctrl-C and the checkpoint
MOST_SCORES = 1 << 18  # scores of one chunk, all lanes together
MOST_BATCH_ENTRIES = (
    1 << 18
)  # (lanes x entries) beyond which batch means would cost more memory than the run
THREAD_SECONDS = 0.002  # a call must take this long before a second thread pays


@dataclass
class Limits:
    """When a run stops: at the first of these.

    Attributes
    ----------
    sweeps
        Passes after burn-in, all in all.
    seconds
        Of this call.
    error
        Largest standard error of a marginal.
    """

    sweeps: int | None = None
    seconds: float | None = None
    error: float | None = None


@dataclass
class Session:
    """A run in progress.

    Attributes
    ----------
    model, settings
        What is run.
    engine
        The running chains.
    threads
        Threads that the engine may use.
    seconds
        Spent so far.
    stopped_by
        What ended the last call: "sweeps", "seconds", "error", "interrupt" or "failure".
    """

    model: Any
    settings: Settings
    engine: Any
    threads: int
    seconds: float = 0.0
    stopped_by: str = ""
    samples: list[NDArray[Any]] = field(default_factory=list)
    function_batches: dict[str, Batches] = field(default_factory=dict)
    function_sums: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    kept: int = 0
    rate: float = 0.0  # passes a second, of the last chunk
    failure: Exception | None = None  # what a function of the user's raised in the last call
    sweeps: int | None = None  # that the engine was made for (the quasi driver needs to know)

    def __post_init__(self) -> None:
        """Make the collectors."""
        engine = self.engine
        self.trace = Trace(engine.lanes)
        columns = engine.n if engine.binary else engine.entries
        small = engine.rows * columns <= MOST_BATCH_ENTRIES
        useful = self.settings.chance == "random" and not self.settings.restart
        self.batches = Batches(engine.rows, columns) if small and useful else None

    @property
    def runs_code(self) -> bool:
        """Whether the moves call functions of the user's, which may fail."""
        kernel = self.settings.kernel
        return self.model.kind == "density" or (kernel is not None and kernel.has_code)

    @property
    def passes(self) -> int:
        """Passes after the burn-in."""
        return max(self.engine.passes - self.settings.burn_in, 0)

    def run(self, limits: Limits, watchers: list[Callable[["Session"], None]]) -> None:
        """Go on until a limit is reached or Ctrl-C is pressed.

        Parameters
        ----------
        limits
            When to stop.
        watchers
            Called after every chunk: progress, checkpoints.
        """
        if limits.seconds is not None:
            # No passes, but the kernel is compiled or loaded: the user's seconds are for sampling.
            self.engine.advance(0, np.empty((0, self.engine.lanes)))
        begin = time.perf_counter()
        before = self.seconds
        with Interrupt() as interrupt:
            while True:
                self.stopped_by = self._reason(
                    limits, time.perf_counter() - begin, interrupt.pressed
                )
                if self.stopped_by:
                    break
                self._chunk(limits, begin)
                self.seconds = before + time.perf_counter() - begin
                for watcher in watchers:
                    watcher(self)

    def _reason(self, limits: Limits, seconds: float, interrupted: bool) -> str:
        """Say why to stop, or nothing."""
        if interrupted:
            return "interrupt"
        if self.failure is not None:
            return "failure"
        if limits.sweeps is not None and self.passes >= limits.sweeps:
            return "sweeps"
        if limits.seconds is not None and seconds >= limits.seconds:
            return "seconds"
        if limits.error is not None and self._error_due() and self.error() <= limits.error:
            return "error"
        return ""

    def _error_due(self) -> bool:
        """Look at the error at fixed numbers of passes only: 16 times while they double."""
        passes = self.passes
        return passes >= 64 and passes % (1 << max(passes.bit_length() - 5, 0)) == 0

    def error(self) -> float:
        """Give the largest standard error of a marginal, infinity where unknown."""
        errors = self.errors()[0]
        if self.model.kind == "density":
            errors = errors[np.cumsum(self.model.columns) - self.model.columns]  # of the means
        known = errors[np.isfinite(errors)]
        return float(known.max()) if known.size else np.inf

    def errors(self, sums: NDArray[np.float64] | None = None) -> tuple[NDArray[np.float64], str]:
        """Estimate the standard errors of the averages, and say what they cover.

        Parameters
        ----------
        sums
            The engine's sums, where they are known already.

        Returns
        -------
        errors : ndarray
            One for every column of the sums.
        label : str
            What they cover.
        """
        from heeler.run.spread import across_lanes

        chance = self.settings.chance
        engine = self.engine
        visits = self.column_visits()
        unknown = np.broadcast_to(np.nan, len(visits))  # one number: large models have many
        if chance == "greedy":
            return unknown, "none: a greedy run does not average"
        if self.batches is not None and self.batches.count >= 4:
            return self.batches.errors(), (
                f"standard error from {self.batches.count} batches of {self.batches.length} passes "
                f"in {engine.lanes} chains; covers noise and autocorrelation within a batch"
            )
        if engine.rows < 2:
            return unknown, "none: one chain alone has no spread; use chains=4"
        groups = "chains" if engine.rows == engine.lanes else "groups of chains"
        covers = {
            "random": f"independent {groups}; covers noise",
            "quasi": "random shifts; covers the whole error",
            "herded": "replicates with other first weights; shows spread and not herding's bias",
        }[chance]
        return across_lanes(
            engine.sums() if sums is None else sums, visits
        ), f"standard error across {engine.rows} {covers}"

    def column_visits(self) -> NDArray[np.int64]:
        """Give the updates behind every column of the engine's sums."""
        visits = self.engine.visits()
        if self.engine.binary:
            return visits
        density = self.model.kind == "density"
        return np.repeat(visits, self.model.columns if density else self.model.cardinalities)

    def _chunk(self, limits: Limits, begin: float) -> None:
        """Run passes up to the next event."""
        engine = self.engine
        passes = self._length(limits, begin)
        lanes = engine.lanes
        scores = np.empty((passes, lanes))
        start = time.perf_counter()
        threads = self.threads if self.rate and passes / self.rate > THREAD_SECONDS else 1
        first = engine.passes
        done = passes
        if self.runs_code:
            done, self.failure = advance_or_stop(engine, passes, scores, threads)
        else:
            engine.advance(passes, scores, threads)
        self.rate = passes / max(time.perf_counter() - start, 1e-9)
        if done:
            self.trace.add(first, scores[:done])
            self._after(first)

    def _length(self, limits: Limits, begin: float) -> int:
        """Choose the passes of the next chunk: to the next event, within a chunk's time."""
        engine = self.engine
        burn_in = self.settings.burn_in
        done = engine.passes
        most = int(self.rate * CHUNK_SECONDS) if self.rate else 1
        if limits.seconds is not None and self.rate:
            left = limits.seconds - (time.perf_counter() - begin)
            most = min(most, int(self.rate * left) + 1)
        most = min(max(most, 1), max(MOST_SCORES // engine.lanes, 1))
        if not self.rate:
            # The first chunk's time is unknown: about a million updates take a few milliseconds.
            most = max(
                1, min((1 << 20) // max(engine.n * engine.lanes, 1), MOST_SCORES // engine.lanes)
            )
        if done < burn_in:
            return min(most, burn_in - done)
        passes = done - burn_in
        if limits.sweeps is not None:
            most = min(most, limits.sweeps - passes)
        if self.batches is not None:
            most = min(most, self.batches.next_pass(passes) - passes)
        if limits.error is not None:
            step = 1 << max((passes + 1).bit_length() - 6, 0)
            most = min(most, step - passes % step)
        if self._keeps_states():
            thin = self.settings.thin
            most = min(most, thin - passes % thin)
        return most

    def _keeps_states(self) -> bool:
        """Say whether something looks at states one by one."""
        return self.settings.keep.samples or bool(self.settings.keep.functions)

    def _after(self, first: int) -> None:
        """Collect what is due after a chunk."""
        engine, burn_in = self.engine, self.settings.burn_in
        if engine.passes == burn_in and first < burn_in:
            engine.reset_sums()
            return
        passes = self.passes
        if engine.passes <= burn_in:
            return
        if self.batches is not None and passes % self.batches.length == 0:
            self.batches.add(engine.sums(), self.column_visits())
        if self._keeps_states() and passes % self.settings.thin == 0:
            self._keep(engine.states().copy())

    def _keep(self, states: NDArray[Any]) -> None:
        """Keep a state and evaluate the user's functions."""
        self.kept += 1
        if self.settings.keep.samples:
            self.samples.append(states)
        states.setflags(write=False)  # a function only looks
        for name, function in self.settings.keep.functions.items():
            values = self._values(name, function(states))
            if name not in self.function_sums:
                self.function_sums[name] = np.zeros(values.shape)
                self.function_batches[name] = Batches(*values.shape)
            total = self.function_sums[name]
            total += values
            batches = self.function_batches[name]
            if self.kept % batches.length == 0:
                batches.add(total, np.full(total.shape[1], self.kept))

    def _values(self, name: str, answer: Any) -> NDArray[np.float64]:
        """Check what a user's function gave: a row for every lane, as many numbers every time."""
        lanes = self.engine.lanes
        try:
            values = np.asarray(answer, np.float64)
        except (TypeError, ValueError):
            raise TypeError(
                f"The function {name!r} must give numbers. Got {answer!r:.80} instead."
            ) from None
        width = self.function_sums[name].shape[1] if name in self.function_sums else None
        fits = values.ndim in (1, 2) and len(values) == lanes
        if not fits or (width is not None and values.size != lanes * width):
            raise ValueError(
                f"The function {name!r} must give an array of shape ({lanes},) or ({lanes}, d): a "
                f"row for every chain. Got shape {values.shape} instead."
            )
        return values.reshape(lanes, -1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything needed to go on."""
        result = {f"engine/{name}": array for name, array in self.engine.arrays().items()}
        result |= {f"trace/{name}": array for name, array in self.trace.arrays().items()}
        if self.batches is not None:
            result |= {f"batches/{name}": array for name, array in self.batches.arrays().items()}
        for key, batches in self.function_batches.items():
            result |= {f"function/{key}/{name}": array for name, array in batches.arrays().items()}
            result[f"sums/{key}"] = self.function_sums[key]
        if self.samples:
            result["samples"] = np.stack(self.samples)
        result["kept"] = np.array(self.kept)
        return result

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `arrays` gave.

        Parameters
        ----------
        arrays
            The arrays, by name.
        """

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}

        self.engine.load(part("engine/"))
        self.trace.load(part("trace/"))
        if self.batches is not None:
            self.batches.load(part("batches/"))
        for name, total in part("sums/").items():
            self.function_sums[name] = total.copy()
            self.function_batches[name] = Batches(*total.shape)
            self.function_batches[name].load(part(f"function/{name}/"))
        if "samples" in arrays:
            self.samples = list(arrays["samples"])
        self.kept = int(arrays["kept"])
