"""Whole matrices of mixtures, cycles and swaps: pi P = pi, and balance where it should hold."""

import numpy as np
import pytest

import heeler
from zoo import ZOO

KERNELS = {
    "mixture": (heeler.Mixture([heeler.SingleSite("metropolis", "uniform"), "swap"], [1, 3]), True),
    "cycle": (heeler.Cycle(["gibbs", heeler.SingleSite("modified")], [2, 1]), False),
    "nested": ("cycle(swap, mixture(metropolis: 2, cycle(gibbs, modified: 2): 1))", False),
    "swap": (heeler.Swap(steps=3), True),
    "edges": (heeler.Swap("edges", steps=2), True),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["graph with zeros", "ising", "potts", "net", "box"])
def test_invariant(kind, name):
    model = ZOO[kind](np.random.default_rng(4))
    kernel, balanced = KERNELS[name]
    if name == "edges" and kind in ("graph with zeros", "net"):
        kernel = heeler.Swap(steps=2)  # few edges join variables with equally many values there
    matrix = heeler.lab.transition_matrix(model, kernel)
    pi = matrix.target
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(pi @ matrix - pi).sum() <= matrix.tolerance + 1e-14
    flow = pi[:, None] * matrix.toarray()
    if balanced:
        assert np.abs(flow - flow.T).sum() <= 2 * matrix.tolerance + 1e-13
    elif kind in ("ising", "potts"):
        assert np.abs(flow - flow.T).sum() > 1e-4


def test_the_engine_goes_where_the_matrix_says():
    model = ZOO["potts"](np.random.default_rng(4))
    kernel = heeler.Cycle(["swap", heeler.SingleSite("metropolis")])
    matrix = heeler.lab.transition_matrix(model, kernel).toarray()
    start, chains = 100, 20_000
    first = heeler.lab.transition_matrix(model, kernel).states[start]
    state = kernel.advance(kernel.init(model, chains, 5, first))
    place = np.ravel_multi_index(tuple(state.values.T), model.cardinalities)
    found = np.bincount(place, minlength=len(matrix)) / chains
    # Five standard deviations of a share, and one chain more where shares are tiny.
    bound = 5 * np.sqrt(matrix[start] * (1 - matrix[start]) / chains) + 3 / chains
    assert (np.abs(found - matrix[start]) <= bound).all()


def test_parts_and_temperature():
    model = ZOO["ising"](np.random.default_rng(4))
    parts = [heeler.lab.transition_matrix(model, k, temperature=2.0) for k in ("gibbs", "swap")]
    mixed = heeler.lab.transition_matrix(model, "mixture(gibbs: 1, swap: 3)", temperature=2.0)
    assert np.allclose(mixed.toarray(), 0.25 * parts[0].toarray() + 0.75 * parts[1].toarray())
    cycle = heeler.lab.transition_matrix(model, "cycle(gibbs: 2, swap)", temperature=2.0)
    product = parts[0].toarray() @ parts[0].toarray() @ parts[1].toarray()
    assert np.allclose(cycle.toarray(), product)
    assert "0.25 x (Gibbs" in mixed.description
    hot = parts[1]
    assert np.abs(hot.target @ hot - hot.target).sum() < 1e-12
    analysis = heeler.lab.analyse(model, "swap")
    assert not analysis.irreducible  # the number of ones never changes
