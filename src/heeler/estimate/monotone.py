"""Whether a binary model is attractive, and after flipping which variables.

In an attractive model every conditional P(x_i = 1 | rest) grows with every other variable, so that
chains which share their random words and start in order stay in order. A model whose pairs act in
either direction is attractive after flipping some variables exactly where no cycle is frustrated.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model

# Differences of log weights below this share of the largest are rounding.
TOLERANCE = 1e-12
# With zeros all contexts of a variable are compared with each other: 3^10 pairs.
MOST_NEIGHBOURS = 10
# Without zeros, contexts of two variables that several factors share: so many at most.
MOST_SHARED = 14


class NotMonotone(ValueError):  # noqa: N818 (the public name says what was found)
    """The model is not attractive, under no choice of flips, or that could not be told.

    Exact draws by coupling from the past need an attractive binary model: an Ising model or a
    Boltzmann machine whose cycles all have an even number of negative couplings, say. For other
    models use `heeler.exact.sample` while the junction tree is narrow, or `heeler.couple` for an
    estimate of how many sweeps forget the start.
    """


def attractive_signs(model: Model) -> NDArray[np.int8]:
    """Find which variables to flip so that the model becomes attractive.

    Parameters
    ----------
    model
        The model, evidence included; its variables have two values.

    Returns
    -------
    ndarray
        int8 (n,): +1, or -1 for a variable that must be flipped; +1 for all where nothing need be.

    Raises
    ------
    NotMonotone
        Where no flips make it attractive, with the reason.
    """
    if (np.asarray(model.cardinalities) != 2).any():
        variable = int(np.flatnonzero(np.asarray(model.cardinalities) != 2)[0])
        raise NotMonotone(
            f"Variable {model.names[variable]!r} has {model.cardinalities[variable]} values: only "
            "binary variables have an order that updates keep."
        )
    lattice: Any = model
    if model.kind == "lattice" and lattice.coupling >= 0:
        return np.ones(model.n_variables, np.int8)
    if model.has_zeros:
        return _signs_with_zeros(model)
    first, second, sign = _directions(model)
    free = np.zeros(model.n_variables, bool)
    free[model.free] = True
    inside = free[first] & free[second] & (sign != 0)
    return _balanced(model, first[inside], second[inside], sign[inside])


def _directions(model: Any) -> tuple[NDArray, NDArray, NDArray]:
    """List the pairs of variables and the directions in which they act."""
    if model.kind == "lattice":
        model = model.to_ising()
    if model.kind == "ising":
        first, second, coupling = model.edges()
        return first, second, np.sign(coupling)
    if model.kind == "boltzmann":
        first, second = np.nonzero(np.triu(model.weights, 1))
        return first, second, np.sign(model.weights[first, second])
    if model.kind == "rbm":
        visible, hidden = np.nonzero(model.weights)
        return visible, hidden + len(model.weights), np.sign(model.weights[visible, hidden])
    return _factor_directions(model, model.to_factor_graph())


def _factor_directions(model: Model, graph: Any) -> tuple[NDArray, NDArray, NDArray]:
    """Find the directions of the pairs of a factor graph without zeros.

    The mixed difference f(1, 1) + f(0, 0) - f(1, 0) - f(0, 1) of a pair must have one sign in all
    contexts. Each factor gives its smallest and its largest one; where the sums of these do not
    settle it and several factors share the pair, their contexts are gone through together.
    """
    evidence = np.full(model.n_variables, -1) if model.evidence is None else model.evidence
    sizes = np.diff(graph.scope_pointer)
    keys: list[NDArray] = []
    lows: list[NDArray] = []
    highs: list[NDArray] = []
    for size in np.unique(sizes[sizes > 1]).tolist():
        factors = np.flatnonzero(sizes == size)
        scopes = graph.scope[graph.scope_pointer[factors][:, None] + np.arange(size)]
        starts = graph.table_pointer[graph.table_of[factors]]
        tables = graph.log_tables[starts[:, None] + np.arange(1 << size)]
        tables = tables.reshape(-1, *(2,) * size)
        for a, b in combinations(range(size), 2):
            mixed = _mixed(tables, a + 1, b + 1).reshape(len(factors), -1)
            others = [k for k in range(size) if k not in (a, b)]
            mixed = np.where(_agrees(evidence[scopes[:, others]]), mixed, np.nan)
            keys.append(np.sort(scopes[:, [a, b]], axis=1))
            lows.append(np.nanmin(mixed, axis=1))
            highs.append(np.nanmax(mixed, axis=1))
    if not keys:
        none = np.empty(0, np.int64)
        return none, none, none
    pairs, which = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    low = np.bincount(which.ravel(), np.concatenate(lows))
    high = np.bincount(which.ravel(), np.concatenate(highs))
    slack = TOLERANCE * np.maximum(np.abs(low), np.abs(high))
    slack = np.maximum(slack, TOLERANCE * np.abs(graph.log_tables).max(initial=0.0))
    sign = np.where(low >= -slack, 1.0, np.where(high <= slack, -1.0, np.nan))
    sign[(low >= -slack) & (high <= slack)] = 0.0
    clamped = (evidence[pairs] >= 0).any(axis=1)
    for k in np.flatnonzero(np.isnan(sign) & ~clamped):
        sign[k] = _together(model, graph, pairs[k], evidence, float(slack[k]))
    sign[clamped] = 0.0
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64), sign


def _mixed(tables: NDArray, a: int, b: int) -> NDArray:
    """Take f(1, 1) + f(0, 0) - f(1, 0) - f(0, 1) along two axes."""
    return np.diff(np.diff(tables, axis=a), axis=b)


def _agrees(clamped: NDArray) -> NDArray[np.bool_]:
    """Say which contexts (columns) agree with the evidence of each row."""
    known = clamped[:, None, :]
    return ((known < 0) | (known == _contexts(clamped.shape[1]))).all(axis=2)


def _contexts(count: int) -> NDArray[np.int64]:
    """List all assignments of some binary variables (2^count, count), the last one fastest."""
    return (np.arange(1 << count)[:, None] >> np.arange(count)[::-1]) & 1


def _together(model: Model, graph: Any, pair: NDArray, evidence: NDArray, slack: float) -> float:
    """Find the direction of a pair from all its factors at once."""
    i, j = (int(v) for v in pair)
    pointer, positions = graph.incidence
    own = set(graph.factor_of[positions[pointer[i] : pointer[i + 1]]].tolist())
    own &= set(graph.factor_of[positions[pointer[j] : pointer[j + 1]]].tolist())
    factors = [graph._factor(k) for k in sorted(own)]
    others = sorted({v for scope, _ in factors for v in scope} - {i, j})
    if len(own) > 1 and len(others) <= MOST_SHARED:
        axis = {v: k for k, v in enumerate([i, j, *others])}
        total = np.zeros((2,) * len(axis))
        for scope, table in factors:
            order = np.argsort([axis[v] for v in scope])
            shape = [2 if v in scope else 1 for v in axis]
            total += table.transpose(order).reshape(shape)
        mixed = _mixed(total, 0, 1).ravel()[_agrees(evidence[others][None])[0]]
        if mixed.min() >= -slack:
            return 1.0
        if mixed.max() <= slack:
            return -1.0
    elif len(own) > 1:
        raise NotMonotone(
            f"Whether {model.names[i]!r} and {model.names[j]!r} attract each other depends on "
            f"{len(others)} other variables: too many to go through."
        )
    raise NotMonotone(
        f"The variables {model.names[i]!r} and {model.names[j]!r} attract each other in some "
        "contexts and repel each other in others."
    )


def _balanced(model: Model, first: NDArray, second: NDArray, sign: NDArray) -> NDArray[np.int8]:
    """Choose flips that make all pairs attract, by the components of the double cover."""
    n = model.n_variables
    if (sign > 0).all():
        return np.ones(n, np.int8)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Every variable twice, as it is and flipped; a repelling pair crosses over.
    crossed = np.where(sign < 0, n, 0)
    rows = np.concatenate([first, first + n])
    columns = np.concatenate([second + crossed, second + n - crossed])
    cover = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * n, 2 * n))
    _, component = connected_components(cover, directed=False)
    frustrated = np.flatnonzero(component[:n] == component[n:])
    if frustrated.size:
        raise NotMonotone(
            f"The couplings around {model.names[int(frustrated[0])]!r} are frustrated (a cycle has "
            "an odd number of repelling pairs): no flips make the model attractive."
        )
    return np.where(component[:n] < component[n:], 1, -1).astype(np.int8)


def _signs_with_zeros(model: Model) -> NDArray[np.int8]:
    """Find flips for a model with zeros: every two contexts that can occur are compared."""
    free = np.zeros(model.n_variables, bool)
    free[model.free] = True
    blankets, odds = [], []
    for i in model.free.tolist():
        near = [int(v) for v in model.blanket(i) if free[v]]
        if len(near) > MOST_NEIGHBOURS:
            raise NotMonotone(
                f"The model has zeros and variable {model.names[i]!r} has {len(near)} neighbours: "
                f"its contexts can be compared up to {MOST_NEIGHBOURS}."
            )
        blankets.append(np.array(near, np.int64))
        odds.append(_log_odds(model, i, near))
    pairs: list[tuple[int, int, float]] = []
    for i, near, values in zip(model.free.tolist(), blankets, odds, strict=True):
        pairs += _context_directions(model, i, near, values)
    first, second, sign = (np.array([p[k] for p in pairs]) for k in range(3))
    signs = np.ones(model.n_variables, np.int8)
    if len(pairs):
        signs = _balanced(model, first.astype(np.int64), second.astype(np.int64), sign)
    for i, near, values in zip(model.free.tolist(), blankets, odds, strict=True):
        if not _ordered(values * signs[i], signs[near]):
            raise NotMonotone(
                f"The conditional of {model.names[i]!r} does not grow with its neighbours, "
                "whichever variables are flipped."
            )
    return signs


def _log_odds(model: Model, variable: int, near: list[int]) -> NDArray[np.float64]:
    """Give the log odds of a variable in all contexts (2, ..., 2); NaN where none is possible."""
    states = np.zeros((1 << len(near), model.n_variables), np.int64)
    if model.evidence is not None:
        states[:] = np.where(model.evidence >= 0, model.evidence, 0)
    states[:, near] = _contexts(len(near))
    weights = model._log_weights(variable, states)
    with np.errstate(invalid="ignore"):
        return (weights[:, 1] - weights[:, 0]).reshape((2,) * len(near))


def _context_directions(
    model: Model, variable: int, near: NDArray, odds: NDArray
) -> list[tuple[int, int, float]]:
    """List the directions in which the neighbours act on a variable."""
    found = []
    for axis, other in enumerate(near.tolist()):
        low, high = np.take(odds, 0, axis), np.take(odds, 1, axis)
        with np.errstate(invalid="ignore"):
            up, down = (high > low).any(), (high < low).any()
        if up and down:
            raise NotMonotone(
                f"The variables {model.names[variable]!r} and {model.names[other]!r} attract each "
                "other in some contexts and repel each other in others."
            )
        if up or down:
            found.append((variable, other, 1.0 if up else -1.0))
    return found


def _ordered(odds: NDArray, signs: NDArray) -> bool:
    """Say whether log odds grow from every context to every larger one, gaps left out."""
    turned = odds[tuple(slice(None, None, int(s)) for s in signs)]
    low, high = turned.ravel(), turned.ravel()
    numbers = np.arange(low.size)
    below = (numbers[:, None] & ~numbers) == 0
    with np.errstate(invalid="ignore"):
        return not (below & (low[:, None] > high[None, :])).any()
