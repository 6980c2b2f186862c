"""Influence of spins with pair couplings: Ising models, lattices, Boltzmann machines."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.influence_lattice import lattice_rows, lattice_values
from heeler.compiled.influence_spins import LOW_BITS, condition_spins, spin_rows, spread_all
from heeler.model.base import Model
from heeler.model.check import frozen
from heeler.model.lattice import STEPS
from heeler.scan.influence.matrix import Influence

# Sums of this many signs are no longer a question of patience.
MOST_NEIGHBOURS = 40


def spin_influence(model: Model, method: str, beta: float, budget: int) -> Influence:
    """Bound the influence in a model of spins.

    Parameters
    ----------
    model
        An Ising model, a lattice or a Boltzmann machine.
    method
        ``"auto"``, ``"exact"``, ``"binary"`` or ``"oscillation"``.
    beta
        The inverse temperature.
    budget
        Steps that exact rows may take.

    Returns
    -------
    Influence
        The matrix.
    """
    known: dict[str, Any] = {"model": model, "temperature": 1.0 / beta}
    if model.kind == "lattice" and method in ("auto", "exact") and model.evidence is None:
        return Influence.from_rows(*_lattice(model, beta), method="exact", **known)
    # One type of arrays for the compiled code, read-only as those of models are.
    pointer, column, coupling, field = map(frozen, _conditioned(model, *_spins(model)))
    if method == "oscillation":
        value = np.empty(len(coupling))
        spread_all(np.abs(coupling) * beta, np.zeros(len(coupling)), value)
        return Influence.from_rows(pointer, column, value, method=method, **known)
    degree = np.diff(pointer)
    limit = _limit(degree, method, budget)
    value = np.empty(len(coupling))
    spin_rows(pointer, coupling, field, beta, limit, np.empty(1 << LOW_BITS), value)
    exact = degree <= limit
    if exact.all():
        known["method"] = "exact"
    elif not exact.any():
        known["method"] = "binary"
    else:
        known["method"] = "exact and binary"
        known["_row_methods"] = (("exact", "binary"), np.where(exact, 0, 1).astype(np.uint8))
    return Influence.from_rows(pointer, column, value, **known)


def _limit(degree: NDArray[np.int64], method: str, budget: int) -> int:
    """Find the largest number of neighbours whose rows are affordable."""
    if method == "binary":
        return -1
    counts = np.bincount(degree)
    sizes = np.arange(len(counts))
    work = counts * sizes * np.exp2(np.maximum(sizes - 1, 0))
    spent = np.cumsum(work)
    fine = (spent <= budget) & (sizes <= MOST_NEIGHBOURS)
    limit = int(np.argmin(fine)) - 1 if not fine.all() else len(counts) - 1
    if method == "exact" and limit < len(counts) - 1:
        raise ValueError(
            f"The method 'exact' needs {float(spent[-1]):.3g} steps for this model, whose "
            f"variables have up to {len(counts) - 1} neighbours, more than the budget of {budget}. "
            "Use method='auto', or raise the 'budget'."
        )
    return limit


def _lattice(model: Any, beta: float) -> tuple[NDArray, NDArray, NDArray]:
    """Write the rows of a lattice, one number per row."""
    shape = (1, *model.shape) if len(model.shape) == 2 else model.shape
    half = np.array(STEPS[len(model.shape), model.neighbours])
    steps = np.concatenate((half, -half))
    if steps.shape[1] == 2:
        steps = np.column_stack((np.zeros(len(steps), np.int64), steps))
    steps = np.ascontiguousarray(steps[np.lexsort(steps.T[::-1])], np.int64)
    n = model.n_variables
    pointer, column = np.empty(n + 1, np.int64), np.empty(n * len(steps), np.int32)
    count = lattice_rows(tuple(map(int, shape)), steps, model.periodic, pointer, column)
    value = np.empty(count)
    uniform = model.field.strides[0] == 0
    field = np.ascontiguousarray(model.field[:1] if uniform else model.field) * beta
    known = np.full((2, len(steps) + 1), np.nan)
    lattice_values(pointer, model.coupling * beta, field, int(not uniform), known, value)
    return pointer, column[:count], value


def _spins(model: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Give couplings in rows and fields; units 0/1 become spins."""
    if model.kind == "lattice":
        model = model.to_ising()
    if model.kind == "ising":
        return model.pointer, model.column, model.coupling, model.field
    pointer, column = model.adjacency()
    row = np.repeat(np.arange(model.n_variables), np.diff(pointer))
    if model.kind == "rbm":
        low, high = np.minimum(row, column), np.maximum(row, column)
        weight = model.weights[low, high - model.n_visible]
    else:
        weight = model.weights[row, column]
    # x = (s + 1) / 2 turns w x x' into w s s' / 4 and a field of w / 4 on both.
    field = model.bias / 2 + np.bincount(row, weight, model.n_variables) / 4
    return pointer, column, weight / 4, field


def _conditioned(
    model: Model, pointer: NDArray, column: NDArray, coupling: NDArray, field: NDArray
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Turn clamped neighbours into fields and leave out couplings of zero."""
    if model.evidence is None and bool((coupling != 0.0).all()):
        return pointer.astype(np.int64), column.astype(np.int32), coupling, field
    evidence = np.full(len(field), -1, np.int32) if model.evidence is None else model.evidence
    out = (
        np.empty(len(pointer), np.int64),
        np.empty(len(column), np.int32),
        np.empty(len(column)),
        np.empty(len(field)),
    )
    count = condition_spins(pointer, column, coupling, field, evidence, out)
    return out[0], out[1][:count], out[2][:count], out[3]
