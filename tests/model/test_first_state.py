"""First states: inside the support, reproducible, and an error where there is none."""

import numpy as np
import pytest

import heeler
from heeler.model import NoStateFound, first_state, start
from zoo import ZOO, all_states


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ZOO)
def test_first_states_are_possible_and_respect_evidence(kind, seed):
    random = np.random.default_rng(seed)
    model = ZOO[kind](random)
    states = all_states(model)
    target = random.choice(states[np.isfinite(model.log_score(states))])
    clamped = random.choice(model.n_variables, 3, replace=False)
    for known in (model, model.given({int(v): int(target[v]) for v in clamped})):
        found = first_state(known, seed, lanes=5)
        assert found.shape == (5, model.n_variables)
        assert found.dtype == np.uint8
        assert np.isfinite(known.log_score(found)).all()
        np.testing.assert_array_equal(found, first_state(known, seed, lanes=5))
    np.testing.assert_array_equal(found[clamped.size - 3 :, clamped[0]], target[clamped[0]])


@pytest.mark.parametrize("kind", ["ising", "chain", "net", "graph with zeros"])
def test_a_lane_does_not_depend_on_the_number_of_lanes(kind):
    model = ZOO[kind](np.random.default_rng(3))
    many = first_state(model, 8, lanes=6)
    np.testing.assert_array_equal(many[:2], first_state(model, 8, lanes=2))
    assert not (many == many[0]).all()
    assert not np.array_equal(many, first_state(model, 9, lanes=6))


def test_search_agrees_with_enumeration_on_random_zeros():
    outcomes = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        counts = random.integers(1, 4, 7)
        scopes = [random.choice(7, random.integers(1, 4), replace=False) for _ in range(12)]
        tables = [(random.random(counts[scope]) > 0.35) * 1.0 for scope in scopes]
        factors = [(s, t) for s, t in zip(scopes, tables, strict=True) if t.any()]
        model = heeler.factor_graph(counts, factors)
        possible = bool(np.isfinite(model.log_score(all_states(model))).any())
        outcomes.append(possible)
        if possible:
            assert np.isfinite(model.log_score(first_state(model, seed, lanes=2))).all()
        else:
            with pytest.raises(NoStateFound, match="exclude every one"):
                first_state(model, seed)
    assert 20 < sum(outcomes) < 180  # both outcomes are really tried


def test_search_backtracks_out_of_a_hard_colouring():
    random = np.random.default_rng(0)
    colour = random.integers(0, 3, 150)  # a hidden colouring makes it possible
    pairs = {tuple(sorted(p)) for p in random.integers(0, 150, (900, 2)).tolist()}
    edges = [p for p in sorted(pairs) if colour[p[0]] != colour[p[1]]][:345]
    different = 1.0 - np.eye(3)
    model = heeler.factor_graph([3] * 150, [(pair, different) for pair in edges])
    assert len(model.table_pointer) == 2
    assert np.isfinite(model.log_score(first_state(model, 1, lanes=3))).all()


def test_giving_up_is_said(monkeypatch):
    # Seven pigeons in six holes: arc consistency sees nothing, a proof takes long.
    different = 1.0 - np.eye(6)
    pairs = [(i, j) for i in range(7) for j in range(i)]
    model = heeler.factor_graph([6] * 7, [(pair, different) for pair in pairs])
    with pytest.raises(NoStateFound, match="exclude every one"):
        first_state(model, 0)
    monkeypatch.setattr(start, "EFFORT", 200)
    with pytest.raises(NoStateFound, match="within the effort"):
        first_state(model, 0)


def test_ancestral_first_states_follow_the_network():
    net = heeler.bayes_net([2, 2], [(1, [0], [[0.9, 0.1], [0.2, 0.8]]), (0, [], [0.3, 0.7])])
    found = first_state(net, 5, lanes=20_000)
    counts = np.bincount(found @ [2, 1], minlength=4) / len(found)
    expected = np.array([0.27, 0.03, 0.14, 0.56])
    # Six standard deviations for each of four cells: false alarms below 1e-8.
    assert (abs(counts - expected) < 6 * np.sqrt(expected * (1 - expected) / len(found))).all()


def test_uniform_first_states_are_uniform():
    model = heeler.factor_graph([3, 1, 5], [])
    found = first_state(model, 2, lanes=20_000)
    for variable, count in enumerate((3, 1, 5)):
        shares = np.bincount(found[:, variable], minlength=count) / len(found)
        # Six standard deviations for each of nine shares: false alarms below 2e-8.
        assert (abs(shares - 1 / count) <= 6 * np.sqrt(1 / count / len(found))).all()


def test_many_values_need_wider_states():
    model = heeler.factor_graph([300, 2], [((0,), np.arange(300.0) == 299)])
    found = first_state(model, 0, lanes=2)
    assert found.dtype == np.uint16
    assert (found[:, 0] == 299).all()


def test_impossible_evidence_in_a_network_is_an_error():
    net = heeler.bayes_net([2, 2], [(0, [], [0.5, 0.5]), (1, [0], np.eye(2))])
    assert first_state(net.given({1: 1}), 0, 4).tolist() == [[1, 1]] * 4
    with pytest.raises(NoStateFound):
        first_state(net.given({0: 0, 1: 1}), 0)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_have_a_range(seed):
    with pytest.raises(ValueError, match="'seed'"):
        first_state(heeler.lattice((2, 2), 0.1), seed)


def test_ancestral_values_at_the_borders_are_possible():
    net = heeler.bayes_net([4], [(0, [], [0.0, 0.7, 0.3, 0.0])])
    uniforms = np.array([[0.0], [0.7], [np.nextafter(1.0, 0.0)]])
    np.testing.assert_array_equal(
        start._forward(net, uniforms, np.dtype(np.uint8))[::2], [[1], [2]]
    )
