"""The coloured kernel equals the general loop and a slow twin, bit for bit, in any bands."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from heeler.compiled.coloured import SlotChain, advance_coloured, coloured_scratch, meeting
from heeler.compiled.coloured_layout import colour_order, herded_in_slots, lay_out, slot_variables
from heeler.compiled.drivers import Greedy, Herded, Metropolis, Quasi, Random
from heeler.compiled.lattice_plan import Share
from heeler.compiled.scans import Fixed
from naive import HerdedWeights, LikelierValue, NaiveChain, QuasiWords, RandomWords
from sparse_graphs import empty, general_loop, lower, make_graph, make_watch

# Numba doubts its own bookkeeping where the general loop inlines one conditional twice.
pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaIRAssumptionWarning")

KEY = 0x1234567890ABCDEF
DRIVERS = ["random", "quasi", "herded", "herded keyed", "herded binned", "greedy"]
BETAS = np.array([1.0, 0.3, 1.0, 2.5, 0.0, 1.0, 1.7])


@pytest.fixture(scope="module")
def small():
    return make_graph(120, 260)


@pytest.fixture(scope="module")
def large():
    return make_graph(2300, 3600, seed=3, clamped=40)


def make_driver(name, sparse, contexts, lanes=1):
    """Return a driver, and its slow twin for each lane."""
    n = sparse.field.size
    if name == "random":
        return Random(np.array([KEY], np.uint64)), [RandomWords(KEY) for _ in range(lanes)]
    if name == "quasi":
        sequence = np.random.default_rng(5).integers(0, 2**32, 509, dtype=np.uint32)
        numbers = (7, 2, 1)
        twins = [QuasiWords(KEY, sequence.tolist(), *numbers) for _ in range(lanes)]
        return Quasi(np.array([KEY], np.uint64), sequence, *numbers), twins
    if name == "metropolis":
        return Metropolis(np.array([KEY], np.uint64), empty(np.int64, lanes, 8)), None
    if name == "greedy":
        return Greedy(0), [LikelierValue() for _ in range(lanes)]
    rng = np.random.default_rng(7)
    key, count = empty(np.int32), contexts
    if name == "herded keyed":  # two weights for each variable with contexts
        key = np.zeros(contexts, np.int32)
        for i in np.flatnonzero(sparse.base >= 0):
            size = 1 << int(sparse.pointer[i + 1] - sparse.pointer[i])
            key[sparse.base[i] : sparse.base[i] + size] = 2 * i + rng.integers(0, 2, size)
        count = 2 * n
    binned = np.full(n, name == "herded binned") | (sparse.base < 0)
    bin_base = np.where(binned, count + 5 * np.arange(n), -1)
    weights = rng.integers(0, 2**32, (lanes, count + 5 * n), dtype=np.uint32)
    twins = [HerdedWeights(row.tolist(), key.tolist(), bin_base.tolist(), 5) for row in weights]
    return Herded(weights, key, bin_base, 5), twins


def run_coloured(sparse, driver, order, classes, x, pieces=(7,), bands=1, watch=None, betas=BETAS):
    """Run the kernel, cut into pieces; return chain arrays by variable, scores and watch."""
    n = sparse.field.size
    scan = Fixed(order, np.array([0, order.size]), classes)
    plan = lay_out(sparse, scan)
    variables = slot_variables(order, n)
    if isinstance(driver, Herded):
        driver = herded_in_slots(driver, order)
    lanes = x.shape[0]
    state = empty(np.uint8, lanes, n + 1)
    state[:, :n] = x[:, variables]
    chain = SlotChain(
        state,
        empty(np.uint64, lanes, n),
        empty(np.int64, lanes, 1),
        np.full((lanes, 1), -(1 << 62)),
        np.zeros_like(state),
    )
    watch = make_watch(lanes) if watch is None else watch
    scores = empty(np.int64, betas.size, lanes)
    met = meeting(bands)
    first = 0
    for piece in pieces:
        part = slice(first, first + piece)

        def work(band, part=part, first=first):
            share = Share(0, lanes, band, bands)
            advance_coloured(
                plan,
                driver,
                chain,
                watch,
                betas[part],
                first,
                share,
                met,
                scores[part],
                coloured_scratch(),
            )

        with ThreadPoolExecutor(bands) as pool:
            list(pool.map(work, range(bands)))
        first += piece
    back = np.argsort(variables)
    by_variable = {
        "x": chain.x[:, back],
        "sums": chain.sums[:, back],
        "best": chain.best[:, back],
        "score": chain.score,
        "best_score": chain.best_score,
    }
    return by_variable, scores, watch


@pytest.mark.parametrize("name", DRIVERS)
def test_equals_slow_twin(small, name):
    order, classes = colour_order(*lower(small)[0][:2], small.colours)
    sparse, contexts = lower(small, slot_variables(order, small.n))
    x = np.random.default_rng(1).integers(0, 2, (2, small.n)).astype(np.uint8)
    driver, twins = make_driver(name, sparse, contexts, lanes=2)
    got, scores, _ = run_coloured(sparse, driver, order, classes, x, pieces=(1, 4, 2))
    for lane, twin in enumerate(twins):
        slow = NaiveChain(
            small.neighbours,
            small.couplings,
            small.field,
            sparse.base.tolist(),
            sparse.scale,
            x[lane],
            lane,
        )
        assert scores[:, lane].tolist() == slow.advance(twin, [order] * BETAS.size, BETAS, 0)
        assert got["x"][lane].tolist() == slow.x
        assert got["sums"][lane].tolist() == slow.sums
        assert got["best"][lane].tolist() == slow.best
        assert got["best_score"][lane, 0] == slow.best_score
        if name.startswith("herded"):
            assert driver.weights[lane].tolist() == twin.weights
    assert (got["x"][:, small.fixed] == x[:, small.fixed]).all()
    assert (got["sums"][:, small.fixed] == 0).all()
    assert len(np.unique(scores)) > 4  # something happened


@pytest.mark.parametrize("name", [*DRIVERS, "metropolis"])
@pytest.mark.parametrize("bands", [1, 2, 3])
def test_equals_general_loop(large, name, bands):
    sparse, contexts = lower(large)
    order, classes = colour_order(sparse.pointer, sparse.index, large.colours)
    assert classes[1] > 2 * 256  # every band has blocks of its own
    x = np.random.default_rng(1).integers(0, 2, (2, large.n)).astype(np.uint8)
    driver, _ = make_driver(name, sparse, contexts, lanes=2)
    other, _ = make_driver(name, sparse, contexts, lanes=2)
    pairs = [(4, large.neighbours[4][0]), (0, 7)]
    place = np.argsort(slot_variables(order, large.n))
    watch = make_watch(2, pairs)
    scan = Fixed(order, np.array([0, order.size]), classes)
    want, want_scores = general_loop(sparse, driver, scan, x, watch, BETAS)
    got, scores, seen = run_coloured(
        sparse,
        other,
        order,
        classes,
        x,
        (3, 4),
        bands,
        make_watch(2, [tuple(place[list(p)]) for p in pairs]),
    )
    assert np.array_equal(scores, want_scores)
    assert np.array_equal(got["x"], want.x[:, :-1])
    assert np.array_equal(got["sums"], want.sums)
    assert np.array_equal(got["best"], want.best[:, :-1])
    assert np.array_equal(got["best_score"], want.best_score)
    assert np.array_equal(got["score"], want.score)
    assert np.array_equal(seen.pairs, watch.pairs)
    assert watch.pairs.sum() == 2 * 2 * BETAS.size
    if name.startswith("herded"):
        assert np.array_equal(driver.weights, other.weights)
    if name == "metropolis":
        assert np.array_equal(driver.moves, other.moves)
        assert (driver.moves[:, 0] > 0).all()


def test_order_is_by_class_degree_and_number(small):
    sparse, _ = lower(small)
    order, classes = colour_order(sparse.pointer, sparse.index, small.colours)
    degree = [len(small.neighbours[i]) for i in order]
    keys = list(zip(small.colours[order], degree, order, strict=True))
    assert keys == sorted(keys)
    assert sorted(order.tolist()) == np.flatnonzero(small.colours >= 0).tolist()
    assert {min(degree), max(degree)} == {0, 12}
    for c in range(classes.size - 1):
        assert set(small.colours[order[classes[c] : classes[c + 1]]]) == {c}


def test_nothing_to_update():
    graph = make_graph(30, 20)
    graph.colours[:] = -1
    sparse, contexts = lower(graph)
    order, classes = colour_order(sparse.pointer, sparse.index, graph.colours)
    assert order.size == 0
    driver, _ = make_driver("random", sparse, contexts)
    x = np.ones((1, 30), np.uint8)
    got, scores, _ = run_coloured(sparse, driver, order, classes, x)
    assert (got["x"] == 1).all()
    assert (got["best"] == 1).all()
    assert (scores == 0).all()


def test_bad_input_is_refused(small):
    sparse, _ = lower(small)
    order, classes = colour_order(sparse.pointer, sparse.index, small.colours)
    scan = Fixed(order, np.array([0, order.size]), classes)
    with pytest.raises(ValueError, match=r"colours must have shape \(120,\)"):
        colour_order(sparse.pointer, sparse.index, small.colours[:-1])
    same = small.colours.copy()
    same[[4, small.neighbours[4][0]]] = 1
    with pytest.raises(ValueError, match="variables 4 and"):
        colour_order(sparse.pointer, sparse.index, same)
    with pytest.raises(ValueError, match="one entry for each of the 520"):
        lay_out(sparse._replace(coupling=empty(np.float64)), scan)
    with pytest.raises(ValueError, match="finite"):
        lay_out(sparse._replace(field=np.full(small.n, np.inf)), scan)
    with pytest.raises(ValueError, match="at most once"):
        lay_out(sparse, scan._replace(order=np.zeros(3, np.uint32)))


def test_stationary_distribution_stays():
    """Start 40,000 lanes from p, do 3 passes: every count must be binomial (false alarm 1e-6)."""
    n, lanes = 5, 40_000
    neighbours = [[1, 2, 3], [0, 2], [0, 1], [0, 4], [3]]
    weight = {(0, 1): 0.7, (0, 2): -0.9, (0, 3): 0.4, (1, 2): 0.5, (3, 4): -1.1}
    graph = make_graph(30, 20)
    graph.n, graph.neighbours, graph.field = n, neighbours, [0.3, -0.2, 0.1, 0.0, 0.4]
    graph.couplings = [
        [weight[min(i, j), max(i, j)] for j in row] for i, row in enumerate(neighbours)
    ]
    sparse, contexts = lower(graph)
    order, classes = colour_order(sparse.pointer, sparse.index, np.array([0, 1, 2, 1, 0]))
    states = np.array(list(product((0, 1), repeat=n)))
    s = 2 * states - 1
    score = s @ np.array(graph.field) + sum(w * s[:, i] * s[:, j] for (i, j), w in weight.items())
    p = np.exp(score) / np.exp(score).sum()
    x = states[np.random.default_rng(2).choice(p.size, lanes, p=p)].astype(np.uint8)
    driver, _ = make_driver("random", sparse, contexts, lanes)
    got, _, _ = run_coloured(sparse, driver, order, classes, x, (3,), betas=np.ones(3))
    count = np.bincount(got["x"] @ (1 << np.arange(n)[::-1]), minlength=p.size)
    z = (count - lanes * p) / np.sqrt(lanes * p * (1 - p))
    # 32 two-sided tests of level 1e-6 / 64; a margin of 1 for counts that are not quite normal.
    assert np.abs(z).max() < NormalDist().inv_cdf(1 - 1e-6 / 128) + 1
    moved = (got["x"] != x).any(axis=1).mean()
    assert moved > 0.5
