"""Mean field against a slow twin, its fixed-point equation, and the models where it is exact."""

import itertools

import numpy as np
import pytest

import heeler
from heeler import exact
from heeler.exact.mean_field import mean_field

from .brute import random_model


def twin(model, order, damping, sweeps):
    """Update beliefs one by one from conditional expectations over all states; very slow."""
    cards = [int(k) for k in model.cardinalities]
    graph = model.to_factor_graph()
    beliefs = []
    for v, k in enumerate(cards):
        own = np.zeros(k)
        for scope, table in graph.factors:
            if scope == (v,):
                own = own + table
        beliefs.append(np.exp(own - own.max()) / np.exp(own - own.max()).sum())
        if model.evidence is not None and model.evidence[v] >= 0:
            beliefs[v] = np.eye(k)[model.evidence[v]]
    for _ in range(sweeps):
        for v in order:
            expected = np.zeros(cards[v])
            for scope, table in graph.factors:
                if v not in scope:
                    continue
                for state in itertools.product(*(range(cards[u]) for u in scope)):
                    weight = np.prod(
                        [beliefs[u][x] for u, x in zip(scope, state, strict=True) if u != v]
                    )
                    if weight > 0:
                        expected[state[scope.index(v)]] += weight * table[state]
            wanted = np.exp(expected - expected.max())
            wanted /= wanted.sum()
            beliefs[v] = beliefs[v] + damping * (wanted - beliefs[v])
    return beliefs


def models():
    rng = np.random.default_rng(7)
    field = rng.normal(size=(3, 4)) * 0.3
    bonds = {(0, 1): 0.4, (1, 2): -0.3, (2, 3): 0.5, (0, 3): 0.2}
    yield "lattice", heeler.lattice((3, 4), 0.4, field=field).given({5: 1})
    yield "torus", heeler.lattice((3, 4), -0.3, field=field, periodic=True)
    yield "odd torus", heeler.lattice((3, 5), 0.2, field=0.1, periodic=True)
    yield "eight", heeler.lattice((3, 4), 0.2, field=field, neighbours=8).given({0: 0})
    yield "eight torus", heeler.lattice((3, 5), 0.1, field=0.2, neighbours=8, periodic=True)
    yield "cube", heeler.lattice((2, 3, 2), 0.2, field=0.1)
    yield "line", heeler.lattice((1, 6), 0.4, field=0.1)
    yield "ising", heeler.ising(bonds, rng.normal(size=4)).given({2: 0})
    yield "potts", heeler.potts(bonds, 3, field=rng.normal(size=(4, 3)))
    yield "boltzmann", heeler.boltzmann(np.array([[0, 1, -1], [1, 0, 0.5], [-1, 0.5, 0]]), 0.3)
    for number in range(4):
        name = f"tables {number}"
        yield name, random_model(rng, zeros=0.0, clamped=number % 3, low=1, variables=5)


@pytest.mark.parametrize("damping", [1.0, 0.5])
def test_sequential_sweeps_equal_the_twin(damping):
    from heeler.exact.mean_field import engine_of

    for name, model in models():
        groups = engine_of(model, None)[0].groups
        order = [int(v) for group in groups for v in group]
        assert sorted(order) == model.free.tolist(), name
        for group in groups:
            for v in group:
                assert not set(model.blanket(int(v)).tolist()) & set(group.tolist()), name
        found = mean_field(model, damping, sweeps=3, tolerance=0)
        assert found.sweeps == 3 or found.change == 0, name
        for v, belief in enumerate(twin(model, order, damping, 3)):
            np.testing.assert_allclose(found[v], belief, atol=1e-12, err_msg=name)


def test_parallel_sweeps_use_old_beliefs_only():
    model = heeler.ising({(0, 1): 0.7, (1, 2): -0.4}, [0.3, -0.2, 0.5])
    mean = np.tanh([0.3, -0.2, 0.5])
    for _ in range(4):
        middle = -0.2 + 0.7 * mean[0] - 0.4 * mean[2]
        local = np.array([0.3 + 0.7 * mean[1], middle, 0.5 - 0.4 * mean[1]])
        mean = 0.2 * mean + 0.8 * np.tanh(local)
    found = mean_field(model, 0.8, 4, order="parallel", tolerance=0)
    np.testing.assert_allclose(found.array[:, 1], (1 + mean) / 2, atol=1e-14)
    lattice = heeler.lattice((4, 5), 0.3, field=0.2)
    flat = mean_field(lattice.to_ising(), 1.0, 5, order="parallel", tolerance=0)
    assert not flat.converged
    found = mean_field(lattice, 1.0, 5, order="parallel", tolerance=0)
    np.testing.assert_allclose(found.array, flat.array, atol=1e-14)


def test_exact_without_interactions_and_fixed_point_with_them():
    model = heeler.factor_graph([3, 2], [((0,), [1, 2, 3]), ((1,), [1, 4])])
    found = mean_field(model)
    assert found.converged
    np.testing.assert_allclose(found.array, exact.marginals(model).array, atol=1e-15)
    for name, model in models():
        found = mean_field(model, tolerance=1e-12)
        assert found.converged, name
        again = mean_field(model, start=np.nan_to_num(found.array), sweeps=1, tolerance=0)
        np.testing.assert_allclose(again.array, found.array, atol=1e-10, err_msg=name)


def test_the_bound_rises_with_every_sequential_sweep():
    rng = np.random.default_rng(8)
    model = random_model(rng, zeros=0.0, variables=5)
    joint = exact.enumerate(model)
    log_z = exact.log_z(model)
    last = -np.inf
    for sweeps in range(6):
        found = mean_field(model, sweeps=sweeps, tolerance=0)
        product = np.ones(())
        for belief in found:
            product = product[..., None] * belief
        bound = log_z + (product * (np.log(joint) - np.log(product))).sum()
        assert last - 1e-12 <= bound <= log_z + 1e-12
        last = bound


def test_zeros_exclude_or_take_a_floor():
    hard = heeler.factor_graph([2, 2], [((0, 1), np.eye(2)), ((1,), [0.0, 1.0])])
    found = mean_field(hard)
    assert found.array.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    free = heeler.factor_graph([2, 2], [((0, 1), np.eye(2))], names=["a", "b"])
    with pytest.raises(ValueError, match="every value of variable 'a'"):
        mean_field(free)
    np.testing.assert_allclose(mean_field(free, floor=-50).array, 0.5)
    forbidden = heeler.potts({(0, 1): 1.0}, field=[[0.0, -np.inf, 0.0], [0.0, 0.0, 1.0]])
    assert mean_field(forbidden)[0][1] == 0.0


def test_nothing_free_and_no_sweeps():
    model = heeler.ising({(0, 1): 1.0}).given({0: 1, 1: 0})
    found = mean_field(model)
    assert found.converged
    assert found.array.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    none = mean_field(heeler.ising({(0, 1): 1.0}, 0.5), sweeps=0)
    assert (none.sweeps, none.converged) == (0, False)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"damping": 0.0}, ValueError),
        ({"damping": 1.5}, ValueError),
        ({"damping": "full"}, TypeError),
        ({"sweeps": -1}, ValueError),
        ({"sweeps": 1.5}, TypeError),
        ({"order": "random"}, ValueError),
        ({"tolerance": -1.0}, ValueError),
        ({"floor": -np.inf}, ValueError),
        ({"start": np.ones((3, 2))}, ValueError),
        ({"start": np.ones((2, 2))}, ValueError),
    ],
)
def test_bad_settings_are_refused(settings, error):
    model = heeler.ising({(0, 1): 1.0})
    with pytest.raises(error, match=next(iter(settings))):
        mean_field(model, **settings)


def test_only_models_are_taken():
    with pytest.raises(TypeError, match="model"):
        mean_field([0.5])
