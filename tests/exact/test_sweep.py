"""Sweeps as matrices: against loops over states, and against what they must leave alone."""

import itertools

import numpy as np
import pytest

import heeler
from heeler.exact.sweep import dobrushin_coefficient, small_model

RNG = np.random.default_rng(7)


def random_graph(cards, zeros=False):
    """Make a factor graph with a table on every pair and one on three variables."""
    scopes = [*itertools.combinations(range(len(cards)), 2), (0, 1, 2)]
    factors = []
    for scope in scopes:
        table = RNG.uniform(0.2, 2.0, [cards[v] for v in scope])
        if zeros:
            table[RNG.random(table.shape) < 0.1] = 0.0
        factors.append((scope, table))
    return heeler.factor_graph(cards, factors)


def naive_sweep(model, order):
    """Multiply the updates' matrices, entry by entry from `model.conditional`."""
    states = list(itertools.product(*(range(k) for k in model.cardinalities)))
    place = {state: k for k, state in enumerate(states)}
    result = np.eye(len(states))
    for variable in order:
        update = np.zeros((len(states), len(states)))
        for state in states:
            for value, p in enumerate(model.conditional(variable, np.array(state))):
                after = (*state[:variable], value, *state[variable + 1 :])
                update[place[state], place[after]] = p
        result = result @ update
    return result


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 1, 2, 0)])
def test_sweep_is_the_product_of_the_updates(order):
    model = random_graph([2, 3, 2])
    small = small_model(model)
    sweep = small.sweep(order)
    assert np.allclose(sweep, naive_sweep(model, order), atol=1e-14)
    assert np.allclose(small.target @ sweep, small.target, atol=1e-14)
    assert np.allclose(sweep.sum(axis=1), 1.0)


def test_evidence_and_temperature():
    model = random_graph([2, 2, 3]).given({1: 1})
    small = small_model(model, temperature=2.0)
    tempered = np.sqrt(heeler.exact.enumerate(model)[:, 1, :])
    assert np.allclose(small.target, (tempered / tempered.sum()).ravel())
    assert np.allclose(small.target @ small.sweep((0, 1)), small.target)


def test_steps_to_everywhere():
    assert small_model(random_graph([2, 2, 2])).steps_to_everywhere((0, 1, 2)) == 3
    # x_0 and x_1 never both 1: from (1, 0) to (0, 1) the first has to move before the second.
    hard = heeler.factor_graph([2, 2], [((0, 1), [[1.0, 1.0], [1.0, 0.0]])])
    small = small_model(hard)
    assert small.steps_to_everywhere((0, 1)) == 3
    # Equal variables never move one at a time.
    equal = heeler.factor_graph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    assert small_model(equal).steps_to_everywhere((0, 1)) is None


def test_dobrushin_coefficient_by_all_pairs():
    small = small_model(random_graph([2, 3, 2]))
    sweep = small.sweep((0, 1, 2))
    worst = max(np.abs(a - b).sum() / 2 for a, b in itertools.combinations(sweep, 2))
    found = dobrushin_coefficient(sweep)
    assert worst <= found <= worst + 2e-12


def test_least_conditional_by_enumeration():
    model = random_graph([2, 3, 2])
    least = min(
        model.conditional(v, np.array(state)).min()
        for v in range(3)
        for state in itertools.product(range(2), range(3), range(2))
    )
    assert small_model(model).least_conditional == pytest.approx(least)


def test_many_states_are_refused():
    with pytest.raises(ValueError, match="at most 1024 joint states"):
        small_model(heeler.lattice((4, 4), coupling=0.1))
