"""Reading and writing UAI evidence and query files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from heeler.io.errors import ReadError
from heeler.io.files import MAX_BYTES, read_bytes, write_bytes
from heeler.io.numbers import NumberText
from heeler.io.uai.text import blank_comments

__all__ = ["parse_evidence", "read_evidence", "read_query", "write_evidence"]

_MAX_INDEX = 2**31 - 1


def read_evidence(
    path: str | os.PathLike[str],
    cardinalities: Sequence[int] | np.ndarray | None = None,
    *,
    max_bytes: int = MAX_BYTES,
) -> list[dict[int, int]]:
    """Read a UAI evidence file.

    Both dialects are understood: the number of observed variables and then pairs of variable and
    value, or the same after a first line with the number of evidence sets. A file that fits both
    is taken as the second if its first number has a line of its own. An empty file, or a lone 0,
    is one set without evidence.

    Parameters
    ----------
    path : str or path-like
        The file; gzip and xz are unpacked.
    cardinalities : sequence of int, optional
        How many values each variable of the model has; variables and values are then checked.
    max_bytes : int
        Limit on the text's size after decompression.

    Returns
    -------
    list of dict
        For each evidence set the observed variables and their values.

    Raises
    ------
    ReadError
        If the file's content is not evidence, or not for this model.
    """
    return parse_evidence(read_bytes(path, max_bytes), cardinalities, os.fspath(path))


def parse_evidence(
    data: bytes,
    cardinalities: Sequence[int] | np.ndarray | None = None,
    path: str = "<data>",
) -> list[dict[int, int]]:
    """Return the evidence sets of a file's text.

    Parameters
    ----------
    data : bytes
        The text.
    cardinalities : sequence of int, optional
        How many values each variable of the model has.
    path : str
        The file's name, for messages.

    Returns
    -------
    list of dict
        For each evidence set the observed variables and their values.
    """
    data = blank_comments(data)
    numbers = NumberText(data, path)
    total = numbers.values.size
    if total == 0:
        return [{}]
    numbers.integers(0, total, 0, _MAX_INDEX, "a count, a variable or a value")
    values = [int(value) for value in numbers.values.tolist()]
    plain = _chunks(values, 0, 1)
    counted = _chunks(values, 1, values[0])
    if counted is not None and plain is not None:
        first_line = data.lstrip().split(b"\n", 1)[0]
        plain = None if len(first_line.split()) == 1 and values != [0] else plain
    chosen = plain if plain is not None else counted
    if chosen is None:
        message = (
            f"expected a count of observed variables and as many pairs of variable and value, "
            f"found {values[0]} as the count and {total - 1} numbers after it"
        )
        raise ReadError(message, path, numbers.line(0))
    return [_pairs(numbers, values, a, b, cardinalities) for a, b in chosen]


def _chunks(values: list[int], position: int, sets: int) -> list[tuple[int, int]] | None:
    """Return where the pairs of each set begin and end if the file is exactly that many sets."""
    chunks = []
    for _ in range(sets):
        if position >= len(values):
            return None
        end = position + 1 + 2 * values[position]
        chunks.append((position + 1, end))
        position = end
    return chunks if position == len(values) and chunks else None


def _pairs(
    numbers: NumberText,
    values: list[int],
    first: int,
    end: int,
    cardinalities: Sequence[int] | np.ndarray | None,
) -> dict[int, int]:
    evidence: dict[int, int] = {}
    for position in range(first, end, 2):
        variable, value = values[position], values[position + 1]
        if cardinalities is not None:
            n = len(cardinalities)
            numbers.integers(position, 1, 0, n - 1, "a variable")
            high = int(cardinalities[variable]) - 1
            numbers.integers(position + 1, 1, 0, high, f"a value of variable {variable}")
        if evidence.setdefault(variable, value) != value:
            message = f"expected one value for variable {variable}, found two"
            raise numbers.error(message, position)
    return evidence


def write_evidence(
    path: str | os.PathLike[str],
    evidence: Mapping[int, int] | Sequence[Mapping[int, int]],
) -> None:
    """Write a UAI evidence file.

    Parameters
    ----------
    path : str or path-like
        The file.
    evidence : mapping, or sequence of mappings
        Variables (as indices) and their values. One mapping is written without, a sequence with
        the line that counts the sets.
    """
    several = not isinstance(evidence, Mapping)
    sets: Sequence[Mapping[int, int]] = evidence if several else [evidence]  # type: ignore[assignment]
    lines = [str(len(sets))] if several else []
    for one in sets:
        pairs = []
        for variable, value in one.items():
            for name, number in (("variable", variable), ("value", value)):
                if not isinstance(number, (int, np.integer)) or not 0 <= number <= _MAX_INDEX:
                    raise ValueError(
                        f"evidence must map indices to values from 0 on, got the {name} {number!r}"
                    )
            pairs.append(f" {variable} {value}")
        lines.append(f"{len(pairs)}{''.join(pairs)}")
    write_bytes(path, ("\n".join(lines) + "\n").encode("ascii"))


def read_query(
    path: str | os.PathLike[str], n_variables: int | None = None, *, max_bytes: int = MAX_BYTES
) -> list[int]:
    """Read a UAI query file: the variables a question is about.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_variables : int, optional
        How many variables the model has; the indices are then checked.
    max_bytes : int
        Limit on the text's size after decompression.

    Returns
    -------
    list of int
        The variables.

    Raises
    ------
    ReadError
        If the file's content is not a query, or not for this model.
    """
    name = os.fspath(path)
    numbers = NumberText(blank_comments(read_bytes(path, max_bytes)), name)
    total = numbers.values.size
    count = int(numbers.integers(0, 1, 0, max(total, 1), "the number of variables")[0])
    high = _MAX_INDEX if n_variables is None else n_variables - 1
    variables = numbers.integers(1, count, 0, high, "a variable").tolist()
    if total != count + 1:
        raise numbers.error(f"expected the end of the file after {count} variables", count + 1)
    return variables
