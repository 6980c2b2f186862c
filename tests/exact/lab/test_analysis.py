"""The laboratory against closed forms, brute force and the theorems it quotes."""

import json
import math

import numpy as np
import pytest

import heeler
from heeler.exact.lab import analyse, herded_kernel, perron
from zoo import ZOO


def random_chain(n, seed, zeros=0.0):
    random = np.random.default_rng(seed)
    matrix = random.random((n, n)) * (random.random((n, n)) >= zeros) + 0.02 * np.eye(n)
    return matrix / matrix.sum(axis=1, keepdims=True)


def walk(n, stay=0.0):
    """Walk round a ring."""
    step = np.roll(np.eye(n), 1, axis=1)
    return stay * np.eye(n) + (1 - stay) * (step + step.T) / 2


def test_two_states():
    a, b = 0.3, 0.1
    found = analyse([[1 - a, a], [b, 1 - b]], labels=["rain", "sun"])
    np.testing.assert_allclose(found.stationary, [b / (a + b), a / (a + b)], rtol=1e-15)
    np.testing.assert_allclose(found.eigenvalues, [1, 1 - a - b], rtol=1e-14)
    assert found.reversible
    assert found.relaxation_time == pytest.approx(1 / (a + b))
    assert found.dobrushin == pytest.approx(1 - a - b)
    assert found.minorisation.v == pytest.approx(min(b / 0.25, a / 0.75, 1) if b < a else 1)
    np.testing.assert_allclose(found.hitting_times("sun"), [1 / a, 0])
    distance = found.total_variation([0, 1, 7])
    np.testing.assert_allclose(distance[:, 0], 0.75 * (1 - a - b) ** np.array([0, 1, 7]))
    # 0.75 * 0.6^t <= 1/4 first at t = 3.
    assert found.mixing_time() == 3
    np.testing.assert_allclose(found.distribution("rain", 2).sum(), 1)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_walk_on_a_ring(n):
    found = analyse(walk(n))
    assert found.period == (2 if n % 2 == 0 else 1)
    assert found.ergodic == bool(n % 2)
    cosines = np.sort(np.cos(2 * np.pi * np.arange(n) / n))
    np.testing.assert_allclose(np.sort(found.eigenvalues), cosines, atol=1e-14)
    distance = np.arange(n)
    np.testing.assert_allclose(found.hitting_times(0), distance * (n - distance), rtol=1e-12)
    np.testing.assert_allclose(found.hitting_matrix[:, 0], distance * (n - distance), atol=1e-10)
    assert found.mean_hitting_time == pytest.approx((n * n - 1) / 6)
    assert (found.mixing_time() == math.inf) == (n % 2 == 0)
    assert found.reversible


def test_a_cycle_is_not_balanced_but_invariant():
    found = analyse(np.roll(np.eye(3), 1, axis=1), target=np.full(3, 1 / 3))
    assert found.invariant
    assert found.irreducible
    assert found.period == 3
    assert found.balance.circulation == pytest.approx(1.0)
    assert found.balance.there == pytest.approx(1 / 3)
    assert found.balance.back == 0


def test_balance_does_not_imply_ergodicity():
    found = analyse(np.eye(3), target=[0.2, 0.3, 0.5])
    assert found.reversible
    assert found.invariant
    assert not found.ergodic
    assert len(found.closed_classes) == 3
    assert found.stationary is None
    assert found.spectral_gap == 0
    assert found.relaxation_time == found.mixing_time() == math.inf


def test_classes_and_periods():
    # 0 is transient; 1 and 2 swap for ever; 3, 4, 5 have ways back of length 2 and 3.
    matrix = np.zeros((7, 7))
    matrix[0, [0, 1, 3]] = 1 / 3
    matrix[1, 2] = matrix[2, 1] = 1
    matrix[3, 4] = 1
    matrix[4, [3, 5]] = 0.5
    matrix[5, 3] = 1
    matrix[6, 0] = 1  # transient, with no way back
    found = analyse(matrix)
    assert [(c.members.tolist(), c.closed, c.period) for c in found.classes] == [
        ([1, 2], True, 2),
        ([3, 4, 5], True, 1),
        ([0], False, 1),
        ([6], False, 0),
    ]
    assert found.period == 2
    np.testing.assert_allclose(
        found.stationary_distributions, [[0, 0.5, 0.5, 0, 0, 0, 0], [0, 0, 0, 0.4, 0.4, 0.2, 0]]
    )
    assert found.hitting_times(4)[[1, 0, 3]].tolist() == [math.inf, math.inf, 1]
    with pytest.raises(ValueError, match="irreducible chains"):
        _ = found.hitting_matrix


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("zeros", [0.0, 0.7])
def test_bounds_hold_and_numbers_agree(seed, zeros):
    matrix = random_chain(12, seed, zeros)
    found = analyse(matrix)
    if not found.ergodic:  # zeros made one of them reducible
        assert found.mixing_time() == math.inf
        return
    pi = found.stationary
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-15)
    times = np.arange(40)
    distance = found.total_variation(times)
    power = np.eye(12)
    for t in times:
        np.testing.assert_allclose(distance[t], 0.5 * np.abs(power - pi).sum(axis=1), atol=1e-13)
        power = power @ matrix
    worst = distance.max(axis=1)
    assert (worst <= found.minorisation.bound(times) + 1e-14).all()
    assert (worst <= found.dobrushin**times + 1e-14).all()
    brute = max(0.5 * np.abs(matrix[k] - matrix[j]).sum() for k in range(12) for j in range(12))
    assert found.dobrushin == pytest.approx(brute)
    for epsilon in (0.25, 0.01, 1e-4):
        first = next(t for t in range(10_000) if t >= 40 or worst[t] <= epsilon)
        if first < 40:
            assert found.mixing_time(epsilon) == first
    # The asymptotic rate is the second eigenvalue.
    late = found.total_variation([60, 61]).max(axis=1)
    if late[1] > 1e-12 and np.isreal(found.eigenvalues[1]):
        assert late[1] / late[0] == pytest.approx(found.second_eigenvalue, rel=0.05)
    # First step analysis of hitting times, and their weighted mean from any start.
    for goal in (0, 7):
        h = found.hitting_times(goal)
        others = (np.arange(12) != goal) & np.isfinite(h)
        h = np.where(np.isfinite(h), h, 0)  # what may never arrive is not reached by those that do
        np.testing.assert_allclose(h[others], 1 + matrix[others] @ h, rtol=1e-9)
    if found.irreducible:
        h = found.hitting_matrix
        np.testing.assert_allclose(found.hitting_times(7), h[:, 7], atol=1e-9)
        np.testing.assert_allclose(h @ pi, found.mean_hitting_time, rtol=1e-9)


def test_the_condition_of_the_notes_bound_is_on_the_destination():
    # State 2 has no mass and is left at once: rows into it do not matter, the row out of it does.
    found = analyse([[0.6, 0.4, 0], [0.3, 0.7, 0], [0.5, 0.5, 0]])
    assert found.minorised(1).holds
    assert found.minorised(1).v == pytest.approx(0.3 / (3 / 7))
    chain = analyse([[0, 1.0], [0.5, 0.5]])
    assert not chain.minorised(1).holds
    assert chain.minorised(1).names == ("0", "0")
    assert chain.minorisation.steps == 2
    assert chain.minorisation.v > 0
    np.testing.assert_allclose(chain.minorisation.bound([0, 1, 2, 3, 4])[[0, 1]], 1)


def test_small_probabilities_are_right_to_their_last_digits():
    # A birth-death chain: pi(k + 1) / pi(k) = up / down exactly.
    n, up, down = 40, 1e-6, 0.5
    matrix = np.diag(np.full(n - 1, up), 1) + np.diag(np.full(n - 1, down), -1)
    matrix += np.diag(1 - matrix.sum(axis=1))
    pi = analyse(matrix).stationary
    np.testing.assert_allclose(pi[1:] / pi[:-1], up / down, rtol=1e-12)


def test_slow_chains_are_not_called_mixed():
    epsilon = 1e-9
    found = analyse([[1 - epsilon, epsilon], [epsilon, 1 - epsilon]])
    assert found.mixing_time() == pytest.approx(math.log(2) / (2 * epsilon), rel=1e-6)
    assert found.relaxation_time == pytest.approx(1 / (2 * epsilon), rel=1e-6)


def test_large_chains_by_decomposition():
    n = 1100
    matrix = walk(n, 0.5)
    matrix[0] = np.eye(n)[0] * 0.5 + 0.5 * np.eye(n)[1]
    found = analyse(matrix)
    np.testing.assert_allclose(found.stationary @ matrix, found.stationary, atol=1e-14)


def test_perron():
    random = np.random.default_rng(5)
    for _ in range(20):
        matrix = random.random((6, 6)) * 3
        found = perron(matrix)
        assert found.row_low <= found.root <= found.row_high
        assert found.column_low <= found.root <= found.column_high
        np.testing.assert_allclose(matrix @ found.right, found.root * found.right, rtol=1e-10)
        np.testing.assert_allclose(found.left @ matrix, found.root * found.left, rtol=1e-10)
        assert found.simple
        assert found.root == pytest.approx(np.abs(np.linalg.eigvals(matrix)).max())
    assert analyse(random_chain(5, 1)).perron.root == pytest.approx(1.0)


def test_metropolis_mixes_slower_than_gibbs_where_peskun_says():
    # Binary updates in random order: Metropolis moves more, so its gap is larger (Peskun).
    model = ZOO["ising"](np.random.default_rng(1))
    gaps = [
        analyse(model, kernel, heeler.scan.Uniform(1)).eigenvalues[1].real
        for kernel in ("gibbs", "metropolis")
    ]
    assert gaps[1] < gaps[0]


def test_words_numbers_and_pictures(tmp_path):
    model = ZOO["ising"](np.random.default_rng(1))
    found = analyse(model)
    text = str(found)
    for word in ("irreducible", "detailed balance does not hold", "spectral gap", "Kemeny"):
        assert word in text
    numbers = json.loads(json.dumps(found.to_dict()))
    assert numbers["states"] == 128
    assert numbers["detailed_balance"]["holds"] is False
    assert numbers["stationary"] == found.stationary.tolist()
    assert "ergodic" in repr(found)
    pytest.importorskip("matplotlib")
    path = tmp_path / "chain.png"
    figure = found.plot(path)
    assert path.stat().st_size > 10_000
    assert len(figure.axes) == 5  # four pictures and a scale
    for chain in (np.eye(3), walk(4), walk(70, 0.1)):
        analyse(chain).plot()
        assert analyse(chain).report()


@pytest.mark.parametrize("kind", ["ising", "potts", "graph with zeros"])
def test_the_herded_kernel_carries_the_empirical_distribution(kind):
    model = ZOO[kind](np.random.default_rng(4))
    for scan in ("systematic", "reversed"):
        found = herded_kernel(model, 500, burn_in=7, scan=scan)
        np.testing.assert_allclose(found.before @ found.matrix, found.after, atol=1e-14)
        np.testing.assert_allclose(found.matrix.sum(axis=1), 1, atol=1e-13)
        assert found.error <= found.bound + 1e-12
        np.testing.assert_allclose(
            found.gibbs.toarray(), heeler.lab.transition_matrix(model, scan=scan).toarray(),
            atol=1e-15,
        )  # fmt: skip


def test_the_herded_kernel_approaches_gibbs_like_one_over_t():
    random = np.random.default_rng(8)
    weights = np.triu(random.normal(size=(4, 4)), 1) * 0.5
    model = heeler.ising(weights + weights.T, random.normal(size=4) * 0.3)
    found = [herded_kernel(model, sweeps).distance for sweeps in (500, 5_000, 50_000)]
    assert found[1] < found[0] / 5
    assert found[2] < found[1] / 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scan": [0, 0, 1]}, "visit each free variable once"),
        ({"scan": "uniform"}, "in a fixed order"),
        ({"sweeps": 0}, "'sweeps' parameter"),
    ],
)
def test_herded_kernels_that_are_none(options, message):
    model = ZOO["ising"](np.random.default_rng(4))
    with pytest.raises(ValueError, match=message):
        herded_kernel(model, **({"sweeps": 10} | options))
