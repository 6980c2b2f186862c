"""Attractive models: what is said of a model is what going through all contexts and flips finds."""

import itertools

import numpy as np
import pytest

import heeler
from heeler.estimate.monotone import attractive_signs


def contexts_of(model, i):
    """Give P(x_i = 1) in every state of the others that leaves x_i possible."""
    found = {}
    free = model.free.tolist()
    for values in itertools.product((0, 1), repeat=len(free)):
        state = np.zeros(model.n_variables, np.int64)
        if model.evidence is not None:
            state = np.where(model.evidence >= 0, model.evidence, 0)
        state[free] = values
        weights = model._log_weights(i, state[None])[0]
        if np.isfinite(weights).any():
            found[values] = 1 / (1 + np.exp(np.clip(weights[0] - weights[1], -700, 700)))
    return found


def grows(model, signs):
    """Say whether every conditional grows with the others once some variables are flipped."""
    free = model.free.tolist()
    for i in free:
        chances = contexts_of(model, i)
        for x, y in itertools.product(chances, repeat=2):
            below = all(
                s * a <= s * b for s, a, b, v in zip(signs[free], x, y, free, strict=True) if v != i
            )
            if below and signs[i] * (chances[x] - chances[y]) > 1e-9:
                return False
    return True


def some_flips(model):
    """Search all flips for one that makes the model attractive."""
    n = model.n_variables
    choices = itertools.product((1, -1), repeat=n)
    return any(grows(model, np.array(signs)) for signs in choices)


def random_models():
    """Make models of four variables of every kind, attractive ones among them."""
    rng = np.random.default_rng(5)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    for _ in range(8):
        size = rng.integers(3, 6)
        yield heeler.ising([(i, j, rng.normal()) for i, j in pairs[:size]], n_variables=4)
        yield heeler.ising([(i, j, rng.normal()) for i, j in pairs]).given({0: 1})
    for _ in range(3):
        weights = np.triu(rng.normal(size=(4, 4)), 1)
        yield heeler.boltzmann(weights + weights.T, rng.normal(size=4))
        yield heeler.rbm(rng.normal(size=(2, 2)), rng.normal(size=2), rng.normal(size=2))
        yield heeler.rbm(np.abs(rng.normal(size=(2, 2))), rng.normal(size=2), rng.normal(size=2))
    for strength in (0.0, 1.0, 1.0, 3.0, 3.0):
        three = rng.normal(size=(2, 2, 2))
        attract = strength * np.array([[1.0, -1.0], [-1.0, 1.0]])
        factors = [((0, 1, 2), three), ((0, 1), attract), ((1, 2), attract), ((2, 0), -attract)]
        yield heeler.factor_graph([2] * 4, [*factors, ((2, 3), attract)], log=True)
        factors[3] = ((2, 0), attract)
        yield heeler.factor_graph([2] * 4, factors, log=True)
        yield heeler.factor_graph([2] * 4, factors, log=True).given({1: 0})
    for _ in range(12):
        factors = []
        for i, j in pairs[: rng.integers(2, 5)]:
            table = rng.uniform(0.5, 2.0, (2, 2))
            table[tuple(rng.integers(0, 2, 2))] = 0.0
            factors.append(((i, j), table))
        yield heeler.factor_graph([2] * 4, factors)


@pytest.mark.parametrize("model", list(random_models()), ids=lambda m: m.kind)
def test_against_all_flips_and_contexts(model):
    try:
        signs = attractive_signs(model)
    except heeler.NotMonotone:
        assert not some_flips(model)
    else:
        assert set(signs) <= {1, -1}
        assert grows(model, signs)


def test_there_are_both_kinds_among_the_models():
    answers = []
    for model in random_models():
        try:
            attractive_signs(model)
        except heeler.NotMonotone:
            answers.append(False)
        else:
            answers.append(True)
    assert 15 <= sum(answers) <= len(answers) - 15


def test_lattices():
    assert (attractive_signs(heeler.lattice((4, 5), coupling=0.3)) == 1).all()
    signs = attractive_signs(heeler.lattice((4, 5), coupling=-0.3)).reshape(4, 5)
    assert (signs[1:] == -signs[:-1]).all()
    assert (signs[:, 1:] == -signs[:, :-1]).all()
    with pytest.raises(heeler.NotMonotone, match="frustrated"):
        attractive_signs(heeler.lattice((3, 4), coupling=-0.3, periodic=True))


def test_hard_core_models_are_attractive_where_they_are_bipartite():
    table = [[1.0, 1.0], [1.0, 0.0]]
    square = heeler.factor_graph([2] * 4, [((i, (i + 1) % 4), table) for i in range(4)])
    assert sorted(attractive_signs(square)) == [-1, -1, 1, 1]
    triangle = heeler.factor_graph([2] * 3, [((i, (i + 1) % 3), table) for i in range(3)])
    with pytest.raises(heeler.NotMonotone, match="frustrated"):
        attractive_signs(triangle)


def test_three_values_are_refused():
    with pytest.raises(heeler.NotMonotone, match="3 values"):
        attractive_signs(heeler.potts([(0, 1, 0.5)], 3))
