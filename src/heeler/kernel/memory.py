"""A driver's memory: the compiled driver's tuple, its weights, and what they say about the sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled import drivers as compiled
from heeler.compiled.hashed import Hashed, mix_word, rehash, start_contexts, weight_gain
from heeler.compiled.sums import sum_blocks
from heeler.compiled.words import BLOCK, DRAW_WEIGHT, fill_words
from heeler.driver import Context, Full, Herded, Radius
from heeler.kernel.lowered import Lowered
from heeler.kernel.weight_layout import lay_out

FIRST_SLOTS = 1 << 12
HALF = np.uint32(1 << 31)


class Memory:
    """Nothing to remember: random, quasi and greedy choices."""

    def __init__(self, driver: Any) -> None:
        """Wrap a compiled driver."""
        self.driver = driver

    def start(self, x: NDArray) -> None:
        """Prepare for a first state."""

    def arrays(self) -> dict[str, NDArray]:
        """Give what must be kept to go on."""
        return {}

    def load(self, arrays: dict[str, NDArray]) -> None:
        """Take back what `arrays` gave."""

    def gains(self, entries: int) -> NDArray[np.int64] | None:
        """Sum the weights by (variable, value), (lanes, entries); None where there are none."""
        del entries
        return None

    def grow(self) -> None:
        """Make room."""

    def reset(self) -> None:
        """Forget what was counted: the burn-in is over."""

    def moves(self) -> int | None:
        """Count the accepted moves since the reset; None where every choice is one."""
        return None


class MovesMemory(Memory):
    """Counters of accepted moves: Metropolis and its relatives."""

    def arrays(self) -> dict[str, NDArray]:
        """Give the counters."""
        return {"moves": self.driver.moves}

    def load(self, arrays: dict[str, NDArray]) -> None:
        """Take the counters back."""
        self.driver.moves[...] = arrays["moves"]

    def reset(self) -> None:
        """Start counting again."""
        self.driver.moves[:] = 0

    def moves(self) -> int | None:
        """Count the accepted moves of all lanes."""
        return int(self.driver.moves.sum())


class TableMemory(Memory):
    """Herding weights in tables: by context, by equal conditionals, or by bins.

    Parameters
    ----------
    lowered
        The model.
    spec
        The driver.
    context
        The context, None for automatic.
    lanes, keys
        Chains, and the seed's words.
    """

    def __init__(
        self, lowered: Lowered, spec: Herded, context: Context | None, lanes: int, key: np.uint64
    ) -> None:
        """Lay the weights out: a variable's weights are contiguous."""
        layout = lay_out(lowered, context)
        if spec.rule == "tijdeman" and layout.has_bins:
            raise ValueError(
                "The rule 'tijdeman' needs a fixed probability for every weight, so it cannot use "
                "bins. Use context='neighbours', or rule='argmax'."
            )
        self.layout = layout
        self.binary = lowered.binary
        self.random = [lane for lane in range(lanes) if lane > 0 or spec.start == "random"]
        self.weights = first_weights(lowered.binary, lanes, layout.total, self.random, key)
        kind: Any = (
            compiled.Tijdeman if spec.rule == "tijdeman" and not lowered.binary else compiled.Herded
        )
        super().__init__(kind(self.weights, layout.key_map, layout.bin_base, layout.bins))

    def start_components(self, variables: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
        """Give every component the random first weights that it would have alone.

        Parameters
        ----------
        variables
            Where each component's variables begin (components + 1,).
        keys
            The components' keys.
        """
        by_context = self.driver.bin_base < 0
        starts = self.layout.first
        size = self.layout.last - starts
        for k, key in enumerate(keys):
            mine = slice(variables[k], variables[k + 1])
            parts = [np.flatnonzero(by_context[mine]), np.flatnonzero(~by_context[mine])]
            total = int(size[mine].sum())
            weights = first_weights(self.binary, len(self.weights), total, self.random, key)
            at = 0
            for part in parts:  # alone, a model has its contexts first and its bins after
                if len(part):
                    begin = starts[mine][part[0]]
                    count = int(size[mine][part].sum())
                    self.weights[:, begin : begin + count] = weights[:, at : at + count]
                    at += count

    def arrays(self) -> dict[str, NDArray]:
        """Give the weights."""
        return {"weights": self.weights}

    def load(self, arrays: dict[str, NDArray]) -> None:
        """Take the weights back."""
        self.weights[:] = arrays["weights"]

    def gains(self, entries: int) -> NDArray[np.int64] | None:
        """Sum the weights by (variable, value)."""
        a = self.layout
        out = np.zeros((len(self.weights), entries), np.int64)
        for lane, row in enumerate(self.weights):
            sum_blocks(row, a.first, a.last, a.width, a.entry, out[lane])
        return out


def first_weights(
    binary: bool, lanes: int, total: int, random: list[int], key: np.uint64
) -> NDArray:
    """Start from one half (binary) or zero (K values), replicates from random words.

    Parameters
    ----------
    binary
        Whether weights are binary.
    lanes, total
        Chains, and weights of each.
    random
        The lanes that start from random weights.
    key
        The seed's word.

    Returns
    -------
    ndarray
        uint32 or int64 (lanes, total).
    """
    weights = np.full((lanes, total), HALF) if binary else np.zeros((lanes, total), np.int64)
    words = (
        np.empty((total + BLOCK - 1) // BLOCK * BLOCK, np.uint32)
        if random
        else np.empty(0, np.uint32)
    )
    for lane in random:
        fill_words(words, key, 0, DRAW_WEIGHT, lane)
        weights[lane] = words[:total] if binary else words[:total] >> np.uint32(2)
    return weights


class HashMemory(Memory):
    """Herding weights in hash maps of visited contexts, one map a lane.

    Parameters
    ----------
    lowered
        The model.
    spec
        The driver.
    context
        `Radius` or `Full`.
    lanes, key
        Chains, and the seed's word.
    balls
        Pointer and index of each variable's ball; empty for `Full`.
    """

    def __init__(
        self,
        lowered: Lowered,
        spec: Herded,
        context: Radius | Full,
        lanes: int,
        key: np.uint64,
        balls: tuple[NDArray, NDArray],
    ) -> None:
        """Start with small empty maps."""
        if spec.rule == "tijdeman" and not lowered.binary:
            raise ValueError(
                "The rule 'tijdeman' works with the context 'neighbours' only. Use rule='argmax'."
            )
        self.width = 1 if lowered.binary else int(lowered.cardinalities.max())
        self.cardinalities = np.asarray(lowered.cardinalities, np.int64)
        self.binary = lowered.binary
        kind = np.uint32 if lowered.binary else np.int64
        contexts = 1 if isinstance(context, Full) else lowered.n
        random = [lane > 0 or spec.start == "random" for lane in range(lanes)]
        start = np.array(
            [
                mix_word(np.uint64((int(key) + lane) % (1 << 64))) | 1 if r else 0
                for lane, r in enumerate(random)
            ],
            np.uint64,
        )
        super().__init__(
            Hashed(
                np.zeros((lanes, FIRST_SLOTS), np.uint64),
                np.zeros((lanes, FIRST_SLOTS * self.width), kind),
                np.zeros((lanes, FIRST_SLOTS), np.int32),
                np.zeros(lanes, np.int64),
                np.zeros((lanes, contexts), np.uint64),
                *balls,
                start,
                self.width,
            )
        )

    def start(self, x: NDArray) -> None:
        """Hash the contexts of the first states."""
        for lane, row in enumerate(x):
            start_contexts(
                row, self.driver.contexts[lane], self.driver.ball_pointer, self.driver.ball
            )

    def arrays(self) -> dict[str, NDArray]:
        """Give the maps."""
        d = self.driver
        return {
            "keys": d.keys,
            "weights": d.weights,
            "owner": d.owner,
            "used": d.used,
            "contexts": d.contexts,
        }

    def load(self, arrays: dict[str, NDArray]) -> None:
        """Take the maps back, unless the loop would leave their bounds."""
        keys, owner = arrays["keys"], arrays["owner"]
        slots = keys.shape[1]
        used = np.count_nonzero(keys, axis=1)
        whole = slots & (slots - 1) == 0 and slots > used.max() and (used == arrays["used"]).all()
        fits = owner.shape == keys.shape and arrays["weights"].shape == (
            len(keys),
            slots * self.width,
        )
        if not (whole and fits) or (owner < 0).any() or (owner >= len(self.cardinalities)).any():
            raise ValueError("the map of herding weights is damaged")
        self.driver = self.driver._replace(**{name: arrays[name].copy() for name in self.arrays()})

    def grow(self) -> None:
        """Double the maps."""
        old = self.driver
        lanes, slots = old.keys.shape
        new = old._replace(
            keys=np.zeros((lanes, 2 * slots), np.uint64),
            weights=np.zeros((lanes, 2 * slots * self.width), old.weights.dtype),
            owner=np.zeros((lanes, 2 * slots), np.int32),
        )
        for k in range(lanes):
            rehash(
                old.keys[k],
                old.weights[k],
                old.owner[k],
                new.keys[k],
                new.weights[k],
                new.owner[k],
                self.width,
            )
        self.driver = new

    def gains(self, entries: int) -> NDArray[np.int64] | None:
        """Sum the weights' gains by (variable, value)."""
        d = self.driver
        lanes = len(d.keys)
        square = np.zeros((lanes, len(self.cardinalities) * self.width), np.int64)
        for k in range(lanes):
            weight_gain(d.keys[k], d.weights[k], d.owner[k], d.start[k], self.width, square[k])
        if self.binary:
            return square
        used = np.arange(self.width) < self.cardinalities[:, None]
        return square[:, used.ravel()].reshape(lanes, entries)


def balls_of(
    pointer: NDArray, index: NDArray, radius: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the variables within a distance of each variable, without itself.

    Parameters
    ----------
    pointer, index
        The graph in compressed rows.
    radius
        The distance.

    Returns
    -------
    pointer, index : ndarray
        The balls in compressed rows.
    """
    from scipy.sparse import csr_array

    n = len(pointer) - 1
    # Booleans, so that counts of paths cannot overflow; a step that finds nothing new is the last.
    step = csr_array((np.ones(len(index), bool), index, pointer), shape=(n, n))
    reach = step
    for _ in range(radius - 1):
        size = reach.nnz
        reach = reach + reach @ step
        if reach.nnz == size:
            break
    reach.setdiag(False)
    reach.eliminate_zeros()
    reach.sort_indices()
    return reach.indptr.astype(np.int64), reach.indices.astype(np.int32)
