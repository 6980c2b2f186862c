"""Brute force, written to be obvious: random small models and their answers by counting."""

import itertools

import numpy as np

import heeler


def random_model(rng, variables=6, factors=8, arity=3, zeros=0.2, clamped=0, low=1, high=4):
    """Make a factor graph with mixed cardinalities, zeros and a positive state.

    Returns the model with evidence (agreeing with the positive state) and the positive state.
    """
    cards = rng.integers(low, high + 1, variables)
    state = np.array([rng.integers(k) for k in cards])
    listed = []
    for _ in range(factors):
        scope = rng.choice(variables, size=rng.integers(1, arity + 1), replace=False)
        table = rng.exponential(size=cards[scope])
        table[rng.random(table.shape) < zeros] = 0.0
        table[tuple(state[scope])] = 0.5 + rng.random()
        listed.append((scope.tolist(), table))
    model = heeler.factor_graph(cards, listed)
    chosen = rng.choice(variables, size=clamped, replace=False)
    return model.given({int(v): int(state[v]) for v in chosen}) if clamped else model


class Counted:
    """All answers about a small model, by summing over its states one by one."""

    def __init__(self, model):
        cards = [int(k) for k in model.cardinalities]
        graph = model.to_factor_graph()
        factors = [(scope, np.exp(table)) for scope, table in graph.factors]
        self.joint = np.zeros(cards)
        for state in itertools.product(*map(range, cards)):
            weight = 1.0
            for scope, table in factors:
                weight *= table[tuple(state[v] for v in scope)]
            evidence = model.evidence
            if evidence is not None:
                weight *= all(e in (-1, x) for e, x in zip(evidence, state, strict=True))
            self.joint[state] = weight
        self.z = self.joint.sum()
        self.best = self.joint.max()
        if self.z > 0:
            self.joint /= self.z

    def marginal(self, *variables):
        """Sum the joint over all other variables; axes as asked for."""
        others = tuple(v for v in range(self.joint.ndim) if v not in variables)
        table = self.joint.sum(axis=others)
        return table.transpose(np.argsort(np.argsort(variables)))
