"""Small models for tests of the general loop, one for every compiled conditional, and twins."""

import numpy as np

import heeler
import naive_loop as naive


def symmetric(rng, n, density):
    """Make a random symmetric matrix with zero diagonal."""
    upper = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def make(kind):
    """Make a small model and its twin's conditional, at one temperature and at several."""
    rng = np.random.default_rng(len(kind))
    if kind == "couplings":
        model = heeler.ising(symmetric(rng, 7, 0.5), rng.normal(size=7))
        return model, naive.Couplings(model), naive.Couplings(model)
    if kind == "many couplings":  # degree 10: more than a table holds
        weights = symmetric(rng, 11, 0.3)
        weights[0, 1:] = weights[1:, 0] = rng.normal(size=10)
        model = heeler.ising(weights, rng.normal(size=11))
        return model, naive.Couplings(model), naive.Couplings(model)
    if kind == "dense":
        model = heeler.boltzmann(symmetric(rng, 6, 1.0), rng.normal(size=6))
        return (model, *[naive.Units(model.weights, model.bias)] * 2)
    if kind == "bipartite":
        model = heeler.rbm(rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4))
        whole = np.zeros((7, 7))
        whole[:3, 3:], whole[3:, :3] = model.weights, model.weights.T
        bias = np.concatenate([model.visible_bias, model.hidden_bias])
        return (model, *[naive.Units(whole, bias)] * 2)
    if kind == "potts":
        model = heeler.potts(symmetric(rng, 7, 1.0), 3, rng.normal(size=(7, 3)))
        return (model, *[naive.PottsOnTheFly(model)] * 2)
    cards, shape = (
        ([2] * 6, 0.0)
        if kind == "odds"
        else ([2] * 6, 0.3)
        if kind == "hard odds"
        else ([3, 2, 1, 4, 2, 3], 0.25)
    )
    factors = []
    for scope in ([0], [0, 1], [1, 2, 3], [3, 4], [4, 5], [0, 5], [5]):
        table = rng.random([cards[i] for i in scope]) + 0.05
        table[rng.random(table.shape) < shape] = 0.0
        table.flat[0] = 1.0
        factors.append((scope, table))
    if kind == "many factors":  # 4^8 contexts: more than a table holds
        cards += [4] * 8
        factors += [([3, 6 + k], rng.random((4, 4))) for k in range(8)]
    if kind == "wide factors":  # rows of 11 and 9 values, and two variables that need logarithms
        cards[1], cards[5] = 11, 9
        factors = [(s, rng.random([cards[i] for i in s]) + 0.05) for s, _ in factors]
        factors += [([3, 2], np.exp(rng.uniform(-700.0, 0.0, (4, cards[2]))))]
        factors += [([5, 2, 0], rng.random((9, cards[2], 3)))]
    model = heeler.factor_graph(cards, factors)
    if "odds" in kind:
        return model, naive.Factors(model, odds=True), naive.Factors(model, varies=True)
    return model, naive.Factors(model), naive.Factors(model, varies=True)
