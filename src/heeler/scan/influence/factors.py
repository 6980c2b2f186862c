"""Influence in factor graphs of any order and any numbers of values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.influence_factors import Tables, binary_rows, exact_rows, oscillation_rows
from heeler.model.base import Model
from heeler.scan.influence.conditioned import condition
from heeler.scan.influence.matrix import Influence

# Conditionals of all contexts of one row are kept at once: 256 MiB.
MOST_SHARES = 1 << 25
NAMES = ("exact", "binary", "oscillation")
OWN = "weights of the variable's own factors"
UNIFORM = f"{OWN}; uniform where they exclude every value"


def factor_influence(model: Model, method: str, beta: float, budget: int) -> Influence:
    """Bound the influence in any model, by its factor graph.

    Parameters
    ----------
    model
        The model.
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
    tables, zeros = condition(model, beta)
    n = model.n_variables
    rows = np.zeros(n, np.uint8)
    binary = _binary(model, tables)
    if method == "binary" and not binary.all():
        raise ValueError(
            "The method 'binary' needs variables of two values. Got "
            f"{model.cardinalities[int(np.argmin(binary))]} values, or a neighbour with more, at "
            f"variable {model.names[int(np.argmin(binary))]!r}. Use method='auto'."
        )
    if method in ("auto", "exact"):
        exact = _affordable(tables, method, budget)
        rows = np.where(exact, 0, np.where(binary, 1, 2)).astype(np.uint8)
    else:
        rows[:] = NAMES.index(method)
    value = np.zeros(len(tables.index))
    impossible = _fill(tables, rows, value)
    used = np.unique(rows).tolist()
    extension = None
    if zeros:
        # Only enumeration can tell that every context leaves a value.
        extension = OWN if used == [0] and not impossible else UNIFORM
    known: dict[str, Any] = {
        "model": model,
        "temperature": 1.0 / beta,
        "extension": extension,
        "method": " and ".join(NAMES[k] for k in used),
    }
    if len(used) > 1:
        known["_row_methods"] = (NAMES, rows)
    kept = value > 0
    row = np.repeat(np.arange(n), np.diff(tables.pointer))[kept]
    pointer = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=pointer[1:])
    return Influence.from_rows(pointer, tables.index[kept], value[kept], **known)


def _fill(tables: Tables, rows: NDArray[np.uint8], value: NDArray[np.float64]) -> int:
    """Fill the rows, each by its method; return how many contexts excluded every value."""
    impossible = 0
    n = len(rows)
    most = int(np.diff(tables.pointer).max(initial=1))
    exact, binary, oscillation = (np.flatnonzero(rows == k) for k in range(3))
    if exact.size:
        x, step = np.zeros(n, np.int32), np.empty(most, np.int64)
        shares = np.empty(int(_contexts(tables)[1][exact].max()))
        impossible = int(exact_rows(tables, exact, x, step, shares, value))
    if binary.size:
        scratch = np.empty((3, most))
        mark = np.full(n, -1, np.int64)
        binary_rows(tables, binary, mark, scratch[0], scratch[1], scratch[2], value)
    if oscillation.size:
        oscillation_rows(tables, oscillation, value)
    return impossible


def _binary(model: Model, tables: Tables) -> NDArray[np.bool_]:
    """Find the variables that have two values, as have all their free neighbours."""
    two = np.asarray(model.cardinalities) == 2
    row = np.repeat(np.arange(len(two)), np.diff(tables.pointer))
    others = np.bincount(row, ~two[tables.index], len(two))
    return (two | (np.diff(tables.pointer) == 0)) & (others == 0)


def _contexts(tables: Tables) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count each variable's contexts, and the numbers in all its conditionals."""
    counts = np.diff(tables.allowed_pointer).astype(np.float64)
    row = np.repeat(np.arange(len(counts)), np.diff(tables.pointer))
    contexts = np.exp2(np.bincount(row, np.log2(counts[tables.index]), len(counts)))
    contexts = np.rint(np.minimum(contexts, 2.0**62))
    return contexts, contexts * counts


def _affordable(tables: Tables, method: str, budget: int) -> NDArray[np.bool_]:
    """Choose the rows to be enumerated: the cheapest, as many as the budget allows."""
    contexts, shares = _contexts(tables)
    counts = np.diff(tables.allowed_pointer)
    row = np.repeat(np.arange(len(counts)), np.diff(tables.pointer))
    # Every pair of contexts that differ at one neighbour; making the contexts costs less.
    pairs = np.bincount(row, counts[tables.index] + 1.0, len(counts))
    work = shares * (pairs + np.diff(tables.slot_pointer)) + 1.0
    order = np.argsort(work, kind="stable")
    fine = np.zeros(len(work), bool)
    fine[order] = np.cumsum(work[order]) <= budget
    fine &= shares <= MOST_SHARES
    if method == "exact" and not fine.all():
        raise ValueError(
            f"The method 'exact' needs {float(work.sum()):.3g} steps for this model, whose largest "
            f"blanket has {float(contexts.max()):.3g} states, more than the budget of {budget} (or "
            f"than {MOST_SHARES} numbers a variable). Use method='auto', or raise the 'budget'."
        )
    return fine
