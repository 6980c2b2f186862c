"""Variation of scans: the recursion as it is printed, and never below the exact distance."""

import numpy as np
import pytest

import heeler
from heeler.scan import Steps, Uniform, Weighted
from heeler.scan.plan import as_plan
from heeler.scan.target import as_target
from influence_brute import random_hard, random_higher, random_pairwise, random_spins

ROUNDING = 1e-12


def printed_bounds(matrix, rows):
    """Multiply B(q_T) ... B(q_1) 1 as dense matrices."""
    n = len(matrix)
    b = np.ones(n)
    for q in rows:
        b = (np.eye(n) - np.diag(q) @ (np.eye(n) - matrix)) @ b
    return b


def some_steps(random, n, length):
    """Mix deterministic steps with draws, two of them the same object."""
    draw = random.dirichlet(np.ones(n))
    kinds = [
        lambda: int(random.integers(n)),
        lambda: draw,
        lambda: {int(random.integers(n)): 0.25, "0": 0.75},
    ]
    return [kinds[random.integers(3)]() for _ in range(length)]


def as_rows(steps, n):
    """Write steps as probabilities."""
    rows = np.zeros((len(steps), n))
    for row, step in zip(rows, steps, strict=True):
        if isinstance(step, dict):
            for variable, q in step.items():
                row[int(variable)] += q
        elif isinstance(step, int):
            row[step] = 1.0
        else:
            row[:] = step
    return rows


def test_the_printed_recursion():
    random = np.random.default_rng(0)
    for _ in range(30):
        n = int(random.integers(2, 8))
        matrix = random.random((n, n)) / n
        np.fill_diagonal(matrix, 0.0)
        steps = some_steps(random, n, 12)
        rows = as_rows(steps, n)
        expected = printed_bounds(matrix, rows)
        for scan in (steps, Steps(steps), rows):
            got = heeler.coupling_bounds(matrix, scan)
            assert (got >= expected * (1 - 1e-14)).all()
            np.testing.assert_allclose(got, expected, rtol=1e-12)
        d = random.random(n)
        assert heeler.variation(matrix, steps, d) == pytest.approx(d @ expected, rel=1e-12)
        assert heeler.variation(matrix, steps, 1) == pytest.approx(expected[1], rel=1e-12)


def test_scans_by_name_length_and_passes():
    model = heeler.lattice((3, 4), 0.2, np.linspace(-1, 1, 12))
    matrix = heeler.influence(model)
    dense = matrix.toarray()
    one = np.eye(12)

    def same(scan, rows, **how_long):
        got = heeler.coupling_bounds(matrix, scan, **how_long)
        np.testing.assert_allclose(got, printed_bounds(dense, rows), rtol=1e-12)

    orders = {
        "systematic": np.arange(12),
        "reversed": np.arange(12)[::-1],
        "chromatic": np.argsort(np.indices((3, 4)).sum(axis=0).ravel() % 2, kind="stable"),
    }
    for name, order in orders.items():
        same(name, one[np.tile(order, 2)], passes=2)
        same(name, one[np.resize(order, 17)], length=17)
        same(order, one[order])
    uniform = np.full((24, 12), 1 / 12)
    same("uniform", uniform, passes=2)
    same(Uniform(steps=5), uniform[:5])
    weights = np.arange(12.0)
    same(Weighted(weights, steps=5), np.tile(weights / 66, (5, 1)))
    # What was known after some steps can be handed on.
    first = heeler.coupling_bounds(matrix, "systematic", length=7)
    both = heeler.coupling_bounds(matrix, np.arange(7, 12), start=first)
    np.testing.assert_array_equal(both, heeler.coupling_bounds(matrix, "systematic"))


def test_shuffled_is_bounded_for_every_order():
    random = np.random.default_rng(1)
    for _ in range(20):
        matrix = heeler.influence(random_spins(random, strength=0.4)).toarray()
        matrix /= max(1.0, matrix.sum(axis=1).max())  # so that no bound goes above 1
        bound = heeler.coupling_bounds(matrix, "shuffled", passes=2)
        for _ in range(30):
            scan = np.concatenate([random.permutation(6), random.permutation(6)])
            assert (heeler.coupling_bounds(matrix, scan) <= bound + ROUNDING).all()
    loose = heeler.influence(heeler.lattice((4, 4), 0.2))
    assert heeler.variation(loose, "shuffled", passes=10) < heeler.variation(loose, "shuffled")
    with pytest.raises(ValueError, match="'length'"):
        heeler.variation(loose, "shuffled", length=17)


@pytest.mark.parametrize("make", [random_spins, random_pairwise, random_higher, random_hard])
@pytest.mark.parametrize("method", ["auto", "oscillation"])
def test_never_below_the_exact_distance(make, method):
    random = np.random.default_rng(2)
    for number in range(3):
        model = make(random, 4)
        matrix = heeler.influence(model, method, 1.5)
        for scan in ("systematic", "uniform", some_steps(random, 4, 9)):
            for target in (None, 2, [1, 3], {0: 2.0, 2: 0.5}):
                exact = heeler.exact.scan_distances(
                    model,
                    scan,
                    target,
                    length=9,
                    temperature=1.5,
                    weighted=isinstance(target, dict),
                )
                b = heeler.coupling_bounds(matrix, scan, length=9)
                bound = heeler.variation(matrix, scan, target, length=9)
                assert (exact.variables <= b + ROUNDING).all(), number
                if not isinstance(target, dict):
                    assert exact.marginal <= bound + ROUNDING
                if exact.weighted is not None:
                    assert exact.weighted <= bound + 1e-9
                assert exact.total <= heeler.variation(matrix, scan, length=9) + ROUNDING


def test_evidence_is_respected():
    model = heeler.lattice((3, 3), 0.4, 0.1).given({4: 1, "0": 0})
    bounds = heeler.coupling_bounds(model, "systematic", passes=3)
    assert bounds[4] == bounds[0] == 0.0
    for target in (None, 5, [1, 8]):
        exact = heeler.exact.scan_distances(model, "systematic", target, passes=3)
        assert exact.marginal <= heeler.variation(model, "systematic", target, passes=3)
    assert len(as_plan("systematic", heeler.influence(model)).step) == 7


def test_exact_distances_of_two_spins():
    model = heeler.ising([(0, 1, 0.7)])
    first = heeler.exact.scan_distances(model, [0], 0)
    # One update of spin 0 beside spin 1 = +1: P(+) = sigmoid(1.4) instead of 1/2.
    assert first.marginal == pytest.approx(np.tanh(0.7) / 2)
    assert first.variables[1] == pytest.approx(0.5)
    assert first.weighted == pytest.approx(first.marginal)
    assert first.start[1] in (0, 1)
    mixed = heeler.exact.scan_distances(model, [{0: 0.5, 1: 0.5}], 0)
    assert mixed.marginal == pytest.approx((np.tanh(0.7) / 2 + 0.5) / 2)


def test_targets():
    model = heeler.lattice((2, 3), 0.1, names=list("abcdef")).given({"f": 1})
    for target, index, weight in [
        (None, [0, 1, 2, 3, 4], [1] * 5),
        ("b", [1], [1]),
        (2, [2], [1]),
        (["c", 0, "c"], [0, 2], [1, 1]),
        ([(1, 0), (0, 1)], [1, 3], [1, 1]),
        ({"a": 2, 3: 0.5, 4: 0}, [0, 3], [2, 0.5]),
        (np.array([0, 1.5, 0, 0, 2, 0]), [1, 4], [1.5, 2]),
        (np.arange(6) < 2, [0, 1], [1, 1]),
        (np.array([3, 1]), [1, 3], [1, 1]),
    ]:
        got = as_target(target, model)
        assert got.index.tolist() == index
        assert got.weight.tolist() == weight


WRONG = {
    "scan": [["z"], [], [7], "sistematic", [{0: 0.4}], np.ones((2, 3)) / 3, 3.5, {0: 1.0}, [5]],
    "target": [
        "f",
        ["a", "f"],
        {"a": -1.0},
        {"a": float("inf")},
        np.zeros(6),
        np.ones(5),
        np.ones((6, 1)),
        {},
        [],
        [0.5, 0.5],
        np.eye(6)[5],
        {"a": "x"},
        17,
    ],
    "start": [np.ones(5), -np.ones(6), [np.nan] * 6],
    "length": [0, -1, 2.5, True, "3"],
    "passes": [0, 1.5],
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input(name):
    model = heeler.lattice((2, 3), 0.1, names=list("abcdef")).given({"f": 1})
    for value in WRONG[name]:
        options = {"scan": "systematic"} | {name: value}
        with pytest.raises((ValueError, TypeError), match=rf"'{name}'|variable") as error:
            heeler.variation(model, **options)
        assert "0x" not in str(error.value)


def test_no_bound_for_all_at_once():
    with pytest.raises(ValueError, match="Jacobi"):
        heeler.variation(heeler.lattice((2, 3), 0.1), "jacobi")
    with pytest.raises(ValueError, match="not both"):
        heeler.variation(heeler.lattice((2, 3), 0.1), "systematic", length=3, passes=1)
