"""Models as the flat arrays that the compiled loop takes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.conditionals import Bipartite, Dense, Factors, Potts, Sparse
from heeler.compiled.loop import Scratch
from heeler.compiled.quantise import fill_weights
from heeler.compiled.rows import MOST
from heeler.compiled.tables import (
    fill_odds,
    fill_pair_tables,
    fill_rows,
    most_log_odds,
)
from heeler.compiled.words import BLOCK
from heeler.kernel.slots import Slots, padded, slots_of
from heeler.model.base import Model

# Fixed point of the score: the largest change of one update becomes about 2^30 units, so a table of
# gains fits int32.
GAIN_RANGE = 2.0**30
LEAST_RANGE = 1e-290  # nats: models without any weights keep a finite scale
NEAR = 8  # most neighbours of a binary variable with contexts (256 of them)
MOST_CONTEXTS = 256  # a variable's, of any number of values, before it goes to bins
# Weights of a conditional are multiplied where the smallest product stays far from underflow, and
# their logarithms, divided by beta, tell the score's changes: 1e-16 / LEAST_BETA nats off.
MOST_REACH = 600.0  # nats
LEAST_BETA = 2.0**-10
TABLE_LIMIT = 1 << 27  # entries of all tables of a factor graph
CACHED_TABLE = (
    1 << 19
)  # contexts of binary couplings beyond which computing beats missing the cache


@dataclass(frozen=True)
class Lowered:
    """A model (or a batch of models side by side) as flat arrays.

    Attributes
    ----------
    conditional
        The NamedTuple that the compiled loop is specialised on.
    binary
        Whether it is one of the binary conditionals.
    cardinalities
        int32 (n,).
    base
        First context (binary) or row (K values) of every variable, -1 for none.
    sizes
        How many contexts (binary) or table entries (K values) every variable has.
    unit
        Nats of one step of the fixed-point score.
    layouts
        Where herding weights lie, by context: filled in when a run needs it.
    """

    conditional: Any
    binary: bool
    cardinalities: NDArray[np.int32]
    base: NDArray[np.int64]
    sizes: NDArray[np.int64]
    unit: float
    layouts: dict[str | None, Any] = field(default_factory=dict)

    @property
    def contexts(self) -> int:
        """How many contexts or table entries there are in all."""
        return int(self.sizes.sum())

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.cardinalities)


def lower_couplings(
    pointer: NDArray[np.int64],
    index: NDArray[np.integer],
    coupling: NDArray[np.float64],
    field: NDArray[np.float64],
    beta: float | None,
    contexts: bool = True,
    order: NDArray[np.integer] | None = None,
) -> Lowered:
    """Lower spins with pair couplings.

    Parameters
    ----------
    pointer, index, coupling
        The symmetric couplings in compressed rows, ascending.
    field
        float64 (n,).
    beta
        The inverse temperature, or None when it varies from pass to pass (no tables then).
    contexts
        Whether contexts are numbered, for herding keyed by the neighbours.
    order
        The order of updates, where it is known: contexts are numbered in it and nothing is
        tabulated, because the coloured kernel computes.

    Returns
    -------
    Lowered
        A `Sparse` conditional.
    """
    n = len(field)
    coupling, field = np.ascontiguousarray(coupling), np.ascontiguousarray(field)
    degree = np.diff(pointer)
    size = np.where(degree <= NEAR, np.int64(1) << np.minimum(degree, NEAR), 0)
    total = int(size.sum())
    tabled = beta is not None and total <= CACHED_TABLE and order is None
    if not (tabled or contexts):
        size[:] = 0
        total = 0
    base = _numbered(size, order)
    most = np.empty(n)
    most_log_odds(pointer, coupling, field, most)
    scale = GAIN_RANGE / max(float(most.max(initial=0.0)), LEAST_RANGE)
    table = np.empty(total if tabled else 0, np.uint32)
    gain = np.empty(total if tabled else 0, np.int32)
    if tabled:
        fill_pair_tables(pointer, base, coupling, field, beta, scale, table, gain)
    conditional = Sparse(
        pointer,
        index.astype(np.uint32),
        _near(pointer, index, base),
        base,
        table,
        gain,
        coupling,
        field,
        scale,
    )
    return Lowered(conditional, True, np.broadcast_to(np.int32(2), n), base, size, 1.0 / scale)


def _numbered(size: NDArray[np.int64], order: NDArray[np.integer] | None) -> NDArray[np.int64]:
    """Number contexts variable by variable, in the order given; -1 for variables without."""
    if order is None:
        return np.where(size > 0, np.cumsum(size) - size, -1)
    rest = np.ones(len(size), bool)
    rest[order] = False
    everything = np.concatenate([order, np.flatnonzero(rest)]).astype(np.int64)
    base = np.empty(len(size), np.int64)
    base[everything] = _numbered(size[everything], None)
    return base


def _near(pointer: NDArray, index: NDArray, base: NDArray) -> NDArray[np.uint32]:
    """Lay the neighbours of the variables with contexts out in rows of 4 or 8, filled up with n."""
    n = len(base)
    degree = np.where(base >= 0, np.diff(pointer), 0)
    if not degree.any():
        return np.full((1, 4), n, np.uint32) if (base < 0).all() else np.full((n, 4), n, np.uint32)
    width = 4 if degree.max() <= 4 else NEAR
    near = np.full((n, width), n, np.uint32)
    row = np.repeat(np.arange(n), degree)
    column = np.arange(len(row)) - np.repeat(np.cumsum(degree) - degree, degree)
    near[row, column] = index[pointer[row] + column]
    return near


def lower_dense(weights: NDArray[np.float64], bias: NDArray[np.float64], lanes: int) -> Lowered:
    """Lower a Boltzmann machine whose units (0/1) all touch each other.

    Parameters
    ----------
    weights
        float64 (n, n), symmetric with zero diagonal.
    bias
        float64 (n,).
    lanes
        Chains; each keeps its local fields, which `refresh` computes from a state.

    Returns
    -------
    Lowered
        A `Dense` conditional.
    """
    unit = _unit(max(np.abs(weights).max(initial=0.0), np.abs(bias).max(initial=0.0)))
    fixed = np.rint(weights / unit).astype(np.int32)
    conditional = Dense(fixed, _integers(bias, unit), np.zeros((lanes, len(bias)), np.int64), unit)
    return _untabled(conditional, True, np.broadcast_to(np.int32(2), len(bias)), unit)


def lower_bipartite(
    weights: NDArray, visible_bias: NDArray, hidden_bias: NDArray, lanes: int
) -> Lowered:
    """Lower a restricted Boltzmann machine, visible units first.

    Parameters
    ----------
    weights
        float64 (visible, hidden).
    visible_bias, hidden_bias
        float64.
    lanes
        Chains.

    Returns
    -------
    Lowered
        A `Bipartite` conditional.
    """
    bias = np.concatenate([visible_bias, hidden_bias])
    unit = _unit(max(np.abs(weights).max(initial=0.0), np.abs(bias).max(initial=0.0)))
    fixed = np.ascontiguousarray(np.rint(weights / unit).astype(np.int32))
    fields = np.zeros((lanes, len(bias)), np.int64)
    conditional = Bipartite(
        fixed, np.ascontiguousarray(fixed.T), _integers(bias, unit), fields, unit
    )
    return _untabled(conditional, True, np.broadcast_to(np.int32(2), len(bias)), unit)


def _unit(largest: float) -> float:
    """Choose the step of integer weights: the largest weight becomes 2^30."""
    return max(float(largest), LEAST_RANGE) / GAIN_RANGE


def _integers(values: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    """Round to whole steps."""
    return np.rint(values / unit).astype(np.int64)


def _untabled(conditional: Any, binary: bool, cardinalities: NDArray, unit: float) -> Lowered:
    """Wrap a conditional without numbered contexts."""
    return Lowered(
        conditional,
        binary,
        cardinalities,
        np.full(len(cardinalities), -1),
        np.zeros(len(cardinalities), np.int64),
        unit,
    )


def lower_potts(pointer: NDArray, index: NDArray, coupling: NDArray, field: NDArray) -> Lowered:
    """Lower a Potts model to be computed on the fly.

    Parameters
    ----------
    pointer, index, coupling
        The symmetric couplings in compressed rows.
    field
        float64 (n, K).

    Returns
    -------
    Lowered
        A `Potts` conditional.
    """
    row = np.repeat(np.arange(len(field)), np.diff(pointer))
    # Forbidden values are never chosen, so their distance to the others counts for nothing.
    lowest = np.where(np.isfinite(field), field, np.inf).min(axis=1)
    most = np.bincount(row, np.abs(coupling), len(field)) + (field.max(axis=1) - lowest)
    scale = GAIN_RANGE / max(float(most.max(initial=0.0)), LEAST_RANGE)
    values = field.shape[1]
    filled = np.full((len(field), int(padded(np.array(values)))), -np.inf)
    filled[:, :values] = field
    coupling = np.ascontiguousarray(coupling)
    conditional = Potts(
        pointer, index.astype(np.uint32), coupling, filled, values, np.empty(0, np.int32), scale
    )
    cardinalities = np.broadcast_to(np.int32(values), len(field))
    return _untabled(conditional, False, cardinalities, 1.0 / scale)


def lower_slots(
    slots: Slots, beta: float | None, contexts: bool = True, hard: bool = True
) -> Lowered:
    """Lower a factor graph, binary ones with few neighbours to tables of P(1).

    Parameters
    ----------
    slots
        The factors, variable by variable.
    beta
        The inverse temperature, or None when it varies from pass to pass (no tables then).
    contexts
        Whether contexts are numbered even where there is no table.
    hard
        Whether a weight of zero occurs.

    Returns
    -------
    Lowered
        A `Sparse` or a `Factors` conditional.
    """
    n = len(slots.cardinalities)
    degree = np.diff(slots.pointer)
    scale = GAIN_RANGE / max(float(slots.spread.max(initial=0.0)), LEAST_RANGE)
    binary = (
        bool((slots.cardinalities == 2).all()) and bool((degree <= NEAR).all()) and beta is not None
    )
    if binary:
        size = np.int64(1) << degree
        base = np.cumsum(size) - size
        total = int(size.sum())
        if total <= TABLE_LIMIT:
            nothing = np.zeros(len(slots.index), np.int64)
            factors = _factors(slots, np.full(n, -1), nothing, scale, None)
            table = np.empty(total, np.uint64 if hard else np.uint32)
            gain = np.empty(total, np.int32)
            fill_odds(factors, beta, scale, *_scratch(slots), base, table, gain)
            conditional = Sparse(
                slots.pointer,
                factors.index,
                _near(slots.pointer, slots.index, base),
                base,
                table,
                gain,
                np.empty(0),
                np.empty(0),
                scale,
            )
            return Lowered(conditional, True, slots.cardinalities, base, size, 1.0 / scale)
    base, stride, size = _rows(slots)
    total = int(size.sum())
    # Where some variables must be computed, all are: which one comes next could not be predicted.
    tabled = beta is not None and total <= TABLE_LIMIT and bool((base >= 0).all())
    if total > TABLE_LIMIT or not (tabled or contexts):
        base, size = np.full(n, -1), np.zeros(n, np.int64)
    factors = _factors(slots, base, stride, scale, beta)
    if tabled:
        table = np.zeros(2 * total + MOST, np.int32)  # rows are read 8 entries at a time
        fill_rows(factors, beta, *_scratch(slots), table)
        factors = factors._replace(table=table)
    return Lowered(factors, False, slots.cardinalities, base, size, 1.0 / scale)


def _scratch(slots: Slots) -> tuple[NDArray, Scratch]:
    """Make the working memory of the table kernels: a state and what a conditional needs."""
    x = np.zeros(len(slots.cardinalities) + 1, np.uint16)
    return x, make_scratch(int(slots.cardinalities.max()), 0, x)


def make_scratch(most_values: int, steps: int, x: NDArray) -> Scratch:
    """Make one thread's working memory.

    Parameters
    ----------
    most_values
        The largest number of values of a variable.
    steps
        Sites of a pass, for scans that make them.
    x
        A state to work in.

    Returns
    -------
    Scratch
        The arrays.
    """
    most = int(padded(np.array(most_values)))
    return Scratch(
        np.empty(BLOCK, np.uint32),
        np.empty((2, BLOCK), np.uint32),
        np.empty(steps, np.uint32),
        x,
        np.zeros(max(most, 8), np.int32),
        np.empty(most),
        np.empty(most),
        np.ones(BLOCK),
    )


def _rows(slots: Slots) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the rows of variables with few contexts: values fastest, then the last neighbour."""
    degree = np.diff(slots.pointer)
    stride = np.ones(len(slots.index), np.int64)
    step = slots.cardinalities.astype(np.int64)
    capped = step.copy()
    for back in range(1, int(degree.max(initial=0)) + 1):
        rows = np.flatnonzero(degree >= back)
        place = slots.pointer[rows + 1] - back
        stride[place] = capped[rows]
        # Beyond the limit the product no longer matters; keep it from overflowing.
        capped[rows] = np.minimum(capped[rows] * slots.cardinalities[slots.index[place]], 1 << 40)
    size = np.where(capped // step <= MOST_CONTEXTS, capped, 0)
    base = np.where(size > 0, np.cumsum(size) - size, -1)
    return base, stride, size


def _factors(
    slots: Slots,
    base: NDArray[np.int64],
    stride: NDArray[np.int64],
    scale: float,
    beta: float | None,
) -> Factors:
    """Make the conditional without tables; in logarithms only if there is no beta."""
    logs = slots.log_tables
    linear = np.zeros(len(slots.own), np.uint8)
    if beta is not None and beta >= LEAST_BETA:
        linear[:] = beta * slots.spread <= MOST_REACH
    weights = np.empty(len(logs) if linear.any() else 0)
    fill_weights(logs[: len(weights)], beta or 0.0, weights)
    return Factors(
        slots.cardinalities,
        slots.pointer,
        slots.index.astype(np.uint32),
        stride,
        base,
        np.empty(0, np.int32),
        slots.own,
        slots.pair_pointer,
        slots.pair_row,
        slots.pair_other.astype(np.uint32),
        slots.slot_pointer,
        slots.slot_row,
        slots.other_pointer,
        slots.other_index.astype(np.uint32),
        slots.other_stride,
        linear,
        weights,
        np.empty(0) if linear.all() else logs,
        scale,
    )


def lower(model: Model, beta: float | None, lanes: int, contexts: bool = True) -> Lowered:
    """Lower any model.

    Parameters
    ----------
    model
        The model; evidence is left to the scan, which skips clamped variables.
    beta
        The inverse temperature, or None when it varies.
    lanes
        Chains.
    contexts
        Whether contexts are numbered, for herding keyed by the neighbours.

    Returns
    -------
    Lowered
        Flat arrays.
    """
    kind = model.kind
    if kind == "lattice":
        return lower(model.to_ising(), beta, lanes, contexts)  # type: ignore[attr-defined]
    arrays: Any = model
    if kind == "ising":
        return lower_couplings(
            arrays.pointer, arrays.column, arrays.coupling, arrays.field, beta, contexts
        )
    if kind == "boltzmann":
        return lower_dense(arrays.weights, arrays.bias, lanes)
    if kind == "rbm":
        return lower_bipartite(arrays.weights, arrays.visible_bias, arrays.hidden_bias, lanes)
    if kind == "potts":
        states = arrays.field.shape[1]
        if states ** int(np.diff(arrays.pointer).max(initial=0)) > MOST_CONTEXTS:
            return lower_potts(arrays.pointer, arrays.column, arrays.coupling, arrays.field)
    graph: Any = model.to_factor_graph()
    return lower_slots(slots_of(graph), beta, contexts, graph.has_zeros)
