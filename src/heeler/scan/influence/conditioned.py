"""A factor graph with its evidence worked in: what the bounds of influence look at."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.influence_factors import Tables
from heeler.model.base import Model
from heeler.model.check import frozen
from heeler.model.pairwise import ends


class Flat(NamedTuple):
    """Factors of the free variables, before they are sorted by variable."""

    base: NDArray[np.int64]
    sizes: NDArray[np.int64]
    scope: NDArray[np.int32]
    stride: NDArray[np.int64]
    log_tables: NDArray[np.float64]


def condition(model: Model, beta: float) -> tuple[Tables, bool]:
    """Fix the clamped variables and forbid what single variables cannot be.

    Parameters
    ----------
    model
        The model.
    beta
        The inverse temperature.

    Returns
    -------
    tables : Tables
        The factors of the free variables.
    zeros : bool
        Whether a factor of two or more free variables forbids something.
    """
    graph: Any = model.to_factor_graph()
    n = model.n_variables
    evidence = np.full(n, -1, np.int32) if model.evidence is None else model.evidence
    clamped = evidence[graph.scope] >= 0
    factor = graph.factor_of
    base = graph.table_pointer[graph.table_of].copy()
    fixed = np.flatnonzero(clamped)
    np.add.at(base, factor[fixed], graph.scope_stride[fixed] * evidence[graph.scope[fixed]])
    flat = Flat(
        base,
        np.bincount(factor[~clamped], minlength=len(base)),
        graph.scope[~clamped],
        graph.scope_stride[~clamped],
        graph.log_tables,
    )
    base, sizes, scope, stride, log_tables = _merged(flat, graph.cardinalities)
    zeros = model.has_zeros and _joint_zeros(model, evidence)
    pointer, index = _rows(model, evidence)
    tables = Tables(
        pointer,
        index,
        ends(np.bincount(scope, minlength=n)),
        np.argsort(scope, kind="stable"),
        np.repeat(np.arange(len(base)), sizes),
        base,
        ends(sizes),
        scope,
        stride,
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        log_tables,
        beta,
    )
    allowed = _allowed(model, tables, evidence)
    tables = tables._replace(allowed_pointer=ends(allowed[0]), allowed=allowed[1])
    # Whether an array can be written to is part of the type that kernels are compiled for.
    return tables._replace(
        **{name: frozen(a) for name, a in tables._asdict().items() if isinstance(a, np.ndarray)}
    ), zeros


def _merged(flat: Flat, cardinalities: NDArray[np.int32]) -> Flat:
    """Add up the factors of the same two or more variables: bounds go factor by factor."""
    pointer = ends(flat.sizes)
    # Scopes in any order get one number; whether equal numbers are equal scopes is looked up.
    n = len(cardinalities)
    words = np.random.default_rng(0).integers(1, 2**64, n, np.uint64)
    total = np.zeros(len(flat.scope) + 1, np.uint64)
    np.cumsum(words[flat.scope], out=total[1:])
    key = np.diff(total[pointer])
    several = np.flatnonzero(flat.sizes > 1)
    _, same, counts = np.unique(key[several], return_inverse=True, return_counts=True)
    if (counts < 2).all():
        return flat
    order = np.argsort(same, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(counts)))
    gone = np.zeros(len(flat.base), bool)
    sizes, scopes, strides, tables = [], [], [], []
    for group in np.flatnonzero(counts > 1):
        members = several[order[bounds[group] : bounds[group + 1]]].tolist()
        scope = np.sort(flat.scope[pointer[members[0]] : pointer[members[0] + 1]])
        shape = cardinalities[scope]
        table = np.zeros(tuple(shape))
        places = np.indices(table.shape)
        if any(
            not np.array_equal(np.sort(flat.scope[pointer[f] : pointer[f + 1]]), scope)
            for f in members
        ):
            continue
        for f in members:
            mine = flat.scope[pointer[f] : pointer[f + 1]]
            stride = flat.stride[pointer[f] : pointer[f + 1]][np.argsort(mine)]
            table += flat.log_tables[flat.base[f] + np.tensordot(stride, places, 1)]
        gone[members] = True
        sizes.append(len(scope))
        scopes.append(scope)
        strides.append(np.array(table.strides) // table.itemsize)
        tables.append(table.ravel())
    kept = ~np.repeat(gone, flat.sizes)
    begin = len(flat.log_tables) + ends(np.array([len(t) for t in tables], np.int64))[:-1]
    return Flat(
        np.concatenate((flat.base[~gone], begin)),
        np.concatenate((flat.sizes[~gone], sizes)).astype(np.int64),
        np.concatenate((flat.scope[kept], *scopes)).astype(np.int32),
        np.concatenate((flat.stride[kept], *strides)).astype(np.int64),
        np.concatenate((flat.log_tables, *tables)),
    )


def _rows(model: Model, evidence: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Leave the clamped variables out of the blankets."""
    pointer, index = model.adjacency()
    pointer, index = pointer.astype(np.int64), index.astype(np.int32)
    if model.evidence is None:
        return pointer, index
    row = np.repeat(np.arange(model.n_variables), np.diff(pointer))
    kept = (evidence[row] < 0) & (evidence[index] < 0)
    return ends(np.bincount(row[kept], minlength=model.n_variables)), index[kept]


def _allowed(
    model: Model, tables: Tables, evidence: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the values of each variable that its own factors allow; a clamped one has its own."""
    cards = np.ascontiguousarray(model.cardinalities).astype(np.int64)
    begin = ends(cards)
    value = np.arange(begin[-1]) - np.repeat(begin[:-1], cards)
    variable = np.repeat(np.arange(len(cards)), cards)
    fine = (evidence[variable] < 0) | (evidence[variable] == value)
    if model.has_zeros:
        sizes = np.diff(tables.scope_pointer)
        place = tables.scope_pointer[:-1][sizes == 1]
        own = tables.scope[place]
        counts = cards[own]
        flat = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(tables.base[sizes == 1], counts)
        entry = tables.log_tables[at + np.repeat(tables.stride[place], counts) * flat]
        fine[(np.repeat(begin[own], counts) + flat)[np.isneginf(entry)]] = False
    counts = np.bincount(variable[fine], minlength=len(cards))
    if (counts == 0).any():
        name = model.names[int(np.argmin(counts))]
        raise ValueError(
            "The 'model' parameter must have a possible state. Its factors and evidence leave no "
            f"value to variable {name!r}."
        )
    return counts, value[fine].astype(np.int32)


def _joint_zeros(model: Model, evidence: NDArray[np.int32]) -> bool:
    """Say whether a factor of two or more free variables has a zero anywhere in its table."""
    graph: Any = model.to_factor_graph()
    free = evidence[graph.scope] < 0
    sizes = np.bincount(graph.factor_of[free], minlength=len(graph.table_of))
    zero = np.isneginf(graph.log_tables)
    table = np.repeat(np.arange(len(graph.table_pointer) - 1), np.diff(graph.table_pointer))
    hard = np.bincount(table[zero], minlength=len(graph.table_pointer) - 1) > 0
    return bool((hard[graph.table_of] & (sizes > 1)).any())
