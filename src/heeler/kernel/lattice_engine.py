"""The engine of lattices with one coupling: whole rows of sites at a time."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heeler.compiled.lattice_plan import Scratch, Share, Watch
    from heeler.compiled.lattice_schedule import Schedule
    from heeler.model import Lattice

GENERATORS = {"philox": 0, "fast": 1}
_GREEDY = 2
FLUSH = 240  # passes between emptyings of the small counters, as in the kernels
# Below this a pass is so short that meeting at barriers costs more than it saves.
_BAND_SITES = 1 << 13


class LatticeEngine:
    """Running chains of a lattice model.

    Parameters
    ----------
    model
        A `Lattice`: shape, coupling, field, periodic, neighbours.
    states : numpy.ndarray
        First states, (lanes, n), 0 or 1.
    driver : {"random", "herded", "greedy"}
        How values are chosen.
    scan : {"systematic", "chromatic"}
        Row by row, or colour by colour (row by row within a colour).
    context : {"shared", "neighbours"}
        What a herding weight is kept for: the number of up neighbours, or their assignment.
    bits : {16, 32}
        Size of a herding weight.
    key : int
        64-bit key of the random words.
    first_lane : int
        Number of the first lane (lanes of one run may live in several engines).
    generator : {"philox", "fast"}
        Where random words come from.
    temperature : float
        The distribution is p^(1/temperature).
    initial_weights : callable, optional
        Number of contexts -> first herding weights, (lanes, contexts), in the order of sites and,
        for a site, of its contexts (number of up neighbours; or their assignment, lowest neighbour
        as bit 0). Default: one half.
    """

    binary = True

    def __init__(
        self,
        model: "Lattice",
        states: np.ndarray,
        *,
        driver: str = "random",
        scan: str = "systematic",
        context: str = "shared",
        bits: int = 32,
        key: int = 0,
        first_lane: int = 0,
        generator: str = "philox",
        temperature: float = 1.0,
        initial_weights: Callable[[int], np.ndarray] | None = None,
    ) -> None:
        from heeler.compiled.lattice_layout import Layout
        from heeler.compiled.lattice_plan import aligned

        reason = refusal(model, scan=scan, driver=driver, context=context, bits=bits)
        if reason is not None:
            raise ValueError(reason)
        if generator not in GENERATORS:
            raise ValueError(f"generator must be 'philox' or 'fast', got {generator!r}")
        states = np.asarray(states)
        sites = math.prod(model.shape)
        if states.ndim != 2 or states.shape[1] != sites or states.shape[0] < 1:
            raise ValueError(f"states must have shape (lanes, {sites}), got {states.shape}")
        if states.dtype.kind not in "uib" or states.min() < 0 or states.max() > 1:
            raise ValueError("states must be integers 0 or 1")
        self.lanes, self.n = states.shape
        self.rows = self.lanes
        self.passes = 0
        self.driver, self.bits = driver, bits
        self._key, self._first_lane = np.uint64(key), first_lane
        self._generator = GENERATORS[generator] if driver == "random" else _GREEDY
        self._model = model
        self._periodic = periodic_axes(model)
        diagonal = model.neighbours == 8
        # Random sites come by 16 words; weights by the vectors that hold them.
        self._block = 512 // bits if driver == "herded" else 16
        self._layout = Layout(
            model.shape, self._periodic, diagonal, scan == "chromatic", self._block
        )
        self._pattern = driver == "herded" and context == "neighbours"
        degree = model.neighbours
        self._planes = 1 << degree if self._pattern else degree + 1
        self._plan = self._layout.plan(self._planes, self._pattern)
        self._field = _one_or_all(model.field)
        self._score = self._layout.score(model.coupling, self._field)
        self._states = aligned((self.lanes, self._layout.state_size), np.uint8)
        self._layout.put_states(states, self._states)
        self._best = self._layout.put_bits(states)
        self._best_scores = self.log_scores(states)
        self.set_temperature(temperature)
        self._make_accumulators(initial_weights)
        self._made: dict = {}
        self._tiles = (1, 1)
        if self._layout.fused:
            from heeler.compiled.lattice_schedule import depth

            table = self._table.nbytes if self._table_step else 0
            weights = self._weights.nbytes // self.lanes if driver == "herded" else 0
            line = (weights + table + 6 * self.n) // model.shape[0]
            self._tiles = depth(line, model.shape[0])

    def _make_accumulators(self, initial_weights: Callable[[int], np.ndarray] | None) -> None:
        from heeler.compiled.lattice_plan import aligned

        size = (self.lanes, self._layout.flat_size)
        self._since = 0
        self._totals = aligned(size, np.int64)
        if self.driver != "herded":
            self._sums = aligned(size, np.uint32)
            return
        from heeler.compiled.lattice_weights import place_weights

        dtype = np.dtype(f"uint{self.bits}")
        half = 1 << (self.bits - 1)
        self._sums = aligned(size, np.uint8)
        if initial_weights is None:
            self._weights = aligned((self.lanes, size[1] * self._planes), dtype, half)
        else:
            contexts = self.contexts
            given = initial_weights(contexts)
            if given.shape != (self.lanes, contexts) or given.dtype != dtype:
                raise ValueError(
                    f"initial_weights must be {dtype} of shape {(self.lanes, contexts)}, "
                    f"got {given.dtype} of shape {given.shape}"
                )
            placed = place_weights(
                self._layout,
                self._steps(),
                self._pattern,
                self._planes,
                given,
                half,
                dtype,
            )
            self._weights = aligned(placed.shape, dtype)
            self._weights[...] = placed
        self.reset_sums()

    def _steps(self) -> list:
        from heeler.compiled.lattice_layout import neighbour_steps

        return neighbour_steps(self._model.shape, self._model.neighbours == 8)

    def set_temperature(self, temperature: float) -> None:
        """Make the tables of probabilities for a temperature."""
        if not 0.0 < temperature < math.inf:
            raise ValueError(f"temperature must be positive and finite, got {temperature!r}")
        from heeler.compiled.lattice_layout import quantised_tables

        self._table, self._table_step = quantised_tables(
            self._layout,
            self._model.coupling,
            self._field,
            1.0 / temperature,
            pattern=self._pattern,
            bits=self.bits if self.driver == "herded" else 32,
        )

    def log_scores(self, states: np.ndarray) -> np.ndarray:
        """Return the log score of states (lanes, n), computed as the kernels follow it."""
        from heeler.compiled.lattice_plan import aligned, make_scratch
        from heeler.compiled.lattice_rows import score_states

        packed = aligned((len(states), self._layout.state_size), np.uint8)
        self._layout.put_states(states, packed)
        scores = np.empty(len(states))
        score_states(self._plan, self._score, make_scratch(1).keys, packed, scores)
        return scores

    def advance(self, passes: int, scores: np.ndarray, threads: int = 1) -> None:
        """Advance all lanes; store the log scores after each pass in scores (passes, lanes)."""
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads!r}")
        if passes < 0 or scores.shape != (passes, self.lanes) or scores.dtype != np.float64:
            raise ValueError(
                f"scores must be float64 of shape {(passes, self.lanes)}, "
                f"got {scores.dtype} of shape {scores.shape}"
            )
        bands = threads if self._plan.phase.size > 2 and self.n >= _BAND_SITES else 1
        # Lanes side by side first; what is left over (or a single lane) is shared row by row.
        even = self.lanes - self.lanes % threads if bands > 1 else self.lanes
        jobs = []
        if even:
            at = [even * k // threads for k in range(threads + 1)]
            for first, last in pairwise(at):
                if last > first:
                    jobs.append(self._job(passes, scores, (first, last, 0, 1), self._meeting(1)))
        together(jobs)
        if even < self.lanes:
            meeting = self._meeting(bands)
            together(
                [
                    self._job(passes, scores, (even, self.lanes, k, bands), meeting)
                    for k in range(bands)
                ]
            )
        self.passes += passes
        self._since += passes

    def _schedules(self, passes: int, bands: int) -> list:
        """Return (first pass, last pass, schedule) of stretches of windows of one length."""
        from heeler.compiled.lattice_schedule import SHALLOW

        stretches, at = [], 0
        depth = self._depth(bands)
        while at < passes:
            # Windows end where counts are emptied, at fixed passes.
            room = min(passes - at, FLUSH - (self._since + at) % FLUSH)
            window = min(depth, room)
            window = window if window >= SHALLOW else 1
            many = room // window * window
            if many == room and room % FLUSH == 0:
                many = (passes - at) // FLUSH * FLUSH
            stretches.append((at, at + many, self._schedule(window, bands)))
            at += many
        return stretches

    def _depth(self, bands: int) -> int:
        """Return how many passes go through the lattice together."""
        depth, per_unit = self._tiles
        return depth if depth == 1 or self._skewed(depth, per_unit, bands) is not None else 1

    def _skewed(self, window: int, per_unit: int, bands: int) -> "Schedule | None":
        from heeler.compiled.lattice_schedule import skewed

        name = (window, bands)
        if name not in self._made:
            layout = self._layout
            per_group = layout.lines // layout.shape[0]
            self._made[name] = skewed(
                layout.lines, per_group, per_unit, window, bands, layout.periodic[0]
            )
        return self._made[name]

    def _schedule(self, window: int, bands: int) -> "Schedule":
        from heeler.compiled.lattice_schedule import plain

        if window > 1:
            made = self._skewed(window, self._tiles[1], bands)
            assert made is not None  # _depth asked for this window before
            return made
        if (1, bands) not in self._made:
            self._made[1, bands] = plain(self._plan, bands, self._layout.fused)
        return self._made[1, bands]

    def _meeting(self, bands: int) -> "tuple":
        """Return where the threads of one group of lanes leave what they count, and their gate."""
        depth = self._depth(bands)
        recent = np.zeros((depth, self._layout.rows, self._layout.words), np.uint64)
        return recent, np.zeros((2, bands, depth, 8), np.int64), np.zeros(8, np.int64)

    def _job(self, passes: int, scores: np.ndarray, share: tuple, meeting: tuple) -> Callable:
        from heeler.compiled.lattice_plan import Share, Watch, make_scratch

        share = Share(*share)
        watch = Watch(self._best, self._best_scores, *meeting)
        stretches = self._schedules(passes, share.bands)
        scratch = make_scratch(self._depth(share.bands) * (self._plan.phase.size - 1))

        def run() -> None:
            for first, last, schedule in stretches:
                self._advance(first, schedule, watch, share, scratch, scores[first:last])

        return run

    def _advance(
        self,
        first: int,
        schedule: "Schedule",
        watch: "Watch",
        share: "Share",
        scratch: "Scratch",
        scores: np.ndarray,
    ) -> None:
        since = self._since + first
        if self.driver == "herded":
            from heeler.compiled.lattice_herded import advance_herded

            advance_herded(
                self._plan, schedule, self._score, watch, share, scratch, self._states,
                self._weights, self._table, self._table_step, self._sums, self._totals, since,
                scores,
            )  # fmt: skip
            return
        from heeler.compiled.lattice_random import advance_random

        advance_random(
            self._plan, schedule, self._score, watch, share, scratch, self._states, self._table,
            self._table_step, self._sums, self._totals, since, self._generator, self._key,
            self.passes + first, self._first_lane, scores,
        )  # fmt: skip

    def states(self) -> np.ndarray:
        """Return the present states, uint8 (lanes, n)."""
        return self._layout.get_states(self._states)

    def best_states(self) -> np.ndarray:
        """Return the best states after any pass, uint8 (lanes, n)."""
        return self._layout.get_bits(self._best)

    def best_scores(self) -> np.ndarray:
        """Return the log scores of the best states, (lanes,)."""
        return self._best_scores.copy()

    def reset_sums(self) -> None:
        """Forget what was counted: the end of burn-in."""
        self._since = 0
        self._sums[:] = 0
        if self.driver == "herded":
            # A weight's sum of p is its count of ups plus what the weight itself has gained since
            # now.
            np.negative(self._weight_sums(), out=self._totals)
        else:
            self._totals[:] = 0

    def _weight_sums(self, rows: slice = slice(None)) -> np.ndarray:
        """Add up the weights of each site in some rows, int64 (lanes, those rows' sites)."""
        shape = (self.lanes, self._layout.rows, -1, self._planes, self._block)
        blocks = self._weights.reshape(shape)[:, rows]
        return blocks.sum(axis=3, dtype=np.int64).reshape(self.lanes, -1)

    def integer_sums(self, dtype: type = np.int64) -> np.ndarray:
        """Return the Rao-Blackwell sums as integers (lanes, n), in units of `sum_unit`."""
        herded = self.driver == "herded"
        shape = (self.lanes, self._layout.rows, self._layout.padded)
        totals, sums = self._totals.reshape(shape), self._sums.reshape(shape)

        def part_of(rows: slice) -> np.ndarray:
            part = sums[:, rows].astype(np.int64)
            part <<= self.bits if herded else 0
            part += totals[:, rows]
            if herded:
                part += self._weight_sums(rows).reshape(part.shape)
            return part

        return self._layout.from_parts(part_of, (self.lanes,), dtype)

    @property
    def sum_unit(self) -> float:
        """The probability that one unit of the integer sums stands for."""
        return 2.0**-self.bits if self.driver == "herded" else 2.0**-24

    def sums(self) -> np.ndarray:
        """Return the sums of P(x_i = 1) over the visits since the reset, float64 (lanes, n)."""
        sums = self.integer_sums(np.float64)
        sums *= self.sum_unit
        return sums

    def visits(self) -> np.ndarray:
        """Return how often each variable was updated since the reset, int64 (n,)."""
        return np.broadcast_to(np.int64(self._since), (self.n,))

    @property
    def contexts(self) -> int:
        """How many herding weights a lane has in the order of sites."""
        from heeler.compiled.lattice_weights import context_pointer

        return int(context_pointer(self._layout, self._steps(), self._pattern)[-1])

    def natural_weights(self) -> np.ndarray:
        """Return the herding weights in the order of `initial_weights`, (lanes, contexts)."""
        from heeler.compiled.lattice_weights import natural_weights

        return natural_weights(
            self._layout, self._steps(), self._pattern, self._planes, self._weights
        )

    def adopt(self, states: np.ndarray, scores: np.ndarray) -> None:
        """Take states (lanes, n) as the present ones; scores follow from them."""
        del scores  # the engine counts bonds, exactly
        self._layout.put_states(states.astype(np.uint8, copy=False), self._states)

    def statistics(self) -> dict[str, float]:
        """Return nothing: every update of this engine draws from its conditional."""
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything needed to go on, as arrays (views: copy before advancing)."""
        kept = {
            "states": self._states, "best": self._best, "best_scores": self._best_scores,
            "sums": self._sums, "totals": self._totals,
            "counters": np.array([self.passes, self._since], np.int64),
        }  # fmt: skip
        if self.driver == "herded":
            kept["weights"] = self._weights
        return kept

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `arrays` gave."""
        own = self.arrays()
        if set(arrays) != set(own):
            raise ValueError(f"arrays must have the names {sorted(own)}, got {sorted(arrays)}")
        for name, target in own.items():
            value = np.asarray(arrays[name])
            if value.shape != target.shape or value.dtype != target.dtype:
                raise ValueError(
                    f"arrays[{name!r}] must be {target.dtype} of shape {target.shape}, "
                    f"got {value.dtype} of shape {value.shape}"
                )
        for name, target in own.items():
            target[...] = arrays[name]
        self.passes, self._since = (int(v) for v in arrays["counters"])


def _one_or_all(field: np.ndarray) -> np.ndarray:
    """Return a field that all sites share as one number."""
    field = np.asarray(field, np.float64)
    return field.reshape(-1)[0] if field.size and not any(field.strides) else field


def periodic_axes(model: "Lattice") -> tuple[bool, ...]:
    """Return which axes are periodic."""
    return tuple(bool(p) for p in np.broadcast_to(model.periodic, (len(model.shape),)))


def refusal(
    model: "Lattice", *, scan: str, driver: str, context: str = "shared", bits: int = 32
) -> str | None:
    """Say why there is no lattice engine for these choices; None when there is one."""
    shape, wraps = tuple(model.shape), periodic_axes(model)
    if getattr(model, "evidence", None) is not None:
        return "a lattice engine has no clamped sites"
    if np.ndim(model.coupling) != 0:
        return "a lattice engine needs one coupling for all bonds"
    if (len(shape), model.neighbours) not in {(2, 4), (2, 8), (3, 6)}:
        return f"a lattice engine has 4 or 8 neighbours in 2-D or 6 in 3-D, got {model.neighbours}"
    if any(w and size < 3 for w, size in zip(wraps, shape, strict=True)):
        return f"a periodic axis of a lattice engine has at least 3 sites, got shape {shape}"
    if driver not in {"random", "herded", "greedy"}:
        return f"driver must be 'random', 'herded' or 'greedy', got {driver!r}"
    if scan not in {"systematic", "chromatic"}:
        return f"scan must be 'systematic' or 'chromatic', got {scan!r}"
    if scan == "chromatic" and any(w and size % 2 for w, size in zip(wraps, shape, strict=True)):
        return f"a periodic axis of odd length has no two-colouring, got shape {shape}"
    if driver == "herded":
        if context not in {"shared", "neighbours"}:
            return f"context must be 'shared' or 'neighbours', got {context!r}"
        if context == "neighbours" and model.neighbours > 6:
            return "context 'neighbours' of a lattice engine has at most 6 neighbours"
        if bits not in {16, 32} or (bits == 16 and context != "shared"):
            return f"bits must be 32, or 16 with context 'shared', got {bits!r}"
    padded = math.prod(shape[:-1]) * (-(-shape[-1] // 64) * 64 + 64)
    if padded > 16 * math.prod(shape) + (1 << 20):
        return f"lines of {shape[-1]} sites are too short for a lattice engine of shape {shape}"
    return None


def together(jobs: list[Callable]) -> None:
    """Run jobs at the same time, each in a thread (they wait for each other), the last here."""
    if len(jobs) < 2:
        for job in jobs:
            job()
        return
    with ThreadPoolExecutor(len(jobs) - 1) as pool:
        others = [pool.submit(job) for job in jobs[:-1]]
        jobs[-1]()
        for other in others:
            other.result()
