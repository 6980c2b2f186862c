"""Influence by brute force, slow and obvious, and random models of each kind to try it on."""

import itertools

import numpy as np

import heeler


def allowed_values(model):
    """List each variable's values that no factor of it alone forbids; a clamped one has its own."""
    clamped = [-1] * model.n_variables if model.evidence is None else model.evidence.tolist()
    allowed = []
    for v, (count, fixed) in enumerate(zip(model.cardinalities.tolist(), clamped, strict=True)):
        values = range(count) if fixed < 0 else [fixed]
        alone = [
            (scope, table)
            for scope, table in model.to_factor_graph().factors
            if [u for u in scope if clamped[u] < 0] == [v]
        ]
        allowed.append(
            [
                value
                for value in values
                if all(
                    table[tuple(value if u == v else clamped[u] for u in scope)] > -np.inf
                    for scope, table in alone
                )
            ]
        )
    return allowed


def brute_influence(model, temperature=1.0):
    """Compare the conditionals of all pairs of contexts that differ at one variable."""
    n, allowed = model.n_variables, allowed_values(model)
    clamped = np.full(n, -1) if model.evidence is None else model.evidence
    factors = list(model.to_factor_graph().factors)
    matrix = np.zeros((n, n))
    for i in np.flatnonzero(clamped < 0):
        mine = [(scope, table) for scope, table in factors if i in scope]
        conditional = {}
        contexts = [[0] if v == i else allowed[v] for v in range(n)]
        for x in itertools.product(*contexts):
            log_weights = np.array(
                [
                    sum(
                        (t[tuple(a if u == i else x[u] for u in scope)] for scope, t in mine),
                        start=0.0,
                    )
                    for a in allowed[i]
                ]
            )
            if np.isneginf(log_weights).all():
                log_weights[:] = 0.0
            weights = np.exp((log_weights - log_weights.max()) / temperature)
            conditional[x] = weights / weights.sum()
        for j in np.flatnonzero(clamped < 0):
            if j == i:
                continue
            for x, here in conditional.items():
                for value in allowed[j]:
                    if value > x[j]:
                        there = conditional[(*x[:j], value, *x[j + 1 :])]
                        matrix[i, j] = max(matrix[i, j], abs(here - there).sum() / 2)
    return matrix


def random_pairwise(random, n=5, values=3, strength=1.0):
    """Make a graph of pair tables and single tables, every variable with the same values."""
    factors = [([i], np.exp(random.normal(size=values))) for i in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        if random.random() < 0.7:
            table = np.exp(strength * random.normal(size=(values, values)))
            factors.append(([i, j], table))
    return heeler.factor_graph([values] * n, factors)


def random_spins(random, n=6, strength=1.0):
    """Make an Ising model with fields."""
    upper = np.triu(random.normal(size=(n, n)) * (random.random((n, n)) < 0.7), 1)
    return heeler.ising(strength * (upper + upper.T), random.normal(size=n))


def random_higher(random, n=5, order=4, sets=6, strength=0.5):
    """Make a binary model with products of up to `order` spins."""
    spin = np.array([-1.0, 1.0])
    factors = [([i], random.normal() * spin) for i in range(n)]
    for _ in range(sets):
        size = int(random.integers(2, order + 1))
        scope = random.choice(n, size, replace=False).tolist()
        product = spin
        for _ in range(size - 1):
            product = np.multiply.outer(product, spin)
        factors.append((scope, strength * random.normal() * product))
    return heeler.factor_graph([2] * n, factors, log=True)


def random_hard(random, n=5):
    """Make a model whose pair tables forbid things; the state of zeros is always possible."""
    counts = random.integers(2, 4, n)
    factors = []
    for i in range(n):
        single = random.random(counts[i]) + 0.1
        single[1:] *= random.random(counts[i] - 1) < 0.9
        factors.append(([i], single))
    for i, j in itertools.combinations(range(n), 2):
        if random.random() < 0.6:
            table = (random.random((counts[i], counts[j])) + 0.1) * (
                random.random((counts[i], counts[j])) < 0.7
            )
            table[0, 0] = 1.0
            factors.append(([i, j], table))
    return heeler.factor_graph(counts, factors)
