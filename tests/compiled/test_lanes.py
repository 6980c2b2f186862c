"""Lanes side by side equal the general loop and a slow twin, lane by lane and bit by bit."""

import numpy as np
import pytest

from heeler.compiled.drivers import Herded, Metropolis, Quasi, Random
from heeler.compiled.lanes import NEAR, LaneChain, advance_lanes, lane_scratch
from heeler.compiled.scans import Fixed, Shuffled, Weighted
from heeler.compiled.tables import fill_pair_tables
from naive import (
    NaiveChain,
    QuasiWords,
    RandomWords,
    quantised_sigmoid,
    shuffled_order,
    weighted_order,
)
from sparse_graphs import SCALE, empty, general_loop, lower, make_graph, make_watch

# Numba doubts its own bookkeeping where the general loop inlines one conditional twice.
pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaIRAssumptionWarning")

KEY, SCAN_KEY = 0x1234567890ABCDEF, 0xFEDCBA0987654321
BETAS = np.array([1.0, 0.3, 1.0, 2.5, 0.0, 1.0, 1.7])
SITES = 333  # of a pass of the weighted scan


@pytest.fixture(scope="module")
def graph():
    return make_graph(300, 560, seed=4, clamped=9)


def make_scan(name, graph):
    """Return a scan of the free variables, and the orders of its passes by the slow twin."""
    order = np.random.default_rng(8).permutation(np.flatnonzero(graph.colours >= 0))
    order = order.astype(np.uint32)
    start = np.array([0, order.size])
    passes = range(BETAS.size)
    if name == "fixed":
        return Fixed(order, start, start), [order.tolist() for _ in passes]
    if name == "shuffled":
        orders = [shuffled_order(order.tolist(), SCAN_KEY, t) for t in passes]
        return Shuffled(order, start, np.uint64(SCAN_KEY)), orders
    rng = np.random.default_rng(9)
    accept = rng.integers(0, 2**32, order.size, dtype=np.uint32)
    alias = rng.integers(0, order.size, order.size).astype(np.int32)
    lists = order.tolist(), accept.tolist(), alias.tolist()
    orders = [weighted_order(*lists, SCAN_KEY, t, SITES) for t in passes]
    return Weighted(order, start, accept, alias, np.uint64(SCAN_KEY)), orders


def make_driver(name):
    """Return a driver and a maker of its slow twin."""
    keys = np.array([KEY], np.uint64)
    if name == "random":
        return Random(keys), lambda: RandomWords(KEY)
    if name == "metropolis":
        return Metropolis(keys, empty(np.int64, 64, 8)), None
    sequence = np.random.default_rng(5).integers(0, 2**32, 127, dtype=np.uint32)
    numbers = (7, 2, 1)
    return Quasi(keys, sequence, *numbers), lambda: QuasiWords(KEY, sequence.tolist(), *numbers)


def tabulate(sparse, contexts, kind=np.uint32):
    """Return the conditional with tables for inverse temperature 1."""
    table, gain = empty(kind, contexts), empty(np.int32, contexts)
    fill_pair_tables(
        sparse.pointer, sparse.base, sparse.coupling, sparse.field, 1.0, sparse.scale, table, gain
    )
    return sparse._replace(table=table, gain=gain)


def run_lanes(
    sparse, driver, scan, x, pieces=(7,), groups=8, first_lane=0, betas=BETAS, watch=None
):
    """Run the kernel, cut into pieces."""
    lanes, n = x.shape
    state = empty(np.uint8, n + 1, lanes)
    state[:n] = x.T
    chain = LaneChain(
        state,
        empty(np.uint64, n, groups),
        empty(np.int64, lanes),
        np.full(1, -(1 << 62)),
        empty(np.uint8, n),
        empty(np.int64, n),
    )
    watch = make_watch(lanes) if watch is None else watch
    sites = SITES if isinstance(scan, Weighted) else n
    scratch = lane_scratch(lanes, sites)
    scores = empty(np.int64, betas.size, lanes)
    first = 0
    for piece in pieces:
        part = slice(first, first + piece)
        advance_lanes(
            sparse,
            driver,
            scan,
            chain,
            watch,
            betas[part],
            first,
            first_lane,
            scores[part],
            scratch,
        )
        first += piece
    return chain, scores


def check_same(got, scores, want, want_scores):
    """Compare lanes side by side with those of the general loop."""
    lanes = scores.shape[1]
    groups = got.sums.shape[1]
    assert np.array_equal(scores, want_scores)
    assert np.array_equal(got.score, want.score[:, 0])
    assert np.array_equal(got.x, want.x.T)
    for group in range(groups):
        assert np.array_equal(got.sums[:, group], want.sums[group:lanes:groups].sum(axis=0))
    top = int(np.argmax(want.best_score[:, 0]))
    assert got.best_score[0] == want.best_score[top, 0]
    assert np.array_equal(got.best, want.best[top, :-1])
    assert np.array_equal(got.visits, want.visits)
    assert len(np.unique(scores)) > scores.shape[0]  # lanes differ


@pytest.mark.parametrize(
    ("driver_name", "scan_name"),
    [("random", "fixed"), ("random", "shuffled"), ("random", "weighted"), ("quasi", "fixed")],
)
@pytest.mark.parametrize(("lanes", "groups"), [(8, 8), (13, 8), (32, 4), (45, 1), (64, 2)])
def test_equals_general_loop(graph, driver_name, scan_name, lanes, groups):
    sparse, _ = lower(graph)
    driver, _ = make_driver(driver_name)
    scan, _ = make_scan(scan_name, graph)
    x = np.random.default_rng(1).integers(0, 2, (lanes, graph.n)).astype(np.uint8)
    pairs, stride = [(4, graph.neighbours[4][0]), (0, 7)], [1, 2, 4, 8]
    seen, want_seen = make_watch(lanes, pairs, stride), make_watch(lanes, pairs, stride)
    want, want_scores = general_loop(sparse, driver, scan, x, want_seen, BETAS, sites=SITES)
    got, scores = run_lanes(sparse, driver, scan, x, (1, 4, 2), groups, watch=seen)
    check_same(got, scores, want, want_scores)
    assert np.array_equal(seen.pairs, want_seen.pairs)
    assert np.array_equal(seen.joint, want_seen.joint)
    assert seen.joint.sum() == lanes * BETAS.size
    if scan_name == "weighted":
        assert got.visits.sum() == SITES * BETAS.size


@pytest.mark.parametrize("scan_name", ["fixed", "weighted"])
@pytest.mark.parametrize("lanes", [8, 40, 64])
def test_metropolis_equals_general_loop(graph, scan_name, lanes):
    sparse, contexts = lower(graph)
    driver, _ = make_driver("metropolis")
    scan, _ = make_scan(scan_name, graph)
    x = np.random.default_rng(1).integers(0, 2, (lanes, graph.n)).astype(np.uint8)
    watch = make_watch(lanes)
    want, want_scores = general_loop(sparse, driver, scan, x, watch, BETAS, sites=SITES)
    mine = Metropolis(driver.keys, empty(np.int64, 1, lanes))
    got, scores = run_lanes(sparse, mine, scan, x, (1, 4, 2))
    check_same(got, scores, want, want_scores)
    assert mine.moves[0].tolist() == driver.moves[:lanes, 0].tolist()
    assert 0 < mine.moves.sum() < lanes * BETAS.size * SITES
    # From tables, at one temperature.
    whole = tabulate(sparse, contexts)
    if (sparse.base >= 0).all():
        bare = whole._replace(coupling=empty(np.float64))
        ones = np.ones(3)
        want, want_scores = general_loop(whole, driver, scan, x, watch, ones, sites=SITES)
        got, scores = run_lanes(bare, mine, scan, x, (3,), betas=ones)
        check_same(got, scores, want, want_scores)


@pytest.fixture(scope="module")
def large():
    graph = make_graph(5000, 9000, seed=2)
    sparse, contexts = lower(graph)
    graph.colours[np.diff(sparse.pointer) > 8] = -1  # they have no table
    return graph, tabulate(sparse, contexts)


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("scan_name", ["fixed", "jumping", "shuffled"])
def test_large_states_are_fetched_ahead(large, tables, scan_name):
    """What is asked for ahead must be there and must not matter."""
    graph, sparse = large
    scan, _ = make_scan("shuffled" if scan_name == "shuffled" else "fixed", graph)
    if scan_name == "fixed":
        scan = scan._replace(order=np.sort(scan.order))
    driver, _ = make_driver("random")
    lanes = 120
    assert graph.n * lanes > NEAR
    x = np.random.default_rng(1).integers(0, 2, (lanes, graph.n)).astype(np.uint8)
    want, want_scores = general_loop(sparse, driver, scan, x, make_watch(lanes), np.ones(2))
    mine = sparse._replace(coupling=empty(np.float64)) if tables else sparse
    got, scores = run_lanes(mine, driver, scan, x, (2,), betas=np.ones(2))
    check_same(got, scores, want, want_scores)


@pytest.mark.parametrize("scan_name", ["fixed", "shuffled", "weighted"])
@pytest.mark.parametrize("driver_name", ["random", "quasi"])
def test_equals_slow_twin(graph, driver_name, scan_name):
    sparse, _ = lower(graph)
    driver, make_twin = make_driver(driver_name)
    scan, orders = make_scan(scan_name, graph)
    x = np.random.default_rng(1).integers(0, 2, (9, graph.n)).astype(np.uint8)
    got, scores = run_lanes(sparse, driver, scan, x, first_lane=20)
    for lane in (0, 8):
        slow = NaiveChain(
            graph.neighbours,
            graph.couplings,
            graph.field,
            sparse.base.tolist(),
            SCALE,
            x[lane],
            20 + lane,
        )
        assert scores[:, lane].tolist() == slow.advance(make_twin(), orders, BETAS, 0)
        assert got.x[:-1, lane].tolist() == slow.x
    assert got.sums[:, 7].any()


@pytest.mark.parametrize("lanes", [8, 21, 40])
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_tables_equal_couplings(lanes, width, kind):
    graph = make_graph(200, 420, seed=6)
    graph.colours[4] = -1  # the hub has no table
    sparse, contexts = lower(graph)
    degree = np.diff(sparse.pointer)
    graph.colours[degree > width] = -1
    full = tabulate(sparse, contexts, kind)
    bare = full._replace(
        coupling=empty(np.float64), near=np.ascontiguousarray(full.near[:, :width])
    )
    driver, _ = make_driver("random")
    scan, _ = make_scan("fixed", graph)
    assert degree[scan.order].max() == width
    x = np.random.default_rng(1).integers(0, 2, (lanes, graph.n)).astype(np.uint8)
    betas = np.ones(6)
    want, want_scores = general_loop(full, driver, scan, x, make_watch(lanes), betas)
    for conditional in (bare, full):
        got, scores = run_lanes(conditional, driver, scan, x, (6,), betas=betas)
        check_same(got, scores, want, want_scores)


def test_certain_contexts_have_their_way():
    """A table may hold 0 and 2^32: then no word can choose the other value."""
    n, lanes = 40, 24
    graph = make_graph(40, 20)
    graph.colours[:] = 0
    graph.colours[4] = -1
    sparse, contexts = lower(graph)
    full = tabulate(sparse, contexts, np.uint64)
    table = full.table.copy()
    certain = np.random.default_rng(3).integers(0, 3, contexts)
    table[certain == 0] = 0
    table[certain == 1] = 1 << 32
    bare = full._replace(table=table, coupling=empty(np.float64))
    driver, _ = make_driver("random")
    scan, _ = make_scan("fixed", graph)
    x = np.random.default_rng(1).integers(0, 2, (lanes, n)).astype(np.uint8)
    betas = np.ones(6)
    want, want_scores = general_loop(bare, driver, scan, x, make_watch(lanes), betas)
    got, scores = run_lanes(bare, driver, scan, x, (6,), betas=betas)
    check_same(got, scores, want, want_scores)


def test_no_edges():
    """Without edges the fields decide, table or not, from the impossible to the certain."""
    fields = np.concatenate((np.linspace(-12, 12, 1501), [-400.0, 400.0, -1e-300, 5e-324, -0.0]))
    n, lanes = fields.size, 16
    graph = make_graph(40, 20)
    graph.n, graph.field = n, fields.tolist()
    graph.neighbours, graph.couplings = [[] for _ in range(n)], [[] for _ in range(n)]
    graph.colours = np.zeros(n, int)
    sparse, contexts = lower(graph)
    sparse = sparse._replace(scale=2.0**20)
    driver, _ = make_driver("random")
    scan, _ = make_scan("shuffled", graph)
    x = np.zeros((lanes, n), np.uint8)
    p = [quantised_sigmoid(2.0 * h) for h in graph.field]
    assert min(p) == 1
    assert max(p) == 2**32 - 1
    for conditional in (sparse, tabulate(sparse, contexts)):
        got, _ = run_lanes(conditional, driver, scan, x, betas=np.ones(7))
        assert got.sums.sum(axis=1).tolist() == [7 * lanes * q for q in p]


def test_other_drivers_are_refused(graph):
    sparse, _ = lower(graph)
    scan, _ = make_scan("fixed", graph)
    driver = Herded(empty(np.uint32, 8, 9), empty(np.int32), empty(np.int64), 4)
    with pytest.raises(Exception, match="fill_lanes"):
        run_lanes(sparse, driver, scan, np.zeros((8, graph.n), np.uint8))
