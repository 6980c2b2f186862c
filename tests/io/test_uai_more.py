"""UAI evidence, queries and results."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heeler.io import ReadError, uai
from heeler.io.uai.evidence import parse_evidence
from heeler.io.uai.results import parse_results


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", [{}]),
        ("", [{}]),
        ("c nothing\n", [{}]),
        ("2 1 0 3 1", [{1: 0, 3: 1}]),
        ("2\n1 0\n3 1\n", [{1: 0, 3: 1}]),
        ("1\n2 1 0 3 1", [{1: 0, 3: 1}]),
        ("1\n0", [{}]),
        ("2\n1 4 0\n2 1 0 3 1\n", [{4: 0}, {1: 0, 3: 1}]),
        ("3\n0\n0\n1 4 2", [{}, {}, {4: 2}]),
        # Fits both dialects; a first number on a line of its own counts sets.
        ("2\n1 3 1\n0\n", [{3: 1}, {}]),
        ("2 1 3 1 0\n", [{1: 3}]),
    ],
)
def test_dialects(text, expected):
    if text == "2 1 3 1 0\n":
        with pytest.raises(ReadError, match="one value for variable 1"):
            parse_evidence(text.encode())
    else:
        assert parse_evidence(text.encode()) == expected


@pytest.mark.parametrize(
    "text", ["2 1 0 3", "1", "1 2", "5 1 0", "-1 0", "1 x 0", "1 1 0.5", "3\n0"]
)
def test_bad_evidence(text):
    with pytest.raises(ReadError):
        parse_evidence(text.encode())


def test_evidence_for_a_model():
    assert parse_evidence(b"1 2 3", [2, 2, 4]) == [{2: 3}]
    with pytest.raises(ReadError, match="line 2: expected a variable"):
        parse_evidence(b"1\n3 0", [2, 2, 4])
    with pytest.raises(ReadError, match=r"value of variable 0 .an integer from 0 to 1., found 2"):
        parse_evidence(b"1 0 2", [2, 2, 4])


evidence_sets = st.dictionaries(st.integers(0, 50), st.integers(0, 5), max_size=6)


@given(st.lists(evidence_sets, min_size=1, max_size=4), st.booleans())
def test_evidence_round_trip(tmp_path_factory, sets, several):
    path = tmp_path_factory.getbasetemp() / "round.evid"
    uai.write_evidence(path, sets if several else sets[0])
    assert uai.read_evidence(path) == (sets if several else sets[:1])


def test_evidence_must_be_indices(tmp_path):
    with pytest.raises(ValueError, match="evidence must map indices"):
        uai.write_evidence(tmp_path / "a.evid", {"smoke": 1})
    with pytest.raises(ValueError, match="evidence must map indices"):
        uai.write_evidence(tmp_path / "a.evid", {0: -1})


def test_query(tmp_path):
    path = tmp_path / "a.query"
    path.write_text("3 4 0 2\n")
    assert uai.read_query(path, 5) == [4, 0, 2]
    for text in ("3 4 0", "3 4 0 2 1", "", "1 5"):
        path.write_text(text)
        with pytest.raises(ReadError):
            uai.read_query(path, 5)


def test_results_round_trip(tmp_path):
    path = tmp_path / "a.result"
    uai.write_log_z(path, -12.5)
    assert uai.read_results(path).kind == "PR"
    assert uai.read_results(path).value == pytest.approx(-12.5, rel=1e-15)
    assert float(path.read_text().split()[1]) == pytest.approx(-12.5 / math.log(10))
    rows = np.array([[0.25, 0.75, np.nan], [0.1, 0.2, 0.7]])
    uai.write_marginals(path, rows)
    found = uai.read_results(path)
    assert found.kind == "MAR"
    assert [row.tolist() for row in found.value] == [[0.25, 0.75], [0.1, 0.2, 0.7]]
    uai.write_state(path, np.array([1, 0, 12], np.uint8))
    assert path.read_text() == "MPE\n3 1 0 12\n"
    assert uai.read_results(path).value.tolist() == [1, 0, 12]


def test_results_of_others():
    assert parse_results(b"PR\n1\n-3\n").value == pytest.approx(-3 * math.log(10))
    assert parse_results(b"PR\n-inf\n").value == -math.inf
    text = b"MPE\n-BEGIN-\n1\n2 0 0\n-BEGIN-\n1\n2 0 1\n"
    found = parse_results(text)
    assert [solution[0].tolist() for solution in found.solutions] == [[0, 0], [0, 1]]
    assert found.value.tolist() == [0, 1]
    two = parse_results(b"MAR\n2\n1 2 .5 .5\n1 2 .25 .75\n")
    assert [answer[0].tolist() for answer in two.solutions[-1]] == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    "text",
    ["", "PR", "PR x", "PR 1 2 3", "MAR 1 2 .5", "MAR 1 2 .5 -.5", "MAR 1 2 .5 7", "MPE 2 1",
     "MPE 1 1 1 1", "MPE\n1 0\n-BEGIN-\n1", "MAR 99999999 1 1", "SOL 1"],
)  # fmt: skip
def test_bad_results(text):
    with pytest.raises(ReadError):
        parse_results(text.encode())


def test_many_solutions_are_read_in_one_pass():
    # Quadratic reading would take minutes for this.
    text = b"MPE\n" + b"-BEGIN-\n2 0 1\n" * 20_000
    assert len(parse_results(text).solutions) == 20_000


def test_bad_values_to_write(tmp_path):
    with pytest.raises(ValueError, match="log_z"):
        uai.write_log_z(tmp_path / "a", math.nan)
    with pytest.raises(ValueError, match="variable 1"):
        uai.write_marginals(tmp_path / "a", [[0.5, 0.5], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="state"):
        uai.write_state(tmp_path / "a", [0.5])
    assert not (tmp_path / "a").exists()
