"""Sparse graphs for tests: degrees 0 to 12, several classes, clamped variables."""

from types import SimpleNamespace

import numpy as np

from heeler.compiled.conditionals import Sparse
from heeler.compiled.loop import Chain, Watch, advance_binary
from heeler.kernel.lowered import make_scratch

SCALE = 2.0**26
MOST_CONTEXTS = 8  # neighbours of a variable that has contexts


def empty(kind, *shape):
    """Return zeros, of no length unless told."""
    return np.zeros(shape or 0, kind)


def make_graph(n, edges, seed=0, clamped=5):
    """Make a graph: a hub of degree 12, lonely variables at both ends, random edges."""
    rng = np.random.default_rng(seed)
    pairs = {(4, int(j)) for j in rng.choice(np.arange(5, n - 2), 12, replace=False)}
    degree = np.bincount(np.array(list(pairs)).ravel(), minlength=n)
    while len(pairs) < edges:
        a, b = sorted(rng.integers(5, n - 2, 2).tolist())
        if a != b and (a, b) not in pairs and max(degree[a], degree[b]) < 11:
            pairs.add((a, b))
            degree[[a, b]] += 1
    neighbours = [[] for _ in range(n)]
    couplings = [[] for _ in range(n)]
    weight = {pair: float(rng.normal(0, 0.5)) for pair in sorted(pairs)}
    for i in range(n):
        found = sorted((b if a == i else a, w) for (a, b), w in weight.items() if i in (a, b))
        neighbours[i], couplings[i] = [j for j, _ in found], [w for _, w in found]
    colours = np.full(n, -1)
    fixed = rng.choice(n, clamped, replace=False)
    for i in np.setdiff1d(np.arange(n), fixed):
        colours[i] = min(set(range(14)) - {int(colours[j]) for j in neighbours[i]})
    return SimpleNamespace(
        n=n,
        neighbours=neighbours,
        couplings=couplings,
        colours=colours,
        fixed=fixed,
        field=rng.normal(0, 0.4, n).tolist(),
    )


def lower(graph, numbering=None):
    """Return the graph as a `Sparse` without tables, and its number of contexts."""
    n = graph.n
    degree = np.array([len(row) for row in graph.neighbours])
    base = np.full(n, -1, np.int64)
    contexts = 0
    for i in range(n) if numbering is None else numbering:
        if degree[i] <= MOST_CONTEXTS:
            base[i] = contexts
            contexts += 1 << degree[i]
    near = np.full((n, 8), n, np.uint32)
    for i, row in enumerate(graph.neighbours):
        if degree[i] <= MOST_CONTEXTS:
            near[i, : len(row)] = row
    index = np.array([j for row in graph.neighbours for j in row], np.uint32)
    coupling = np.array([w for row in graph.couplings for w in row])
    pointer = np.concatenate(([0], np.cumsum(degree))).astype(np.int64)
    sparse = Sparse(
        pointer,
        index,
        near,
        base,
        empty(np.uint32),
        empty(np.int32),
        coupling,
        np.array(graph.field),
        SCALE,
    )
    return sparse, contexts


def make_watch(lanes, pairs=(), stride=()):
    """Return counters of pairs of binary variables and of the joint state."""
    first, second = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    return Watch(
        first,
        second,
        4 * np.arange(first.size),
        np.full(first.size, 2),
        empty(np.int64, lanes, 4 * first.size),
        np.array(stride, np.int64),
        empty(np.int64, lanes, int(np.sum(stride)) + 1),
    )


def make_chain(x):
    """Return the general loop's chain from states (lanes, n)."""
    lanes, n = x.shape
    state = np.concatenate((x, np.zeros((lanes, 1), np.uint8)), axis=1)
    values = {
        "x": state,
        "sums": empty(np.uint64, lanes, n),
        "score": empty(np.int64, lanes, 1),
        "best_score": np.full((lanes, 1), -(1 << 62)),
        "best": state.copy(),
        "visits": empty(np.int64, n),
        "variables": np.array([0, n]),
        "entry": empty(np.int64),
        "restart": empty(np.uint8, 0, n + 1),
        "restart_score": empty(np.int64, 0, 1),
        "touched": empty(np.int64),
        "touched_start": empty(np.int64, 1),
    }
    return Chain(**{name: values[name] for name in Chain._fields})


def general_loop(sparse, driver, scan, x, watch, betas, first_pass=0, sites=None):
    """Run the general loop for all lanes; return its chain and the scores."""
    chain = make_chain(x)
    lanes, n = x.shape
    scores = empty(np.int64, betas.size, lanes)
    scratch = make_scratch(2, n if sites is None else sites, empty(np.uint8, n + 1))
    advance_binary(
        sparse,
        driver,
        scan,
        chain,
        watch,
        betas,
        first_pass,
        np.arange(lanes),
        scores,
        empty(np.int64, lanes),
        scratch,
    )
    return chain, scores
