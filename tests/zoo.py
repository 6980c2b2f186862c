"""Small random models of every representation, for tests that hold for all of them."""

from collections.abc import Callable

import numpy as np

import heeler
from heeler.model import Model


def _graph(random: np.random.Generator, zeros: float) -> Model:
    counts = random.integers(1, 5, 6)
    factors = []
    for size in (0, 1, 1, 2, 2, 3, 3):
        scope = random.choice(6, size, replace=False)
        table = random.random(counts[scope]) + 0.05
        table = np.where(random.random(counts[scope]) < zeros, 0.0, table)
        table.flat[0] = 1.0  # so that the state 0, 0, ... is always possible
        factors.append((scope.tolist(), table))
    return heeler.factor_graph(counts, factors)


def _net(random: np.random.Generator) -> Model:
    counts = random.integers(1, 4, 6)
    order = random.permutation(6)
    cpts = []
    for place, child in enumerate(order):
        parents = order[:place][random.random(place) < 0.4]
        table = random.random((*counts[parents], counts[child])) + 0.01
        table[..., 1:] *= random.random(table[..., 1:].shape) < 0.6
        cpts.append((int(child), parents.tolist(), table / table.sum(axis=-1, keepdims=True)))
    return heeler.bayes_net(counts, cpts)


def _symmetric(random: np.random.Generator, n: int, density: float = 1.0) -> np.ndarray:
    upper = np.triu(random.normal(size=(n, n)) * (random.random((n, n)) < density), 1)
    return upper + upper.T


def _chain(random: np.random.Generator) -> Model:
    node = random.normal(size=(5, 3))
    node[random.random(node.shape) < 0.1] = -np.inf
    node[:, 0] = 0.0
    edge = random.normal(size=(4, 3, 3) if random.random() < 0.5 else (3, 3))
    edge[..., 1, 2] = -np.inf
    skip = [(0, 3, random.normal(size=(3, 3))), (4, 1, random.normal(size=(3, 3)))]
    return heeler.chain(node, edge, skip)


ZOO: dict[str, Callable[[np.random.Generator], Model]] = {
    "graph": lambda r: _graph(r, 0.0),
    "graph with zeros": lambda r: _graph(r, 0.3),
    "net": _net,
    "ising": lambda r: heeler.ising(_symmetric(r, 7, 0.5), r.normal(size=7)),
    "potts": lambda r: heeler.potts(_symmetric(r, 5, 0.6), 3, r.normal(size=(5, 3))),
    "potts, one field": lambda r: heeler.potts(_symmetric(r, 5), field=[0.1, -np.inf, 0.7]),
    "lattice": lambda r: heeler.lattice((3, 3), r.normal(), r.normal()),
    "lattice, 8": lambda r: heeler.lattice((2, 4), r.normal(), r.normal(size=8), neighbours=8),
    "torus": lambda r: heeler.lattice((3, 3), r.normal(), r.normal(size=(3, 3)), periodic=True),
    "torus, 8": lambda r: heeler.lattice((3, 3), r.normal(), periodic=True, neighbours=8),
    "ring": lambda r: heeler.lattice((1, 5), r.normal(), r.normal(), periodic=True),
    "box": lambda r: heeler.lattice((2, 2, 2), r.normal(), 0.2, neighbours=6),
    "bonds": lambda r: heeler.lattice((3, 3), (r.normal(size=(2, 3)), r.normal(size=(3, 2)))),
    "boltzmann": lambda r: heeler.boltzmann(_symmetric(r, 6, 0.7), r.normal(size=6)),
    "rbm": lambda r: heeler.rbm(r.normal(size=(3, 4)), r.normal(size=3), r.normal(size=4)),
    "chain": _chain,
}


def all_states(model: Model) -> np.ndarray:
    """List all states of a small model, the last variable fastest."""
    counts = tuple(model.cardinalities.tolist())
    return np.stack(np.unravel_index(np.arange(np.prod(counts)), counts), axis=1)
