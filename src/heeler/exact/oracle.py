"""The oracles seen by the user: exact answers for any model that is narrow enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from heeler.exact import enumeration
from heeler.exact.errors import TooWide
from heeler.exact.problem import Problem, problem_of, raise_contradiction
from heeler.exact.propagate import Propagation, state_dtype
from heeler.exact.query import PairQuery
from heeler.exact.result import Marginals, Pairs
from heeler.exact.tree import build_tree, needed_bytes, table_entries, width_of

DEFAULT_LIMIT = 1 << 30
# Bytes that no machine has: only models beyond them are reported without their full width.
HOPELESS = 1 << 48


@dataclass(frozen=True)
class Width:
    """What exact inference on a model would cost.

    Attributes
    ----------
    induced_width : int
        Free variables in the largest clique, less one.
    largest_table : int
        Entries of the largest clique table.
    total_entries : int
        Entries of all clique tables.
    bytes : int
        Peak memory of :func:`marginals`.
    cliques : int
        0 when the search was given up.
    free_variables : int
    complete : bool
        False when the model is so wide (beyond 2^48 bytes) that the search was given up after some
        seconds; the other figures are what was reached by then.
    """

    induced_width: int
    largest_table: int
    total_entries: int
    bytes: int
    cliques: int
    free_variables: int
    complete: bool = True


def check_limit(memory_limit: int) -> int:
    """Validate a memory limit."""
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, int | np.integer):
        raise TypeError(
            f"The 'memory_limit' parameter must be an integer. Got {memory_limit!r} instead."
        )
    if memory_limit <= 0:
        raise ValueError(
            f"The 'memory_limit' parameter must be positive. Got {memory_limit} instead."
        )
    return int(memory_limit)


def propagation_of(problem: Problem, memory_limit: int, keep: bool) -> Propagation:
    """Build the tree of a problem, or refuse."""
    limit = check_limit(memory_limit)
    return Propagation(problem, build_tree(problem.sizes, problem.scopes, limit, keep))


def width(model: Any) -> Width:
    """Report how wide the junction tree of a model is, without filling any table.

    Parameters
    ----------
    model : model

    Returns
    -------
    Width
    """
    problem = problem_of(model)
    try:
        tree = build_tree(problem.sizes, problem.scopes, HOPELESS)
    except TooWide as refused:
        if refused.tree is None:
            entries = refused.bytes // 8
            free = problem.free.size
            return Width(refused.width, entries, entries, refused.bytes, 0, free, complete=False)
        tree = refused.tree
    largest, total, _ = table_entries(tree)
    return Width(
        width_of(tree), largest, total, needed_bytes(tree, True), tree.count, problem.free.size
    )


def log_z(model: Any, *, method: str = "auto", memory_limit: int = DEFAULT_LIMIT) -> float:
    """Compute the natural log of the partition function, evidence clamped.

    For a Bayesian network this is the log probability of the evidence.

    Parameters
    ----------
    model : model
    method : {"auto", "junction_tree", "enumeration"}
    memory_limit : int
        Bytes that the tables may take.

    Returns
    -------
    float

    Raises
    ------
    TooWide, Contradiction
    """
    problem = problem_of(model)
    if choose(method) == "enumeration":
        return enumeration.joint(problem)[1]
    value = propagation_of(problem, memory_limit, keep=False).sum_out(keep=False)
    if value == -np.inf:
        raise_contradiction(problem)
    return value


def choose(method: str) -> str:
    """Validate the name of a method."""
    if method not in ("auto", "junction_tree", "enumeration"):
        raise ValueError(
            "The 'method' parameter must be 'auto', 'junction_tree' or 'enumeration'. "
            f"Got {method!r} instead."
        )
    return "enumeration" if method == "enumeration" else "junction_tree"


def marginals(model: Any, *, method: str = "auto", memory_limit: int = DEFAULT_LIMIT) -> Marginals:
    """Compute the exact marginals of all variables.

    Parameters
    ----------
    model : model
    method : {"auto", "junction_tree", "enumeration"}
    memory_limit : int
        Bytes that the tables may take.

    Returns
    -------
    Marginals
        ``m[v]``, ``m.array``.

    Raises
    ------
    TooWide, Contradiction
    """
    problem = problem_of(model)
    if choose(method) == "enumeration":
        joint = enumeration.joint(problem)[0]
        axes = range(joint.ndim)
        free = [joint.sum(axis=tuple(a for a in axes if a != v)) for v in problem.free]
    else:
        propagation = calibrated(problem, memory_limit)
        free = propagation.calibrate()
    return Marginals(model, padded(problem, free))


def calibrated(problem: Problem, memory_limit: int) -> Propagation:
    """Run the upward pass with everything kept, refusing impossible evidence."""
    propagation = propagation_of(problem, memory_limit, keep=True)
    if propagation.sum_out(keep=True) == -np.inf:
        raise_contradiction(problem)
    return propagation


def padded(problem: Problem, free: list[np.ndarray]) -> np.ndarray:
    """Write marginals of free variables, and certainty for the others, into one array."""
    cards = problem.cardinalities
    array = np.full((cards.size, int(cards.max(initial=1))), np.nan)
    array[np.arange(array.shape[1]) < cards[:, None]] = 0.0
    clamped = np.flatnonzero(problem.evidence >= 0)
    array[clamped, problem.evidence[clamped]] = 1.0
    for v, single in zip(problem.free.tolist(), free, strict=True):
        array[v, : single.size] = single
    return array


def pairs(
    model: Any,
    pairs: Iterable[tuple[int | str, int | str]] | None = None,
    *,
    memory_limit: int = DEFAULT_LIMIT,
) -> Pairs:
    """Compute exact joint probabilities of pairs of variables.

    Parameters
    ----------
    model : model
    pairs : iterable of pairs of variables, optional
        Names or indices; all pairs that share a factor when omitted. Pairs far apart are allowed.
    memory_limit : int
        Bytes that the tables may take.

    Returns
    -------
    Pairs
        ``pairs[u, v]`` is a (K_u, K_v) array.

    Raises
    ------
    TooWide, Contradiction
    """
    problem = problem_of(model)
    if pairs is None:
        listed = neighbours_in_factors(model)
    else:
        listed = []
        for pair in pairs:
            if isinstance(pair, str) or len(tuple(pair)) != 2:
                raise ValueError(
                    f"The 'pairs' parameter must hold pairs of variables. Got {pair!r}."
                )
            u, v = pair
            listed.append((model.index(u), model.index(v)))
    propagation = calibrated(problem, memory_limit)
    array = padded(problem, singles := propagation.calibrate())
    query = PairQuery(propagation, singles)
    local = np.full(problem.cardinalities.size, -1, dtype=np.int64)
    local[problem.free] = np.arange(problem.free.size)

    def compute(u: int, v: int) -> np.ndarray:
        if local[u] >= 0 and local[v] >= 0:
            return query.joint(int(local[u]), int(local[v]))
        row, column = (array[w, : problem.cardinalities[w]] for w in (u, v))
        return np.diag(row) if u == v else np.outer(row, column)

    return Pairs(model, listed, compute)


def neighbours_in_factors(model: Any) -> list[tuple[int, int]]:
    """List the pairs u < v that share a factor, clamped variables included."""
    found: set[tuple[int, int]] = set()
    for scope, _ in model.to_factor_graph().factors:
        found.update(combinations(sorted(int(v) for v in scope), 2))
    return sorted(found)


def map_state(model: Any, *, memory_limit: int = DEFAULT_LIMIT) -> tuple[np.ndarray, float]:
    """Find a most probable state.

    Parameters
    ----------
    model : model
    memory_limit : int
        Bytes that the tables may take.

    Returns
    -------
    state : (n,) int64
    score : float
        Its natural log score, as ``model.log_score`` gives it.

    Raises
    ------
    TooWide, Contradiction
    """
    problem = problem_of(model)
    state = problem.evidence.copy()
    # Choices are stored per separator state; beside them a table is alive as in log_z.
    best, score = propagation_of(problem, memory_limit, keep=False).best_state()
    if score == -np.inf:
        raise_contradiction(problem)
    state[problem.free] = best
    return state, score


def sample(model: Any, n: int, seed: int = 0, *, memory_limit: int = DEFAULT_LIMIT) -> np.ndarray:
    """Draw independent states from the model exactly.

    Parameters
    ----------
    model : model
    n : int
        Number of draws.
    seed : int
        The same seed gives the same draws.
    memory_limit : int
        Bytes that the tables may take.

    Returns
    -------
    (n, n_variables) uint8 or uint16

    Raises
    ------
    TooWide, Contradiction
    """
    for name, value in (("n", n), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"The {name!r} parameter must be an integer. Got {value!r} instead.")
        if value < 0:
            raise ValueError(f"The {name!r} parameter must not be negative. Got {value} instead.")
    problem = problem_of(model)
    propagation = calibrated(problem, memory_limit)
    generator = np.random.Generator(np.random.Philox(int(seed)))
    states = np.empty((n, problem.cardinalities.size), state_dtype(problem.cardinalities.tolist()))
    states[:] = np.where(problem.evidence < 0, 0, problem.evidence)
    states[:, problem.free] = propagation.draw(int(n), generator)
    return states


def enumerate_states(model: Any) -> np.ndarray:
    """Compute the probability of every joint state of a small model.

    Parameters
    ----------
    model : model

    Returns
    -------
    float64 array of shape ``tuple(model.cardinalities)``
        ``p[tuple(state)]`` is P(x = state); ``p.ravel()`` has the last variable fastest.

    Raises
    ------
    ValueError
        Above 2^24 states, with the count.
    Contradiction
    """
    return enumeration.joint(problem_of(model))[0]
