"""Every representation against its factor graph, and factor graphs against plain loops."""

import numpy as np
import pytest

import heeler
from heeler.model import FactorGraph, Lattice
from zoo import ZOO, all_states

SEEDS = range(4)


def _models(kind, seed):
    """Give a random model, then the same with a variable clamped that leaves it possible."""
    random = np.random.default_rng(seed)
    model = ZOO[kind](random)
    yield model
    states = all_states(model)
    possible = states[np.isfinite(model.log_score(states))]
    state, clamped = random.choice(possible), random.integers(model.n_variables)
    yield model.given({int(clamped): int(state[clamped])})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ZOO)
def test_scores_blankets_and_conditionals_are_those_of_the_factor_graph(kind, seed):
    for model in _models(kind, seed):
        graph = model.to_factor_graph()
        assert type(graph) is FactorGraph
        states = all_states(model)
        scores = model.log_score(states)
        np.testing.assert_allclose(scores, graph.log_score(states), rtol=0, atol=1e-12)
        for mine, theirs in zip(model.adjacency(), graph.adjacency(), strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
        pointer, near = model.adjacency()
        possible = states[np.isfinite(scores)]
        for variable in range(model.n_variables):
            row = near[pointer[variable] : pointer[variable + 1]]
            np.testing.assert_array_equal(model.blanket(variable), row)
            np.testing.assert_array_equal(graph.blanket(variable), row)
            one, other = (m.conditional(variable, possible) for m in (model, graph))
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ZOO)
def test_conditionals_are_ratios_of_scores_and_see_the_blanket_only(kind):
    for model in _models(kind, 11):
        states = all_states(model)
        states = states[np.isfinite(model.log_score(states))]
        states = np.random.default_rng(5).permutation(states)[:60]
        for variable in range(model.n_variables):
            found = model.conditional(variable, states)
            changed = np.repeat(states[None], model.cardinalities[variable], axis=0)
            changed[:, :, variable] = np.arange(model.cardinalities[variable])[:, None]
            weights = np.exp([model.log_score(batch) for batch in changed]).T
            expected = weights / weights.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
            np.testing.assert_allclose(model.conditional(variable, states[0]), expected[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_factor_graph_multiplies_its_tables(seed):
    model = ZOO["graph with zeros"](np.random.default_rng(seed))
    factors = [(scope, np.exp(table)) for scope, table in model.factors]
    for state in all_states(model)[::7]:
        product = np.prod([table[tuple(state[list(scope)])] for scope, table in factors])
        with np.errstate(divide="ignore"):
            assert model.log_score(state) == pytest.approx(np.log(product), abs=1e-12)


def test_ising_counts_each_pair_once_in_every_form():
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(0)
    upper = np.triu(random.normal(size=(5, 5)), 1)
    field = random.normal(size=5)
    i, j = np.nonzero(upper)
    weights = upper[i, j]
    spins = 2 * all_states(heeler.ising(upper)) - 1
    expected = np.einsum("mi,ij,mj->m", spins, upper, spins) + spins @ field
    edges = list(zip(i.tolist(), j.tolist(), weights.tolist(), strict=True))
    forms = [
        upper,
        upper.T,
        upper + upper.T,
        (upper + upper.T).tolist(),
        sparse.csr_matrix(upper),
        sparse.coo_array(upper + upper.T),
        (j, i, weights),
        edges,
        {(a, b): w for a, b, w in edges},
    ]
    digests = set()
    for form in forms:
        model = heeler.ising(form, field)
        np.testing.assert_allclose(model.log_score((spins + 1) // 2), expected, atol=1e-12)
        digests.add(model.digest)
    assert len(digests) == 1


def test_potts_and_machines_follow_their_formulas():
    random = np.random.default_rng(1)
    weights = np.triu(random.normal(size=(4, 4)), 1)
    weights += weights.T
    bias, field = random.normal(size=4), random.normal(size=(4, 3))
    states = all_states(heeler.boltzmann(weights))
    expected = np.einsum("mi,ij,mj->m", states, weights, states) / 2 + states @ bias
    found = heeler.boltzmann(weights, bias).log_score(states)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    model = heeler.potts(weights, 3, field)
    for state in all_states(model)[::5]:
        score = sum(field[i, state[i]] for i in range(4)) + sum(
            weights[i, j] for i in range(4) for j in range(i) if state[i] == state[j]
        )
        assert model.log_score(state) == pytest.approx(score, abs=1e-12)
    machine = heeler.rbm(weights[:, :2], bias, bias[:2])
    for state in all_states(machine)[::5]:
        visible, hidden = state[:4], state[4:]
        score = visible @ weights[:, :2] @ hidden + visible @ bias + hidden @ bias[:2]
        assert machine.log_score(state) == pytest.approx(score, abs=1e-12)


def _bonds(shape, periodic, neighbours):
    """List a lattice's bonds from distances between coordinates."""
    sites = list(np.ndindex(*shape))
    found = set()
    for a, one in enumerate(sites):
        for b, other in enumerate(sites[:a]):
            away = [abs(x - y) for x, y in zip(one, other, strict=True)]
            if periodic:
                away = [min(d, extent - d) for d, extent in zip(away, shape, strict=True)]
            if (max(away) if neighbours == 8 else sum(away)) == 1:
                found.add((b, a))
    return found


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(
    ("shape", "neighbours"),
    [
        ((3, 4), 4),
        ((3, 4), 8),
        ((1, 5), 4),
        ((2, 5), 4),
        ((2, 2), 8),
        ((2, 3), 8),
        ((1, 1), 4),
        ((3, 3, 4), 6),
        ((1, 2, 3), 6),
    ],
)
def test_lattice_bonds_are_the_close_pairs_once_each(shape, neighbours, periodic):
    model = heeler.lattice(shape, 0.5, 0.1, periodic=periodic, neighbours=neighbours)
    assert isinstance(model, Lattice) == (not periodic or min(shape) >= 3)
    explicit = model.to_ising() if isinstance(model, Lattice) else model
    first, second, coupling = explicit.edges()
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == _bonds(shape, periodic, neighbours)
    assert (coupling == 0.5).all()


def test_lattice_couplings_per_bond_lie_where_the_bonds_start():
    down, right = np.arange(1.0, 4).reshape(1, 3), np.arange(10.0, 14).reshape(2, 2)
    model = heeler.lattice((2, 3), (down, right))
    first, second, coupling = model.edges()
    found = dict(zip(zip(first.tolist(), second.tolist(), strict=True), coupling, strict=True))
    expected = {(0, 3): 1, (1, 4): 2, (2, 5): 3, (0, 1): 10, (1, 2): 11, (3, 4): 12, (4, 5): 13}
    assert found == expected
    slant = heeler.lattice((2, 3), (0, 0, 0, [[1.0, 2.0]]), neighbours=8)
    first, second, coupling = slant.edges()
    kept = coupling != 0
    assert list(zip(first[kept], second[kept], strict=True)) == [(1, 3), (2, 4)]


def test_cpts_come_parents_first():
    table = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.25, 0.75], [1.0, 0.0]]])
    net = heeler.bayes_net(
        [2, 2, 2],
        [("c", ["b", "a"], table), ("b", ["a"], [0.9, 0.1, 0.3, 0.7]), ("a", [], [0.2, 0.8])],
        names=["c", "b", "a"],
    )
    assert [(child, parents) for child, parents, _ in net.cpts] == [(2, ()), (1, (2,)), (0, (1, 2))]
    np.testing.assert_array_equal(net.cpts[2][2], table)
    assert net.log_score([1, 0, 1]) == pytest.approx(np.log(0.8 * 0.3 * 1.0))
    assert np.exp(net.log_score(all_states(net))).sum() == pytest.approx(1.0)


def test_periodic_couplings_per_bond_lead_onwards():
    down, right = np.arange(9.0).reshape(3, 3), np.arange(10.0, 19).reshape(3, 3)
    model = heeler.lattice((3, 3), (down, right), periodic=True)
    first, second, coupling = model.edges()
    found = dict(zip(zip(first.tolist(), second.tolist(), strict=True), coupling, strict=True))
    assert found[0, 3] == 0  # from row 0 down to row 1
    assert found[0, 6] == 6  # from row 2 down to row 0
    assert found[0, 1] == 10  # from column 0 right to column 1
    assert found[0, 2] == 12  # from column 2 right to column 0
