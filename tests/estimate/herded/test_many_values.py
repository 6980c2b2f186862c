"""More than two values: the bound holds for herding written out, and for actual runs."""

import numpy as np
import pytest

import heeler
from heeler.estimate.herded.complete import misplaced


def complete_model(cards, seed):
    """Make a factor graph with a random table on every pair."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(len(cards)) for j in range(i)]
    return heeler.factor_graph(
        cards, [((i, j), np.exp(rng.normal(0, 0.5, (cards[i], cards[j])))) for i, j in pairs]
    )


def herded_states(model, sweeps, rng):
    """Herd with a weight for every value and every assignment of all others; first weights random.

    The largest weight wins after the probabilities are added, and pays one.
    """
    n = model.n_variables
    weights: dict = {}
    state = np.zeros(n, np.int64)
    states = []
    for _ in range(sweeps):
        for i in range(n):
            key = (i, *np.delete(state, i).tolist())
            if key not in weights:
                weights[key] = rng.random(model.cardinalities[i])
            weights[key] += model.conditional(i, state)
            state[i] = np.argmax(weights[key])
            weights[key][state[i]] -= 1.0
        states.append(state.copy())
    return np.array(states)


def distance(states, joint):
    """Compute the total variation distance of the average over states."""
    counts = np.zeros(joint.shape)
    np.add.at(counts, tuple(states.T), 1.0)
    return float(np.abs(counts / len(states) - joint).sum() / 2)


@pytest.mark.parametrize("cards", [[3, 3], [2, 4], [3, 2, 3]])
def test_herding_written_out_stays_within_the_bound(cards):
    model = complete_model(cards, len(cards))
    bounds, joint = heeler.herded_bounds(model), heeler.exact.enumerate(model)
    states = herded_states(model, 1500, np.random.default_rng(1))
    for sweeps in (5, 50, 500, 1500):
        for burn_in in (0, 1500 - sweeps):
            part = states[burn_in : burn_in + sweeps]
            assert distance(part, joint) <= bounds.joint.bound(sweeps)
    assert bounds.joint.bound(1500) < 0.5
    assert "two values" in repr(bounds)
    assert "discrepancy" in bounds.to_dict()
    assert not isinstance(bounds, heeler.CompleteBounds)


@pytest.mark.parametrize("count", [3, 5, 10])
def test_misplaced_visits_of_one_weight(count):
    """Any stretch of any sequence of draws from one distribution, from random first weights."""
    rng = np.random.default_rng(count)
    worst = 0.0
    for _ in range(20):
        p = rng.dirichlet(np.full(count, 0.5))
        weights = rng.random(count)
        taken = np.zeros((401, count))
        for t in range(400):
            weights += p
            chosen = np.argmax(weights)
            weights[chosen] -= 1.0
            taken[t + 1] = taken[t]
            taken[t + 1, chosen] += 1
        ahead = taken - np.arange(401)[:, None] * p
        for gap in (1, 7, 60, 300):
            worst = max(worst, np.abs(ahead[gap:] - ahead[:-gap]).sum(axis=1).max() / 2)
    assert 1.0 < worst <= misplaced(count)


def test_runs_and_certificates():
    model = complete_model([3, 3], 5)
    found = heeler.certify(model, driver="herded", epsilon=0.05)
    assert found.certified
    assert "more than two values" in found.theorem
    run = heeler.sample(
        model, driver="herded", scan="systematic", context="neighbours", chains=1,
        sweeps=found.sweeps, keep="joint", progress=False,
    )  # fmt: skip
    exact = heeler.exact.enumerate(model)
    assert np.abs(run.joint - exact).sum() / 2 <= found.bound <= 0.05


def test_what_is_not_proved():
    model = complete_model([3, 3], 5)
    rule = heeler.Herded("neighbours", rule="tijdeman")
    found = heeler.certify(model, driver=rule, epsilon=0.05)
    assert not found.certified
    assert "tijdeman" in found.reason
    free = heeler.factor_graph([3, 3], [((0,), [1.0, 2.0, 3.0]), ((1,), [1.0, 2.0, 3.0])])
    with pytest.raises(ValueError, match="context='full'"):
        heeler.herded_bounds(free)
