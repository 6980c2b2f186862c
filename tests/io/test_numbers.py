"""Numbers from text: the same floats as Python's, and the line of a mistake."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heeler.io.errors import ReadError
from heeler.io.numbers import NumberText, count_tokens, parse_numbers


@given(st.lists(st.floats(allow_nan=False), max_size=30), st.sampled_from([" ", "\n", " \t\r\n"]))
def test_same_floats_as_python(values, blank):
    found = parse_numbers(blank.join(map(repr, values)).encode())
    assert found.tolist() == values


@given(st.text("0123456789.+-einfEINFay \n\t", max_size=12))
def test_agrees_with_float_on_every_text(text):
    try:
        expected = [float(word) for word in text.split()]
        if np.isnan(expected).any():
            expected = None
    except ValueError:
        expected = None
    found = parse_numbers(text.encode())
    assert (None if found is None else found.tolist()) == expected


@pytest.mark.parametrize("text", ["1_000", "0x10", "nan", "1\x002", "1,2", "1-2", "--1", "é"])
def test_refuses(text):
    assert parse_numbers(text.encode()) is None
    with pytest.raises(ReadError, match="line 3"):
        NumberText(f"5 6\n7\n{text}\n8".encode(), "file")


def test_counts_and_lines():
    text = b" 1 2\n\n3\r\n4 "
    assert count_tokens(text) == 4
    numbers = NumberText(text, "file")
    assert [numbers.line(position) for position in range(4)] == [1, 1, 3, 4]
    assert numbers.line(99) == 4
    assert NumberText(text, "file", 2, 7).values.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2", "found the end of the file"),
        ("1 2 2.5", "line 1: expected a value .an integer from 0 to 9., found 2.5"),
        ("1 2\n-1", "line 2"),
        ("1 2 10", "found 10"),
        ("1 2 inf", "found inf"),
    ],
)
def test_integers_are_checked(text, message):
    with pytest.raises(ReadError, match=message):
        NumberText(text.encode(), "file").integers(2, 1, 0, 9, "a value")
