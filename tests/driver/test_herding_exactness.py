"""Herding keeps its promises exactly, in integers: the paper's Lemma 3 and Tijdeman's theorem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heeler
from engines import general
from heeler.driver import Herded

ONE, KARY_ONE = 1 << 32, 1 << 30


def lonely(probabilities, starts):
    """Make an engine of lone binary variables with any integer p and first weights."""
    # A table with a zero makes the engine hold P(1) in 64 bits, so that 2^32 fits.
    model = heeler.factor_graph(
        [2] * len(probabilities), [([i], [1.0, float(i % 2)]) for i in range(len(probabilities))]
    )
    engine = general(model, Herded(), context="neighbours")
    table, weights = engine.plan.lowered.conditional.table.copy(), engine.plan.memory.weights
    assert table.dtype == np.uint64
    assert table.shape == weights.shape[1:]
    table[:] = probabilities
    engine.plan = _with_table(engine.plan, table)
    weights[:] = starts
    return engine


def _with_table(plan, table):
    """Replace the table of a plan."""
    from dataclasses import replace

    return replace(
        plan,
        lowered=replace(plan.lowered, conditional=plan.lowered.conditional._replace(table=table)),
    )


weight = st.integers(0, ONE - 1) | st.sampled_from([0, 1, ONE // 2, ONE - 1])
probability = st.integers(0, ONE) | st.sampled_from([0, 1, 2, ONE // 2, ONE // 3, ONE - 1, ONE])


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(probability, weight), min_size=2, max_size=40),
    st.lists(st.integers(1, 3000), max_size=4),
)
def test_lemma_3(cases, pieces):
    p = [case[0] for case in cases]
    w = [case[1] for case in cases]
    engine = lonely(p, w)
    for passes in [1, 1, *pieces]:
        engine.advance(passes)
        for i, count in enumerate(engine.chain.sums[0].tolist()):
            assert count == (w[i] + engine.passes * p[i]) // ONE
            assert abs(count * ONE - engine.passes * p[i]) < ONE


def test_lemma_3_for_ten_million_passes():
    rng = np.random.default_rng(1)
    p = [0, 1, ONE - 1, ONE, ONE // 2, *rng.integers(0, ONE, 3).tolist()]
    w = [ONE - 1, ONE - 1, 0, 0, ONE // 2, *rng.integers(0, ONE, 3).tolist()]
    engine = lonely(p, w)
    for passes in (1, 999_999, 9_000_000):
        engine.advance(passes)
        for i, count in enumerate(engine.chain.sums[0].tolist()):
            assert abs(count * ONE - engine.passes * p[i]) < ONE
            assert count == (w[i] + engine.passes * p[i]) // ONE
    assert engine.chain.sums[0][0] == 0  # what is impossible never happens
    assert engine.chain.sums[0][3] == 10_000_000  # what is certain always does


def test_best_start_is_one_half():
    # From one half the count is the nearest whole number to T p: never further than a half.
    rng = np.random.default_rng(2)
    p = rng.integers(0, ONE + 1, 50).tolist()
    engine = lonely(p, ONE // 2)
    for _ in range(200):
        engine.advance(1)
        for i, count in enumerate(engine.chain.sums[0].tolist()):
            assert 2 * abs(count * ONE - engine.passes * p[i]) <= ONE


def rows_and_engine(tables, rule):
    """Read the integer rows of variables without neighbours, and make the herded engine."""
    model = heeler.factor_graph([len(t) for t in tables], [([i], t) for i, t in enumerate(tables)])
    random = general(model)
    random.advance(1)
    rows = (random.sums()[0] * KARY_ONE).astype(np.int64)
    return rows, general(model, Herded(rule=rule), context="neighbours")


def many_tables(seed):
    """Make rows of 1 to 12 values: smooth, spiky, with zeros, certain, equal."""
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.ones(k) * a) for k in (2, 3, 4, 6, 12) for a in (0.2, 1.0, 20.0)]
    for k in (3, 5, 12):
        row = rng.dirichlet(np.ones(k))
        row[rng.choice(k, k // 2, replace=False)] = 0.0
        tables += [row, np.eye(k)[1], np.full(k, 1.0 / k)]
    return [*tables, np.ones(1)]


@pytest.mark.parametrize("rule", ["argmax", "tijdeman"])
def test_counts_of_many_values(rule):
    tables = many_tables(3)
    p, engine = rows_and_engine(tables, rule)
    count = np.repeat([len(t) for t in tables], [len(t) for t in tables])
    possible = np.concatenate(tables) > 0
    assert (p[possible] >= 1).all()
    assert (np.add.reduceat(p, engine.entry) == KARY_ONE).all()
    slack = np.where(count > 1, KARY_ONE // np.maximum(2 * count - 2, 1), 0)
    worst = 0.0
    for t in range(3000):
        engine.advance(1 if t < 2900 else 1000)
        counts = engine.chain.sums[0].astype(np.int64)
        off = counts * KARY_ONE - engine.passes * p
        assert (counts[p == 0] == 0).all()
        assert (counts[p == KARY_ONE] == engine.passes).all()
        # Exactly the weights, which start from zero.
        assert (engine.plan.memory.weights[0] == -off).all()
        if rule == "argmax":
            # The largest of K weights that sum to one is at least 1/K, so no value is ahead by more
            # than 1 - 1/K.
            assert (off * count <= KARY_ONE * (count - 1)).all()
        else:
            # The bound in integers: 1/(2K - 2) is rounded down, by less than one unit of 2^-30.
            assert (np.abs(off) <= KARY_ONE - slack).all()
        worst = max(worst, np.abs(off).max() / KARY_ONE)
    assert worst < (0.96 if rule == "tijdeman" else 1.5)


def test_both_rules_of_two_values_are_the_carry():
    # Binary variables have one rule: the carry already keeps Tijdeman's bound of 1/2.
    model = heeler.ising([[0.0, 0.4], [0.4, 0.0]], [0.3, -0.2])
    engines = [
        general(model, Herded(rule=rule), context="neighbours") for rule in ("argmax", "tijdeman")
    ]
    for engine in engines:
        engine.advance(100)
    assert (engines[0].sums() == engines[1].sums()).all()


@pytest.mark.parametrize("seed", range(4))
def test_theorem_1_fails_for_rational_p_and_full_contexts_cure_it(seed):
    # Two coins that do not touch each other: herded apart they move in lock-step for ever, from any
    # first weights, so that two of the four joint states never occur (FACTS 2.5, item 10).
    model = heeler.ising(np.zeros((2, 2)))
    joint = {}
    for context in ("neighbours", "full"):
        engine = general(model, Herded(start="random"), context=context, seed=seed, joint=True)
        engine.advance(4000)
        joint[context] = engine.watch.joint[0].tolist()
    assert sorted(joint["neighbours"]) == [0, 0, 2000, 2000]
    assert joint["neighbours"][0] == joint["neighbours"][3]
    assert max(joint["full"]) - min(joint["full"]) <= 4
