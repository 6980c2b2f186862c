"""Wrong input: an error from the first public call that names what is wrong."""

import numpy as np
import pytest

import heeler

INF, NAN = np.inf, np.nan
EYE = np.eye(2)
ONES = np.ones((2, 2))
FLIP = 1 - EYE


def _graph(*factors, counts=(2, 3), **more):
    return lambda: heeler.factor_graph(counts, factors, **more)


WRONG = {
    "empty model": (_graph(counts=()), "'cardinalities'"),
    "no value": (_graph(counts=(2, 0)), "Got 0 for variable 1"),
    "too many values": (_graph(counts=(65_537,)), "65536"),
    "table shape": (_graph(((0, 1), np.ones((3, 2)))), r"shape \(2, 3\)"),
    "flat table": (_graph(((0, 1), np.ones(5))), "6 entries"),
    "table NaN": (_graph(((0,), [1, NAN])), "Got nan"),
    "table infinite": (_graph(((0,), [1, INF])), "Got inf"),
    "log table infinite": (_graph(((0,), [1, INF]), log=True), "Got inf"),
    "log table NaN": (_graph(((0,), [1, NAN]), log=True), "Got nan"),
    "negative": (_graph(((0,), [1, -1])), "Got -1.0"),
    "all zero": (_graph(((1,), [1, 1, 1]), ((0,), [0, 0])), r"factor 1 over \[0\].*zero"),
    "all zero in logs": (_graph(((0,), [-INF, -INF]), log=True), "zero everywhere"),
    "zero constant": (_graph(((), 0.0)), "zero everywhere"),
    "scope out of range": (_graph(((2,), [1, 1])), "index from 0 to 1"),
    "negative scope": (_graph(((-1,), [1, 1, 1])), "index from 0 to 1"),
    "scope twice": (_graph(((0, 0), ONES)), "twice"),
    "unknown name": (_graph((("b",), [1, 1])), "'b'"),
    "few names": (_graph(names=["a"]), "'names'"),
    "same names": (_graph(names=["a", "a"]), "'a' twice"),
    "few value names": (_graph(value_names=[["a", "b"], ["a", "b"]]), "value_names"),
    "value names for all": (_graph(value_names=["a", "b"]), "variable 1 has 3"),
    "ragged": (_graph(((0, 1), [[1, 2], [1]])), "regular"),
    "missing cpt": (lambda: heeler.bayes_net([2, 2], [(0, [], [1, 0])]), "variable 1 no table"),
    "two cpts": (lambda: heeler.bayes_net([2], [(0, [], [1, 0])] * 2), "two tables"),
    "cycle": (
        lambda: heeler.bayes_net([2, 2], [(0, [1], EYE), (1, [0], EYE)]),
        "0 <- 1 <- 0",
    ),
    "own parent": (lambda: heeler.bayes_net([2], [(0, [0], EYE)]), "cycle"),
    "row sum": (lambda: heeler.bayes_net([2], [(0, [], [0.5, 0.6])]), "sum of 1.1"),
    "row NaN": (lambda: heeler.bayes_net([2], [(0, [], [0.5, NAN])]), "sum of nan"),
    "cpt negative": (lambda: heeler.bayes_net([2], [(0, [], [-0.5, 1.5])]), "not negative"),
    "no edge": (lambda: heeler.ising([]), "one variable or more"),
    "edge twice": (lambda: heeler.ising([(0, 1, 1.0), (1, 0, 1.0)]), r"\(0, 1\) twice"),
    "loop": (lambda: heeler.ising([(1, 1, 1.0)]), r"\(1, 1\)"),
    "diagonal": (lambda: heeler.ising(EYE), "itself"),
    "asymmetric": (lambda: heeler.ising([[0, 1.0], [2.0, 0]]), "1.0 at .*2.0 at"),
    "half symmetric": (
        lambda: heeler.ising([[0, 1.0, 0], [1.0, 0, 0], [0, 3.0, 0]]),
        r"0\.0 at \(1, 2\) and 3\.0 at \(2, 1\)",
    ),
    "not square": (lambda: heeler.ising(np.ones((2, 3))), r"\(2, 3\)"),
    "infinite coupling": (lambda: heeler.ising([(0, 1, INF)]), "finite"),
    "infinite in a matrix": (lambda: heeler.ising([[0, INF], [INF, 0]]), "finite"),
    "NaN field": (lambda: heeler.ising(FLIP, NAN), "'field'"),
    "field length": (lambda: heeler.ising(FLIP, [1, 2, 3]), "'field'|fit the"),
    "ragged field": (lambda: heeler.ising(FLIP, [[1, 2], [3]]), "'field'"),
    "negative end": (lambda: heeler.ising([(0, -1, 1.0)]), "indices from 0"),
    "few weights": (lambda: heeler.ising(([0, 1], [1, 2], [1.0])), "as many"),
    "outside": (lambda: heeler.ising([(0, 5, 1.0)], n_variables=3), "fit the 3"),
    "pair of mapping": (lambda: heeler.ising({(0, 1, 2): 1.0}), "pairs"),
    "no number of values": (lambda: heeler.potts(FLIP), "'n_values'"),
    "potts field": (lambda: heeler.potts(FLIP, 3, np.ones((2, 2))), r"\(2, 3\)"),
    "potts all forbidden": (lambda: heeler.potts(FLIP, 2, [-INF, -INF]), "leave every"),
    "potts infinite": (lambda: heeler.potts(FLIP, 2, [INF, 0]), "Got inf"),
    "one dimension": (lambda: heeler.lattice((5,), 1.0), "two or three"),
    "no extent": (lambda: heeler.lattice((5, 0), 1.0), "positive"),
    "neighbours": (lambda: heeler.lattice((5, 5), 1.0, neighbours=6), "'neighbours'"),
    "8 in a box": (lambda: heeler.lattice((3, 3, 3), 1.0, neighbours=8), "'neighbours'"),
    "lattice infinite": (lambda: heeler.lattice((5, 5), INF), "'coupling'"),
    "lattice field": (lambda: heeler.lattice((5, 5), 1.0, np.ones(5)), "'field'"),
    "directions": (lambda: heeler.lattice((5, 5), (1.0, 1.0, 1.0)), "2 directions"),
    "bonds": (lambda: heeler.lattice((2, 3), (np.ones((2, 3)), 1.0)), r"\(1, 3\)"),
    "boltzmann asymmetric": (lambda: heeler.boltzmann([[0, 1.0], [0, 0]]), "symmetric"),
    "boltzmann diagonal": (lambda: heeler.boltzmann(EYE), "diagonal"),
    "rbm bias": (lambda: heeler.rbm(np.ones((2, 3)), [1, 2, 3]), "'visible_bias'"),
    "chain without edge": (lambda: heeler.chain(np.zeros((3, 2))), "'edge'"),
    "chain edge": (lambda: heeler.chain(np.zeros((3, 2)), np.zeros((3, 2, 2))), r"\(2, 2, 2\)"),
    "chain forbidden": (lambda: heeler.chain([[0, 0], [-INF, -INF]], EYE), "table 1"),
    "skip to itself": (
        lambda: heeler.chain(np.zeros((3, 2)), EYE, [(1, 1, EYE)]),
        "two different",
    ),
    "skip table": (
        lambda: heeler.chain(np.zeros((3, 2)), EYE, [(0, 2, np.eye(3))]),
        r"\(2, 2\)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_values_are_named(case):
    make, text = WRONG[case]
    with pytest.raises(ValueError, match=text):
        make()


WRONG_TYPES = {
    "words in a table": _graph(((0,), ["a", "b"])),
    "numbers as words": _graph(((0,), np.array(["1", "2"]))),
    "complex": _graph(((0,), [1j, 2])),
    "not a pair": _graph(3),
    "float cardinalities": _graph(counts=[2.5]),
    "names as one word": _graph(names="ab"),
    "numbers as names": _graph(names=[1, 2]),
    "float ends": lambda: heeler.ising([(0.5, 1, 1.0)]),
    "word coupling": lambda: heeler.lattice((3, 3), "strong"),
    "periodic": lambda: heeler.lattice((3, 3), 1.0, periodic=(True, False)),
    "float shape": lambda: heeler.lattice((3.0, 3), 1.0),
    "float values": lambda: heeler.potts(FLIP, 2.0),
    "cpt of two": lambda: heeler.bayes_net([2], [(0, [])]),
    "skip of two": lambda: heeler.chain(np.zeros((3, 2)), EYE, [(0, 2)]),
}


@pytest.mark.parametrize("case", WRONG_TYPES)
def test_wrong_types_are_refused(case):
    with pytest.raises(TypeError):
        WRONG_TYPES[case]()


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ([0, 3], ValueError),
        ([0, -1], ValueError),
        ([0], ValueError),
        ([[[0, 0]]], ValueError),
        (np.array([0, 2**64 - 1], np.uint64), ValueError),
        ([0.0, 1.0], TypeError),
        (["0", "1"], TypeError),
    ],
)
def test_wrong_states_are_refused(state, error):
    model = heeler.factor_graph([2, 3], [((0, 1), np.ones(6))])
    for ask in (model.log_score, lambda s: model.conditional(0, s)):
        with pytest.raises(error, match="'state'"):
            ask(state)


def test_a_conditional_outside_the_support_is_an_error():
    model = heeler.factor_graph([2, 2, 2], [((0, 1), EYE), ((0, 2), EYE)])
    with pytest.raises(ValueError, match="leave a value possible"):
        model.conditional(0, [0, 0, 1])


def test_trivial_models_are_legal():
    single = heeler.factor_graph([1], [])
    assert single.log_score([0]) == 0
    assert single.conditional(0, [0]).tolist() == [1.0]
    lonely = heeler.ising([], n_variables=3)
    assert lonely.blanket(1).size == 0
    assert heeler.chain([[1.0, 2.0]]).log_score([1]) == 2.0
    assert heeler.factor_graph([2], [((), 3.0)]).log_score([0]) == pytest.approx(np.log(3))
