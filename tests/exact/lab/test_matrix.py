"""Transition matrices: invariant, balanced where they should be, and what the chains really do."""

import itertools

import numpy as np
import pytest

import heeler
from heeler.exact.lab import TooLarge, analyse, transition_matrix
from heeler.scan import Uniform, Weighted
from zoo import ZOO, all_states

KINDS = ["graph", "graph with zeros", "net", "ising", "potts", "boltzmann", "rbm", "chain"]


def small(kind, seed=3):
    return ZOO[kind](np.random.default_rng(seed))


def support(model):
    states = all_states(model)
    return states[np.asarray(model.log_score(states)) > -np.inf]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["gibbs", "metropolis", "modified"])
def test_the_target_is_invariant(kind, kernel):
    model = small(kind)
    target = heeler.exact.enumerate(model).ravel()
    for scan in ("systematic", "reversed", "chromatic", Uniform(1), Uniform(3)):
        matrix = transition_matrix(model, kernel, scan)
        np.testing.assert_array_equal(matrix.states, support(model))
        np.testing.assert_allclose(matrix.target, target[target > 0], rtol=1e-9)
        assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
        found = analyse(matrix)
        assert found.invariant, (scan, found.drift, found.tolerance)
        assert found.tolerance < (1e-2 if kind in ("boltzmann", "rbm") else 1e-6)
        if scan == "systematic" and kind in ("ising", "potts", "boltzmann", "chain"):
            assert not found.reversible  # the others are nearly independent
            assert found.balance.circulation > 1e-3
        if isinstance(scan, Uniform):
            assert found.reversible
    exact = transition_matrix(model, kernel, "systematic", quantised=False)
    assert analyse(exact).drift < 1e-13


@pytest.mark.parametrize("kind", ["ising", "graph with zeros", "chain"])
def test_exact_updates_are_the_models_conditionals(kind):
    model = small(kind, 5)
    for i in model.free[:3].tolist():
        exact = transition_matrix(model, scan=[i], quantised=False)
        rounded = transition_matrix(model, scan=[i])
        assert np.abs((exact - rounded).toarray()).max() < 3e-9
        place = {tuple(s): k for k, s in enumerate(exact.states.tolist())}
        for k in range(0, len(place), 5):
            state = exact.states[k].astype(int)
            for value, p in enumerate(model.conditional(i, state)):
                state[i] = value
                if p > 0:
                    assert exact[k, place[tuple(state.tolist())]] == pytest.approx(p, abs=1e-13)


def test_shuffled_is_the_average_over_all_orders():
    model = small("potts")
    orders = list(itertools.permutations(range(model.n_variables)))
    total = sum(transition_matrix(model, scan=list(order)).toarray() for order in orders)
    found = transition_matrix(model, scan="shuffled")
    assert np.abs(found.toarray() - total / len(orders)).max() < 1e-13
    assert analyse(found).reversible


def test_evidence_and_temperature():
    model = small("ising").given({1: 1, 4: 0})
    found = analyse(model, temperature=2.5)
    assert found.invariant
    assert (found.matrix.states[:, [1, 4]] == [1, 0]).all()
    weight = np.exp(np.asarray(model.log_score(found.matrix.states)) / 2.5)
    np.testing.assert_allclose(found.target, weight / weight.sum(), rtol=1e-12)


def test_jacobi_and_greedy_are_biased():
    model = small("ising")
    jacobi = analyse(model, scan="jacobi")
    assert not jacobi.invariant
    assert jacobi.bias > 1e-3
    greedy = analyse(model, "greedy")
    assert not greedy.invariant
    best = heeler.exact.map_state(model)[0]
    k = greedy.state_index(best)
    assert greedy.matrix[k, k] == 1.0  # nothing leaves the best state
    assert not greedy.irreducible


@pytest.mark.parametrize(
    "scan",
    ["systematic", "shuffled", "jacobi", Uniform(2), Weighted([1.0, 2.0, 0.5, 3.0], 3), [2, 0, 2]],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:The Jacobi scan is approximate")
def test_rows_are_what_the_chains_do(scan):
    # Many passes from one state; each count is binomial. 16 cells within 6 standard
    # deviations, and 1 for small counts: a false alarm in less than 1e-6 of seeds.
    model = heeler.ising([(0, 1, 0.5), (1, 2, -0.6), (0, 2, 0.2), (2, 3, 0.9)], [0.1, 0, 0.4, -0.2])
    matrix = transition_matrix(model, scan=scan)
    passes = 10_000
    keep = "samples" if scan == "jacobi" else "joint"  # of Jacobi passes heeler counts no joints
    for k in (0, 9):
        run = heeler.sample(
            model, driver="random", scan=scan, sweeps=passes, chains=1, restart=True, seed=5,
            init=matrix.states[k], keep=keep,
        )  # fmt: skip
        p = matrix.toarray()[k]
        if keep == "joint":
            seen = np.rint(run.joint.ravel() * passes)
        else:
            seen = np.bincount(run.samples[0].astype(int) @ [8, 4, 2, 1], minlength=16)
        spread = np.sqrt(passes * p * (1 - p))
        assert (np.abs(seen - passes * p) <= 6 * spread + 1).all()
        assert (seen[p == 0] == 0).all()


def test_a_single_site_kernel_and_an_object_with_its_own_matrix():
    model = small("ising")
    kernel = heeler.SingleSite("random", "reversed", temperature=1.5)
    same = transition_matrix(model, "gibbs", "reversed", temperature=1.5)
    assert (transition_matrix(model, kernel) != same).nnz == 0

    class Lazy:
        def transition_matrix(self, model):
            size = len(heeler.lab.transition_matrix(model).states)
            return 0.5 * np.eye(size) + 0.5 * transition_matrix(model).toarray()

    found = analyse(model, Lazy())
    assert found.matrix.description == "Lazy"
    assert found.drift < 1e-9


def test_sizes_are_refused_by_name():
    big = heeler.lattice((5, 5), 0.3)
    with pytest.raises(TooLarge, match=r"of 33554432 states needs .* GiB; memory_limit is 1 GiB"):
        transition_matrix(big)
    middle = heeler.lattice((4, 4), 0.3)
    with pytest.raises(TooLarge, match=r"the transition matrix of 65536 states needs 96 GiB"):
        transition_matrix(middle)
    assert transition_matrix(middle, scan=Uniform(1)).nnz <= 65536 * 17
    with pytest.raises(TooLarge, match="the eigenvalues of 65536 states"):
        _ = analyse(middle, scan=Uniform(1)).eigenvalues


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: transition_matrix(3), "'model' parameter must be a heeler model"),
        (lambda m: transition_matrix(m, "herded"), r"heeler\.lab\.herded_kernel"),
        (lambda m: transition_matrix(m, "wolf"), "'kernel' parameter must be"),
        (lambda m: transition_matrix(m, scan="zigzag"), "'scan' parameter must be"),
        (lambda m: transition_matrix(m, temperature=[1.0, 2.0]), "'temperature' parameter must"),
        (lambda m: transition_matrix(m, memory_limit=0), "'memory_limit' parameter must"),
        (lambda m: transition_matrix(m.given(dict.fromkeys(range(7), 0))), "are clamped"),
        (lambda _: analyse([[0.5, 0.5]]), "must be a square matrix"),
        (lambda _: analyse([[0.9, 0.5], [0.1, 0.5]]), "give the transpose"),
        (lambda _: analyse([[0.9, 0.2], [0.1, 0.9]]), "rows that sum to 1. Row 0 sums to 1.1"),
        (lambda _: analyse([[1.5, -0.5], [0.0, 1.0]]), "not negative"),
        (lambda _: analyse([["a"]]), "square matrix of numbers"),
        (lambda _: analyse(np.eye(2), target=[0.5, 0.6]), "'target' parameter must hold 2"),
        (lambda _: analyse(np.eye(2), labels=["a"]), "'labels' parameter must name 2"),
        (lambda m: analyse(m, labels=["a"]), "a model has its own"),
        (lambda m: analyse(m).mixing_time(1.5), "'epsilon' parameter must lie"),
        (lambda m: analyse(m).hitting_times("sun"), "no such state"),
        (lambda m: analyse(m).total_variation([1.5]), "'times' parameter must hold whole"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(small("ising"))


def test_names_of_states():
    model = small("net")
    assert transition_matrix(model).labels[0].isdigit()
    weather = heeler.factor_graph(
        [2, 3], [((0, 1), np.ones((2, 3)))], ["wet", "sky"], [["no", "yes"], ["a", "b", "c"]]
    )
    found = analyse(weather, scan=["wet"])
    assert found.labels[5] == "wet=yes, sky=c"
    assert found.classes[0].names == ["wet=no, sky=a", "wet=yes, sky=a"]
    assert "wet=no, sky=a; wet=yes, sky=a" in found.report()
    assert found.state_index("wet=yes, sky=c") == found.state_index([1, 2]) == 5
    assert found.hitting_times({"sky": "a"}).tolist() == [0, np.inf, np.inf, 0, np.inf, np.inf]


def test_a_users_proposal():
    model = small("graph")
    states = transition_matrix(model).states.astype(int)
    n = len(states)

    def log_density(new, old):  # noqa: ARG001 - uniform over the states, but twice as often the first ones
        return np.log(2.0 if tuple(new) < tuple(states[n // 2]) else 1.0)

    def propose(old, random):
        weights = np.array([np.exp(log_density(s, old)) for s in states])
        return states[random.choice(n, p=weights / weights.sum())]

    found = analyse(model, heeler.Proposal(propose, log_density))
    assert found.invariant
    assert found.reversible
    run = heeler.sample(
        model, heeler.Proposal(propose, log_density), sweeps=2000, chains=4, seed=1, keep="samples"
    )
    # Ways from one state to others, of those with many visits: within 6 standard deviations.
    labels = {tuple(s): k for k, s in enumerate(states.tolist())}
    visits = np.array([[labels[tuple(s)] for s in chain] for chain in run.samples.tolist()])
    k = int(np.bincount(visits.ravel()).argmax())
    after = visits[:, 1:][visits[:, :-1] == k]
    p = found.matrix.toarray()[k]
    seen = np.bincount(after, minlength=n)
    spread = np.sqrt(len(after) * p * (1 - p))
    assert (np.abs(seen - len(after) * p) <= 6 * spread + 1).all()
    with pytest.raises(ValueError, match="needs its density"):
        analyse(model, heeler.Proposal(propose))
    with pytest.raises(TypeError, match="single-site"):
        analyse(model, heeler.Slice())
