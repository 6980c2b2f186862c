"""Viterbi and forward-backward against the junction tree and brute force."""

import math

import numpy as np
import pytest

import heeler
from heeler import exact

from .brute import Counted


def random_chains(rng, count=30, zeros=0.15):
    chains = []
    while len(chains) < count:
        length, labels = rng.integers(1, 7), rng.choice([1, 2, 3])
        node = rng.normal(size=(length, labels))
        edge = rng.normal(size=(length - 1, labels, labels))
        edge[rng.random(edge.shape) < zeros] = -np.inf
        try:
            chain = heeler.chain(node, edge)
        except ValueError:  # a table of zeros only
            continue
        if rng.random() < 0.4:
            v = int(rng.integers(length))
            chain = chain.given({v: int(rng.integers(labels))})
        if Counted(chain).z > 0:
            chains.append(chain)
    return chains


def test_a_mixed_batch_agrees_with_brute_force():
    chains = random_chains(np.random.default_rng(11))
    states, scores = exact.viterbi(chains)
    smoothed = exact.forward_backward(chains)
    for chain, state, score, found in zip(chains, states, scores, smoothed, strict=True):
        counted = Counted(chain)
        assert score == pytest.approx(math.log(counted.best), abs=1e-12)
        assert chain.log_score(state) == pytest.approx(score, abs=1e-12)
        assert found.log_z == pytest.approx(math.log(counted.z), abs=1e-12)
        length = chain.n_variables
        assert found.edge.shape == (length - 1, *[chain.node.shape[1]] * 2)
        for t in range(length):
            np.testing.assert_allclose(found.node[t], counted.marginal(t), atol=1e-13)
        for t in range(length - 1):
            np.testing.assert_allclose(found.edge[t], counted.marginal(t, t + 1), atol=1e-13)
        np.testing.assert_allclose(
            found.node, exact.marginals(chain).array[:, : chain.node.shape[1]], atol=1e-13
        )


def test_one_chain_gives_what_a_list_gives():
    chain = random_chains(np.random.default_rng(12), 1)[0]
    state, score = exact.viterbi(chain)
    states, scores = exact.viterbi([chain])
    np.testing.assert_array_equal(state, states[0])
    assert (score, state.dtype) == (scores[0], np.int64)
    assert exact.forward_backward(chain).log_z == exact.forward_backward([chain])[0].log_z
    assert exact.viterbi([]) == ([], [])
    assert exact.forward_backward([]) == []


def test_skips_go_through_the_junction_tree():
    rng = np.random.default_rng(13)
    node, edge = rng.normal(size=(6, 2)), rng.normal(size=(5, 2, 2))
    skipped = heeler.chain(node, edge, skip=[(0, 4, rng.normal(size=(2, 2)) * 3)])
    plain = heeler.chain(node, edge)
    states, scores = exact.viterbi([plain, skipped])
    assert scores[1] == pytest.approx(math.log(Counted(skipped).best), abs=1e-12)
    assert skipped.log_score(states[1]) == pytest.approx(scores[1], abs=1e-12)
    with pytest.raises(ValueError, match="1 skip factors in chain 1"):
        exact.forward_backward([plain, skipped])


def test_impossible_chains_are_named():
    edge = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    good = heeler.chain(np.zeros((2, 2)), edge)
    bad = good.given({0: 0, 1: 1})
    for ask in (exact.viterbi, exact.forward_backward):
        with pytest.raises(exact.Contradiction, match="chain 1"):
            ask([good, bad])


def test_long_chains_do_not_underflow():
    chain = heeler.chain(np.full((3000, 2), -700.0), np.zeros((2999, 2, 2)))
    assert exact.forward_backward(chain).log_z == pytest.approx(3000 * (math.log(2) - 700))
    assert exact.viterbi(chain)[1] == pytest.approx(-700 * 3000)


def test_what_is_no_chain_is_refused():
    with pytest.raises(TypeError, match="chain"):
        exact.viterbi(3)
    with pytest.raises(TypeError, match="place 1"):
        exact.viterbi([heeler.chain(np.zeros((1, 2))), "abc"])
