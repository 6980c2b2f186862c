"""Whole transition matrices of small models leave the distribution invariant, to the quantisation.

One update's matrix is read off the engine: every state of the support is a lane, a pass updates one
variable, and the Rao-Blackwell sums are then the integers that the engine compares its words with.
A pass's matrix is the product (or average of products) along the order that the engine's scan has.
"""

import itertools

import numpy as np
import pytest

import heeler
from engines import general
from heeler.scan import Sequence, Uniform, Weighted
from zoo import ZOO, all_states

KINDS = sorted(set(ZOO) - {"lattice, 8", "torus", "torus, 8", "bonds", "ring"})


class Chain:
    """A model's support, its distribution, and the matrix of one update of each free variable."""

    def __init__(self, model, temperature=1.0, driver="random"):
        self.driver = driver
        states = all_states(model)
        score = np.asarray(model.log_score(states))
        self.model, self.states = model, states[score > -np.inf]
        weight = np.exp((score[score > -np.inf] - score.max()) / temperature)
        self.pi = weight / weight.sum()
        self.cards = np.asarray(model.cardinalities)
        self.place = {tuple(state): k for k, state in enumerate(self.states.tolist())}
        self.updates = {int(i): self._update(int(i), temperature) for i in model.free}
        # Rounding moves a probability by at most one unit; with K values the largest takes up to K.
        # Dense models round each of their weights to whole steps too, and a sigmoid is nowhere
        # steeper than 1/4.
        off = self.cards.max() * 2.0**-30 if self.kary else 2.0**-32
        if driver != "random":
            # A chance is a quotient of probabilities: its error is theirs over the smaller one.
            off *= 4
        self.tolerance = 2 * (off + self.steps / 4 * (len(self.cards) + 1) / 2)  # of one update

    def _update(self, i, temperature):
        engine = general(
            self.model,
            self.driver,
            scan=Sequence([i]),
            states=self.states,
            temperature=temperature,
        )
        engine.advance(1)
        self.kary = not engine.binary
        lowered = engine.plan.lowered
        self.steps = lowered.unit / temperature if hasattr(lowered.conditional, "fields") else 0.0
        sums = engine.sums()
        if engine.binary:
            rows = np.column_stack([1.0 - sums[:, i], sums[:, i]])
        else:
            rows = sums[:, engine.entry[i] : engine.entry[i] + self.cards[i]]
        matrix = np.zeros((len(self.states),) * 2)
        for k, state in enumerate(self.states.tolist()):
            chances = chances_of(self.driver, rows[k], state[i], engine.binary)
            for value, p in enumerate(chances):
                if p > 0:  # a possible value leads to a state of the support, or this is an error
                    state[i] = value
                    matrix[k, self.place[tuple(state)]] = p
        assert np.abs(matrix.sum(axis=1) - 1.0).max() <= (0.0 if self.driver == "random" else 1e-15)
        return matrix

    def imbalance(self, matrix):
        """Say how far the flow from any state to any other is from the flow back, in total."""
        flow = self.pi[:, None] * matrix
        return np.abs(flow - flow.T).sum()

    def along(self, order):
        """Multiply the updates in an order."""
        result = np.eye(len(self.states))
        for i in order:
            result = result @ self.updates[int(i)]
        return result

    def drift(self, matrix):
        """Say how far a pass moves the distribution, in total."""
        return np.abs(self.pi @ matrix - self.pi).sum()


def chances_of(driver, row, old, binary):
    """Count the words that lead from a value to each other one, given the engine's probabilities.

    The slow twins of these rules draw what the engine draws, bit for bit (test_general_twin).
    """
    if driver == "random":
        return row
    one = 2**32 if binary else 2**30
    p = [round(v * one) for v in row]
    chances = [0.0] * len(p)
    for new in range(len(p)):
        if new == old:
            continue
        if driver == "metropolis" or binary:
            # A word is taken if word * p(old) < p(new) * 2^32.
            words = min(-(-(p[new] << 32) // p[old]), 1 << 32)
            chances[new] = words / 2**32 / (len(p) - 1)
        else:
            chances[new] = int(p[new] / (one - min(p[new], p[old])) * one) / one
    chances[old] = 1.0 - sum(chances)
    return chances


def order_of(model, scan):
    """Read the order that an engine goes through."""
    return general(model, scan=scan).plan.scan.order.tolist()


def pass_matrix(chain, scan):
    """Build the matrix of a whole pass, and say how many updates it has."""
    model, free = chain.model, chain.model.free.tolist()
    if scan == "shuffled":
        assert sorted(order_of(model, scan)) == free
        orders = list(itertools.permutations(free))
        return sum(chain.along(order) for order in orders) / len(orders), len(free)
    if isinstance(scan, (Uniform, Weighted)):
        compiled = general(model, scan=scan).plan.scan
        share = np.zeros(len(compiled.order))
        for column, (accept, alias) in enumerate(
            zip(compiled.accept.tolist(), compiled.alias.tolist(), strict=True)
        ):
            share[column] += accept / 2**32
            share[alias] += 1 - accept / 2**32
        mean = sum(
            s * chain.updates[i]
            for s, i in zip(share / len(share), compiled.order.tolist(), strict=True)
        )
        return np.linalg.matrix_power(mean, scan.steps), scan.steps
    order = order_of(model, scan)
    return chain.along(order), len(order)


def scans_of(model):
    """List scans of a model."""
    n = model.n_variables
    weights = np.arange(n) % 3 * 0.7 + 0.1
    free = model.free.tolist()
    sequence = Sequence([free[0], free[-1], free[0], free[len(free) // 2]])
    return ["systematic", "reversed", "chromatic", sequence, Uniform(4), Weighted(weights, 3)]


def small(kind, seed=3):
    """Make a model of the zoo."""
    return ZOO[kind](np.random.default_rng(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_passes_leave_the_distribution_invariant(kind):
    chain = Chain(small(kind))
    for scan in scans_of(chain.model):
        matrix, updates = pass_matrix(chain, scan)
        assert chain.drift(matrix) <= updates * chain.tolerance
        assert np.abs(matrix - np.eye(len(matrix))).sum(axis=1).max() > 0.1  # it moves


@pytest.mark.parametrize("kind", ["ising", "graph with zeros", "boltzmann", "net"])
def test_with_evidence_and_temperature(kind):
    model = small(kind, 8)
    state = heeler.model.first_state(model, 0)[0]
    model = model.given({1: int(state[1]), 3: int(state[3])})
    chain = Chain(model, temperature=1.7)
    assert (chain.states[:, 1] == state[1]).all()
    for scan in scans_of(model):
        matrix, updates = pass_matrix(chain, scan)
        assert chain.drift(matrix) <= updates * chain.tolerance


@pytest.mark.parametrize("driver", ["metropolis", "modified"])
@pytest.mark.parametrize("kind", KINDS)
def test_metropolis_passes_leave_the_distribution_invariant(kind, driver):
    gibbs, chain = Chain(small(kind)), Chain(small(kind), driver=driver)
    for i, update in chain.updates.items():
        assert chain.imbalance(update) <= 2 * chain.tolerance  # detailed balance, every update
        if driver == "modified" or not chain.kary:
            # Peskun's order: no other value is less likely than with Gibbs sampling.
            more = update - gibbs.updates[i]
            np.fill_diagonal(more, 0.0)
            assert more.min() >= -chain.tolerance
    for scan in scans_of(chain.model):
        matrix, updates = pass_matrix(chain, scan)
        assert chain.drift(matrix) <= updates * chain.tolerance
    # A random scan keeps detailed balance, a systematic one does not.
    mean = sum(chain.updates.values()) / len(chain.updates)
    assert chain.imbalance(mean) <= 2 * chain.tolerance
    if kind in ("ising", "potts", "boltzmann", "chain"):  # others may fall into independent parts
        assert chain.imbalance(pass_matrix(chain, "systematic")[0]) > 1e-3


@pytest.mark.parametrize("kind", ["potts", "chain"])
def test_shuffled(kind):
    chain = Chain(small(kind))
    matrix, updates = pass_matrix(chain, "shuffled")
    assert chain.drift(matrix) <= updates * chain.tolerance


@pytest.mark.parametrize("kind", ["ising", "potts", "boltzmann"])
def test_jacobi_does_not(kind):
    chain = Chain(small(kind))
    matrix = np.ones((len(chain.states),) * 2)
    for i, update in chain.updates.items():
        # P(x -> y) is the product over i of the probability of y_i given x.
        values = chain.states[:, i]
        p = np.column_stack([update[:, values == v].sum(axis=1) for v in range(chain.cards[i])])
        matrix *= p[:, values]
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert chain.drift(matrix) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_conditionals_are_the_models(kind):
    chain = Chain(small(kind))
    model = chain.model
    for i, update in chain.updates.items():
        for k in range(0, len(chain.states), 7):
            expected = model.conditional(i, chain.states[k])
            found = [update[k, chain.states[:, i] == v].sum() for v in range(chain.cards[i])]
            assert np.abs(np.subtract(found, expected)).max() <= chain.tolerance
            assert ((np.array(found) > 0) == (expected > 0)).all()
