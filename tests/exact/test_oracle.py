"""The junction tree against brute force, and its limits."""

import itertools
import math

import numpy as np
import pytest

import heeler
from heeler import exact
from heeler.exact.problem import absorb
from heeler.exact.propagate import combine, invert, invert_one, keep_axes, singles

from .brute import Counted, random_model

SHAPES = {
    "zeros": {},
    "positive": {"zeros": 0.0},
    "mostly zero": {"zeros": 0.6, "factors": 10},
    "evidence": {"clamped": 2},
    "all clamped": {"clamped": 6},
    "disconnected": {"factors": 3, "arity": 2},
    "pairwise": {"variables": 8, "arity": 2, "factors": 12, "low": 2, "high": 3},
    "big factors": {"variables": 7, "arity": 5, "factors": 4, "low": 2, "high": 3},
    "no factor": {"factors": 0},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_everything_agrees_with_brute_force(shape):
    rng = np.random.default_rng([1, *shape.encode()])
    for _ in range(25):
        model = random_model(rng, **SHAPES[shape])
        counted = Counted(model)
        n = model.n_variables
        assert exact.log_z(model) == pytest.approx(math.log(counted.z), abs=1e-12)
        for method in ("junction_tree", "enumeration"):
            found = exact.marginals(model, method=method)
            for v in range(n):
                np.testing.assert_allclose(found[v], counted.marginal(v), atol=1e-13)
                impossible = counted.marginal(v) == 0
                assert (found[v][impossible] == 0).all()
        pairs = exact.pairs(model)
        for u, v in itertools.product(range(n), repeat=2):
            expected = np.diag(counted.marginal(u)) if u == v else counted.marginal(u, v)
            np.testing.assert_allclose(pairs[u, v], expected, atol=1e-13)
        state, score = exact.map_state(model)
        assert score == pytest.approx(math.log(counted.best), abs=1e-12)
        assert model.log_score(state) == pytest.approx(score, abs=1e-12)
        np.testing.assert_allclose(exact.enumerate(model), counted.joint, atol=1e-14)
        assert exact.log_z(model, method="enumeration") == pytest.approx(math.log(counted.z))


def test_pairs_far_apart_on_trees_chains_and_loops():
    rng = np.random.default_rng(2)
    for trial in range(30):
        n = 9
        if trial % 3 == 0:
            edges = [(i, i + 1) for i in range(n - 1)]
        elif trial % 3 == 1:
            edges = [(int(rng.integers(i)), i) for i in range(1, n)]
        else:
            edges = [(i, (i + 1) % n) for i in range(n)] + [(0, 4)]
        factors = []
        for edge in edges:
            table = rng.exponential(size=(2, 2)) * (rng.random((2, 2)) < 0.9)
            table[1, 1] = 1.0
            factors.append((edge, table))
        model = heeler.factor_graph([2] * n, factors)
        counted = Counted(model)
        wanted = list(itertools.combinations(range(n), 2))
        pairs = exact.pairs(model, wanted)
        assert list(pairs) == wanted
        for u, v in wanted:
            np.testing.assert_allclose(pairs[u, v], counted.marginal(u, v), atol=1e-13)
            np.testing.assert_array_equal(pairs[v, u], pairs[u, v].T)


def test_default_pairs_are_those_that_share_a_factor():
    model = heeler.factor_graph([2] * 4, [((0, 2), np.ones(4)), ((3, 2, 1), np.ones(8))])
    assert list(exact.pairs(model)) == [(0, 2), (1, 2), (1, 3), (2, 3)]


def test_names_work_everywhere():
    model = heeler.factor_graph([2, 3], [(("a", "b"), np.arange(1, 7))], names=["a", "b"])
    found = exact.marginals(model)
    np.testing.assert_allclose(found["b"], np.array([5, 7, 9]) / 21)
    assert found.array.shape == (2, 3)
    assert np.isnan(found.array[0, 2])
    assert len(list(found)) == len(found) == 2
    assert "a: [" in repr(found)
    np.testing.assert_allclose(exact.pairs(model, [("b", "a")])["a", "b"].ravel() * 21, range(1, 7))


def test_tiny_products_survive_and_zeros_are_exact():
    # Each table prefers value 0 by e^700; the last one forbids it: the far smaller part is all.
    n = 12
    steep = np.array([[0.0, -700.0], [-700.0, -700.0]])
    factors = [((i, i + 1), steep) for i in range(n - 1)]
    factors.append(((n - 1,), np.array([-np.inf, -300.0])))
    model = heeler.factor_graph([2] * n, factors, log=True)
    rows = np.array(list(itertools.product((0, 1), repeat=n)))
    scores = model.log_score(rows)
    top = scores.max()
    expected = top + math.log(np.exp(scores - top).sum())
    assert exact.log_z(model) == pytest.approx(expected, rel=1e-13)
    assert exact.marginals(model)[n - 1].tolist() == [0.0, 1.0]


def test_scale_far_outside_of_float64():
    model = heeler.factor_graph([2] * 3000, [((i,), [1e-300, 3e-300]) for i in range(3000)])
    assert exact.log_z(model) == pytest.approx(3000 * math.log(4e-300), rel=1e-14)
    np.testing.assert_allclose(exact.marginals(model)[2999], [0.25, 0.75], atol=1e-13)


@pytest.mark.parametrize(
    "ask",
    [exact.log_z, exact.marginals, exact.pairs, exact.map_state, exact.enumerate],
    ids=lambda f: f.__name__,
)
def test_impossible_evidence_is_a_contradiction(ask):
    equal = np.eye(2)
    model = heeler.factor_graph([2] * 3, [((0, 1), equal), ((1, 2), equal)])
    with pytest.raises(exact.Contradiction, match="2 clamped variables"):
        ask(model.given({0: 0, 2: 1}))
    with pytest.raises(exact.Contradiction, match="2 clamped variables"):
        ask(model.given({0: 0, 1: 1}))
    unequal = heeler.factor_graph([2] * 2, [((0, 1), equal), ((0, 1), 1 - equal)])
    with pytest.raises(exact.Contradiction, match="every state"):
        ask(unequal)


def test_sampling_an_impossible_model_is_a_contradiction():
    model = heeler.factor_graph([2] * 2, [((0, 1), np.eye(2))]).given({0: 0, 1: 1})
    with pytest.raises(exact.Contradiction):
        exact.sample(model, 3)


def test_samples_have_the_exact_distribution():
    rng = np.random.default_rng(3)
    for seed in range(6):
        model = random_model(rng, variables=5, factors=7, high=3, clamped=1)
        joint = exact.enumerate(model)
        draws = 20_000
        states = exact.sample(model, draws, seed=seed)
        assert states.dtype == np.uint8
        seen = np.zeros(joint.shape)
        np.add.at(seen, tuple(states.T), 1)
        assert (seen[joint == 0] == 0).all()
        possible = joint[joint > 0]
        # Bernstein for each state: P(|seen - Np| > t) <= 2 exp(-t^2 / (2 (N p q + t / 3))). With
        # e = 21 > log(2 * 243 states * 6 models / 1e-6) the false-alarm rate is below 1e-6 in all.
        bound = 22.0
        spread = draws * possible * (1 - possible)
        allowed = bound / 3 + np.sqrt((bound / 3) ** 2 + 2 * bound * spread)
        assert (np.abs(seen[joint > 0] - draws * possible) <= allowed).all()


def test_samples_follow_the_seed_and_take_few_or_no_draws():
    model = random_model(np.random.default_rng(4))
    first = exact.sample(model, 50, seed=9)
    np.testing.assert_array_equal(first, exact.sample(model, 50, seed=9))
    assert (first != exact.sample(model, 50, seed=10)).any()
    assert exact.sample(model, 0).shape == (0, model.n_variables)
    with pytest.raises(ValueError, match="'n' parameter must not be negative"):
        exact.sample(model, -1)
    with pytest.raises(TypeError, match="seed"):
        exact.sample(model, 1, seed=0.5)


def test_a_long_chain_neither_recurses_nor_crawls():
    n = 10_000
    model = heeler.ising((np.arange(n - 1), np.arange(1, n), np.full(n - 1, 0.3)))
    expected = n * math.log(2) + (n - 1) * math.log(math.cosh(0.3))
    assert exact.log_z(model) == pytest.approx(expected, rel=1e-12)
    assert exact.width(model).induced_width == 1
    pairs = exact.pairs(model, [(5000, 5030)])
    # The correlation of an open chain in zero field falls by tanh J a step.
    agree = (1 + math.tanh(0.3) ** 30) / 4
    assert pairs[5000, 5030][1, 1] == pytest.approx(agree, abs=1e-12)


def test_width_of_known_graphs():
    rng = np.random.default_rng(5)
    tree = [(int(rng.integers(i)), i) for i in range(1, 60)]
    cycle = [(i, (i + 1) % 40) for i in range(40)]
    grid = [(r * 6 + c, r * 6 + c + 1) for r in range(6) for c in range(5)]
    grid += [(r * 6 + c, r * 6 + 6 + c) for r in range(5) for c in range(6)]
    complete = list(itertools.combinations(range(11), 2))
    for edges, expected in ((tree, 1), (cycle, 2), (grid, 6), (complete, 10)):
        count = max(max(e) for e in edges) + 1
        model = heeler.factor_graph([3] * count, [(e, np.ones(9)) for e in edges])
        report = exact.width(model)
        assert report.induced_width == expected
        assert report.largest_table == 3 ** (expected + 1)
        assert report.free_variables == count
        assert report.bytes >= 8 * report.total_entries >= 8 * report.largest_table


def test_too_wide_is_refused_with_width_and_bytes():
    side = 30
    sites = np.arange(side * side).reshape(side, side)
    edges = [(sites[:, :-1], sites[:, 1:]), (sites[:-1], sites[1:])]
    first = np.concatenate([a.ravel() for a, _ in edges])
    second = np.concatenate([b.ravel() for _, b in edges])
    model = heeler.ising((first, second, np.full(first.size, 0.1)))
    for ask in (exact.log_z, exact.marginals, exact.map_state, exact.pairs):
        with pytest.raises(exact.TooWide, match="induced width") as caught:
            ask(model)
        assert caught.value.width >= side
        assert caught.value.bytes > 1 << 30
    small = heeler.ising({(0, 1): 1.0, (1, 2): 1.0})
    with pytest.raises(exact.TooWide, match="memory_limit is 64 B"):
        exact.marginals(small, memory_limit=64)
    with pytest.raises(ValueError, match="'memory_limit' parameter must be positive"):
        exact.marginals(small, memory_limit=0)
    with pytest.raises(TypeError, match="memory_limit"):
        exact.log_z(small, memory_limit="1G")


def test_dense_graphs_are_refused_at_once():
    model = heeler.ising(np.triu(np.ones((300, 300)), 1))
    with pytest.raises(exact.TooWide) as caught:
        exact.log_z(model)
    assert not caught.value.complete
    assert caught.value.width >= 149
    report = exact.width(model)
    assert not report.complete
    assert report.induced_width >= 149


def test_hopeless_graphs_are_refused_in_seconds(monkeypatch):
    rng = np.random.default_rng(9)
    n = 3000
    ends = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(2 * n)}
    model = heeler.ising(dict.fromkeys(ends, 1.0))
    monkeypatch.setattr("heeler.exact.order.WORK_LIMIT", 200_000)
    with pytest.raises(exact.TooWide, match="at least") as caught:
        exact.log_z(model)
    assert caught.value.width >= 27
    assert not exact.width(model).complete


def test_enumeration_refuses_with_the_count():
    model = heeler.factor_graph([2] * 25, [])
    with pytest.raises(ValueError, match="33554432 joint states"):
        exact.enumerate(model)
    with pytest.raises(ValueError, match=r"about 2\^400"):
        exact.enumerate(heeler.factor_graph([2] * 400, []))
    with pytest.raises(ValueError, match="'method' parameter must be"):
        exact.log_z(model, method="magic")


def test_what_is_no_model_is_a_type_error():
    with pytest.raises(TypeError, match="'model' parameter must be"):
        exact.marginals([1, 2])


def test_empty_scopes_and_single_values_count():
    factors = [((), np.array(2.0)), ((0,), np.array([5.0])), ((0, 1), np.array([[1.0, 3.0]]))]
    cards = [1, 2]
    problem = absorb(cards, [(s, np.log(t)) for s, t in factors])
    assert problem.free.tolist() == [1]
    assert problem.constant == pytest.approx(math.log(10))


def test_large_tables_are_combined_right():
    rng = np.random.default_rng(6)
    for _ in range(20):
        shape = tuple(rng.integers(2, 4, 9).tolist())
        items = []
        expected = np.zeros(shape)
        for _ in range(rng.integers(3, 12)):
            axes = tuple(sorted(rng.choice(9, size=rng.integers(1, 5), replace=False).tolist()))
            table = rng.normal(size=[shape[a] for a in axes])
            items.append((axes, table))
            wide = [shape[a] if a in axes else 1 for a in range(9)]
            expected = expected + table.reshape(wide)
        whole = combine(shape, items)
        np.testing.assert_allclose(whole, expected, atol=1e-12)
        assert whole.flags.writeable
        kept = tuple(sorted(rng.choice(9, size=3, replace=False).tolist()))
        others = tuple(a for a in range(9) if a not in kept)
        np.testing.assert_allclose(keep_axes(whole, kept), whole.sum(axis=others), atol=1e-9)
        for axis, single in enumerate(singles(whole)):
            others = tuple(a for a in range(9) if a != axis)
            np.testing.assert_allclose(single, whole.sum(axis=others), atol=1e-9)


def test_no_uniform_number_draws_an_impossible_value():
    weight = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    # 1.0 stands for a product of uniform and total that rounds up to the total.
    uniform = np.array([0.0, 0.2999, 0.3001, 1.0 - 2.0**-53, 1.0])
    expected = [1, 1, 3, 3, 3]
    assert invert_one(weight, uniform).tolist() == expected
    assert invert(np.repeat(weight[:, None], 5, axis=1), uniform).tolist() == expected
