"""Reading and writing UAI result files: PR, MAR, MPE."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from heeler.io.errors import ReadError
from heeler.io.files import MAX_BYTES, read_bytes, write_bytes
from heeler.io.numbers import NumberText
from heeler.io.uai.text import blank_comments, first_word

__all__ = [
    "Results",
    "parse_results",
    "read_results",
    "write_log_z",
    "write_marginals",
    "write_state",
]

_KINDS = ("PR", "MAR", "MPE", "MAP")
_BEGIN = b"-BEGIN-"


_Reader = Callable[[NumberText, int], tuple[Any, int]]


class Results(NamedTuple):
    """The content of a UAI result file.

    A solution is a float (natural log of Z) for PR, a list of arrays for MAR, and an int64 array
    for MPE. A solver that improves its answer writes one solution after the other; the last counts.
    """

    #: `"PR"`, `"MAR"` or `"MPE"`.
    kind: str
    #: For each solution in the file a list with one answer for each evidence set.
    solutions: list[list[Any]]

    @property
    def value(self) -> Any:
        """The last solution for the first evidence set."""
        return self.solutions[-1][0]


def read_results(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Results:
    """Read a UAI result file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int
        Limit on the text's size after decompression.

    Returns
    -------
    Results
        What kind of result, and the solutions.

    Raises
    ------
    ReadError
        If the file's content is not a result.
    """
    return parse_results(read_bytes(path, max_bytes), os.fspath(path))


def parse_results(data: bytes, path: str = "<data>") -> Results:
    """Return the results that are a file's text.

    Parameters
    ----------
    data : bytes
        The text.
    path : str
        The file's name, for messages.

    Returns
    -------
    Results
        What kind of result, and the solutions.
    """
    data = blank_comments(data)
    kind, start = first_word(data, path, _KINDS)
    kind = "MPE" if kind == "MAP" else kind
    solutions = []
    while True:
        stop = data.find(_BEGIN, start)
        end = stop if stop >= 0 else len(data)
        # Some writers put the separator before the first solution, too.
        if data[start:end].strip() or (stop < 0 and not solutions):
            solutions.append(_solution(kind, NumberText(data, path, start, end)))
        if stop < 0:
            break
        start = stop + len(_BEGIN)
    return Results(kind, solutions)


def _solution(kind: str, numbers: NumberText) -> list[Any]:
    """Return one answer for each evidence set; the count of sets may be written or not."""
    total = numbers.values.size
    reader: _Reader = {"PR": _log_z, "MAR": _marginals, "MPE": _state}[kind]
    try:
        value, end = reader(numbers, 0)
        if end == total:
            return [value]
        raise numbers.error("expected the end of the solution", end)
    except ReadError as plain:
        try:
            return _counted(numbers, reader)
        except ReadError:
            raise plain from None


def _counted(numbers: NumberText, reader: _Reader) -> list[Any]:
    total = numbers.values.size
    sets = int(numbers.integers(0, 1, 1, max(total, 1), "the number of evidence sets")[0])
    values = []
    position = 1
    for _ in range(sets):
        value, position = reader(numbers, position)
        values.append(value)
    if position != total:
        raise numbers.error("expected the end of the solution", position)
    return values


def _log_z(numbers: NumberText, position: int) -> tuple[float, int]:
    if position >= numbers.values.size:
        raise numbers.error("expected log10 of Z, found the end of the file", position)
    return float(numbers.values[position]) * math.log(10.0), position + 1


def _marginals(numbers: NumberText, position: int) -> tuple[list[np.ndarray], int]:
    total = numbers.values.size
    n = int(numbers.integers(position, 1, 0, total, "the number of variables")[0])
    position += 1
    marginals = []
    for variable in range(n):
        what = f"the cardinality of variable {variable}"
        cardinality = int(numbers.integers(position, 1, 1, total, what)[0])
        found = numbers.values[position + 1 : position + 1 + cardinality]
        if found.size < cardinality:
            raise numbers.error(f"expected {cardinality} probabilities", total)
        # References are rounded to a few digits; a little above 1 is no mistake.
        wrong = (found < 0) | (found > 1 + 1e-3)
        if wrong.any():
            where = int(np.argmax(wrong))
            message = f"expected a probability, found {float(found[where]):g}"
            raise numbers.error(message, position + 1 + where)
        marginals.append(found.copy())
        position += 1 + cardinality
    return marginals, position


def _state(numbers: NumberText, position: int) -> tuple[np.ndarray, int]:
    total = numbers.values.size
    n = int(numbers.integers(position, 1, 0, total, "the number of variables")[0])
    return numbers.integers(position + 1, n, 0, 2**16 - 1, "a value"), position + 1 + n


def write_log_z(path: str | os.PathLike[str], log_z: float) -> None:
    """Write a PR file, which has the logarithm of base 10.

    Parameters
    ----------
    path : str or path-like
        The file.
    log_z : float
        Natural logarithm of Z.
    """
    value = float(log_z)
    if math.isnan(value):
        raise ValueError(f"log_z must be a number, got {log_z!r}")
    write_bytes(path, f"PR\n{value / math.log(10.0)!r}\n".encode("ascii"))


def write_marginals(path: str | os.PathLike[str], marginals: Iterable[Any]) -> None:
    """Write a MAR file.

    Parameters
    ----------
    path : str or path-like
        The file.
    marginals : iterable of arrays
        Each variable's probabilities, in the model's order; NaN at a row's end is padding.
    """
    pieces = []
    for variable, row in enumerate(marginals):
        found = np.asarray(row, np.float64)
        found = found[: found.size - int(np.argmax(~np.isnan(found[::-1])))]
        if not found.size or np.isnan(found).any():
            raise ValueError(f"marginals must be probabilities, got NaN for variable {variable}")
        pieces.append(" ".join([str(found.size), *map(repr, found.tolist())]))
    write_bytes(path, "\n".join(["MAR", " ".join([str(len(pieces)), *pieces]), ""]).encode())


def write_state(path: str | os.PathLike[str], state: Sequence[int] | np.ndarray) -> None:
    """Write an MPE file.

    Parameters
    ----------
    path : str or path-like
        The file.
    state : sequence of int
        The value of each variable.
    """
    values = np.asarray(state)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"state must be one integer for each variable, got {state!r}")
    text = " ".join(map(str, [values.size, *values.tolist()]))
    write_bytes(path, f"MPE\n{text}\n".encode("ascii"))
