"""Small models and their comparison, for the tests of readers and writers."""

import numpy as np

import heeler


def random_factor_graph(seed, n=6, factors=7, zeros=True):
    """Return a factor graph with mixed cardinalities, zeros and a constant factor."""
    rng = np.random.default_rng(seed)
    cardinalities = rng.integers(1, 5, n)
    listed = [((), np.array(rng.random() + 0.1))]
    for _ in range(factors):
        scope = tuple(rng.permutation(n)[: rng.integers(1, 4)].tolist())
        table = np.exp(rng.normal(0, 3, cardinalities[list(scope)]))
        if zeros and table.size > 2:
            table.flat[rng.integers(table.size)] = 0.0
        listed.append((scope, table))
    return heeler.factor_graph(cardinalities, listed)


def random_network(seed, n=6, names=None, value_names=None, cardinalities=None):
    """Return a Bayesian network whose variables are not in topological order."""
    rng = np.random.default_rng(seed)
    if cardinalities is None:
        cardinalities = rng.integers(1, 5, n)
    order = rng.permutation(n)
    cpts = []
    for place, child in enumerate(order):
        parents = rng.permutation(order[:place])[:3].tolist()
        shape = [*[int(cardinalities[p]) for p in parents], int(cardinalities[child])]
        table = rng.random(shape) + 1e-3
        cpts.append((int(child), tuple(parents), table / table.sum(-1, keepdims=True)))
    return heeler.bayes_net(cardinalities, cpts, names=names, value_names=value_names)


def random_states(model, seed, count=40):
    """Return states drawn uniformly, inside the support or not."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, np.asarray(model.cardinalities), (count, model.n_variables))


def assert_same_scores(first, second, seed=0):
    """Check that two models give the same log score to random states."""
    assert np.array_equal(first.cardinalities, second.cardinalities)
    states = random_states(first, seed)
    expected = first.log_score(states)
    np.testing.assert_allclose(second.log_score(states), expected, rtol=1e-12, atol=1e-12)
    assert np.isfinite(expected).any()
