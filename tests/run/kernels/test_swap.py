"""Swaps: a slow twin, whole matrices, exact answers at fixed composition and in mixtures."""

import itertools
import math

import numpy as np
import pytest

import heeler
from heeler.model import first_state
from naive import DRAW_PROPOSAL, DRAW_SITE, DRAW_VALUE, exponential, philox_words
from zoo import ZOO, all_states

SEED = 0x9E3779B97F4A7C15
KINDS = ["ising", "potts", "graph", "graph with zeros", "net", "chain", "lattice", "rbm"]


def groups_of(model):
    """List variables that have partners with theirs, in the order of numbers of values."""
    cards = np.asarray(model.cardinalities)
    order = sorted(model.free.tolist(), key=lambda i: (cards[i], i))
    groups = [[i for i in order if cards[i] == k] for k in sorted(set(cards.tolist()))]
    return [(i, group) for group in groups if len(group) > 1 for i in group]


def swapped(x, i, j):
    """Exchange two values."""
    y = list(x)
    y[i], y[j] = y[j], y[i]
    return y


@pytest.mark.parametrize("kind", KINDS)
def test_equals_slow_twin(kind):
    model = ZOO[kind](np.random.default_rng(4))
    sites = groups_of(model)
    beta, steps, passes = 1 / 1.3, 300, 4
    kernel = heeler.Swap(steps=steps)
    start = first_state(model, 1, 2)
    state = heeler.Swap(steps=steps)
    run = heeler.sample(
        model, kernel, sweeps=passes, chains=2, seed=SEED, init=start, keep="samples",
        temperature=1.3,
    )  # fmt: skip
    accepted = 0
    for lane in range(2):
        x = start[lane].tolist()
        for t in range(passes):
            draws = (DRAW_VALUE, DRAW_SITE, DRAW_PROPOSAL)
            words = zip(*(philox_words(SEED, t, d, lane, steps) for d in draws), strict=True)
            for word, site, proposal in words:
                i, group = sites[site * len(sites) >> 32]
                j = group[proposal * (len(group) - 1) >> 32]
                j = group[-1] if j == i else j
                y = swapped(x, i, j)
                gain = model.log_score(np.array(y)) - model.log_score(np.array(x))
                chance = 2**32 if gain >= 0 else int(exponential(beta * gain) * 2**32)
                if gain > -math.inf and word < chance and x[i] != x[j]:
                    x, accepted = y, accepted + 1
            assert run.samples[lane, t].tolist() == x
    assert run.stats["accepted"] == accepted > 0
    assert run.stats["proposals"] == 2 * passes * steps
    assert np.allclose(run.log_scores[:, -1], model.log_score(run.samples[:, -1]), atol=1e-9)
    assert state == kernel


@pytest.mark.parametrize("kind", KINDS)
def test_whole_matrix(kind):
    # The chance of every pair times the acceptance that the twin above draws with.
    model = ZOO[kind](np.random.default_rng(4))
    states = all_states(model)
    score = np.asarray(model.log_score(states))
    states, score = states[score > -np.inf], score[score > -np.inf]
    place = {tuple(x): k for k, x in enumerate(states.tolist())}
    pi = np.exp(score - score.max())
    pi /= pi.sum()
    sites = groups_of(model)
    p = np.zeros((len(states),) * 2)
    for k, x in enumerate(states.tolist()):
        for i, group in sites:
            for j in group:
                to = place.get(tuple(swapped(x, i, j)))
                if j == i or to is None or to == k:
                    continue
                gain = score[to] - score[k]
                chance = 2**32 if gain >= 0 else int(exponential(gain) * 2**32)
                p[k, to] += chance / 2**32 / len(sites) / (len(group) - 1)
    np.fill_diagonal(p, 1 - p.sum(axis=1))
    assert np.abs(pi @ p - pi).sum() < 2**-30
    flow = pi[:, None] * p
    assert np.abs(flow - flow.T).sum() < 2**-30
    assert p.diagonal().min() >= 0


def test_fixed_composition():
    # Three spins up among six: the distribution over those 20 states.
    model = ZOO["ising"](np.random.default_rng(1)).given({6: 0})
    states = np.array([x for x in itertools.product([0, 1], repeat=6) if sum(x) == 3])
    states = np.column_stack([states, np.zeros(20, int)])
    p = np.exp(model.log_score(states))
    p /= p.sum()
    for pairs in (None, "edges", list(itertools.combinations(range(6), 2))):
        run = heeler.sample(
            model, heeler.Swap(pairs), sweeps=4000, burn_in=50, init=[1, 1, 1, 0, 0, 0, 0], seed=1
        )
        for v in range(6):
            expected = p @ states[:, v]
            assert abs(run.marginals[v][1] - expected) < 6 * run.errors[v][1]
        assert run.marginals.array[:6, 1].sum() == pytest.approx(3.0)
        assert run.marginals[6].tolist() == [1.0, 0.0]


def test_mixture_reaches_everything(tmp_path):
    model = ZOO["potts"](np.random.default_rng(2))
    kernel = heeler.Mixture(["swap", "gibbs"], [1, 2])
    options = {"burn_in": 20, "seed": 3, "keep": ["joint", "pairs"]}
    run = heeler.sample(model, kernel, sweeps=4000, **options)
    exact = heeler.exact.marginals(model)
    for v in range(model.n_variables):
        assert (np.abs(run.marginals[v] - exact[v]) < 6 * run.errors[v] + 1e-3).all()
    part = heeler.sample(model, kernel, sweeps=1500, **options)
    part.save(tmp_path / "run.npz")
    again = heeler.load(tmp_path / "run.npz").resume(sweeps=2500)
    assert np.array_equal(again.marginals.array, run.marginals.array)
    assert np.array_equal(again.joint, run.joint)
    threads = [heeler.sample(model, "swap", sweeps=50, seed=1, threads=t).marginals for t in (1, 2)]
    assert np.array_equal(threads[0].array, threads[1].array)


def test_hard_constraints_are_crossed():
    # Two neighbours that must differ can only change places: no single update is possible.
    model = heeler.factor_graph([2, 2], [([0, 1], [[0.0, 1.0], [3.0, 0.0]])])
    run = heeler.sample(model, "swap", sweeps=4000, seed=1, keep="joint")
    assert run.joint[1, 0] == pytest.approx(0.75, abs=0.04)  # 16000 states: six errors of .006
    assert run.joint[0, 0] == run.joint[1, 1] == 0


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: heeler.Swap([]), "pairs"),
        (lambda: heeler.Swap("all"), "pairs"),
        (lambda: heeler.Swap(3), "pairs"),
        (lambda: heeler.Swap([(1, 2, 3)]), "pairs"),
        (lambda: heeler.Swap(steps=0), "steps"),
        (lambda: run_of([(0, 0)]), "pairs"),
        (lambda: run_of([(0, 1)]), "pairs"),
        (lambda: run_of([(0, 9)]), "9"),
        (lambda: heeler.sample(heeler.factor_graph([2, 3], []), "swap", sweeps=1), "swap"),
        (lambda: heeler.sample(heeler.Density(lambda _: 0.0, 2), heeler.Swap(), sweeps=1), "swap"),
    ],
)
def test_bad_input(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def run_of(pairs):
    """Run swaps on variables of which the first two have different numbers of values."""
    return heeler.sample(heeler.factor_graph([2, 3, 2], []), heeler.Swap(pairs), sweeps=1)
