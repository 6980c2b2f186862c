"""Many numbers from free-form text, at the speed of numpy and with the line of a mistake."""

from __future__ import annotations

import re
import warnings

import numpy as np

from heeler.io.errors import ReadError, shown

__all__ = ["NumberText", "count_tokens", "parse_numbers"]

# str.translate and the like would accept control characters between 0x1c and 0x1f as blanks; a
# number file has no business with them.
_BLANKS = b" \t\n\r\v\f"
_NUMBER_CHARACTERS = b"0123456789+-.eEinfINFtyTYaA"
_NUMBER = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
_NOT_A_NUMBER = re.compile(rb"(?<!\S)(?!" + _NUMBER + rb"(?!\S))\S+")


def _is_token_start(data: bytes) -> np.ndarray:
    filled = np.frombuffer(data, np.uint8) > 32
    start = filled.copy()
    start[1:] &= ~filled[:-1]
    return start


def count_tokens(data: bytes) -> int:
    """Return how many pieces without blanks a text has.

    Parameters
    ----------
    data : bytes
        The text.

    Returns
    -------
    int
        The number of pieces.
    """
    return int(np.count_nonzero(_is_token_start(data)))


def parse_numbers(data: bytes) -> np.ndarray | None:
    """Return all numbers of a text that has nothing but numbers and blanks.

    Parameters
    ----------
    data : bytes
        The text.

    Returns
    -------
    array of float64, or None
        The numbers; None if something else is among them. NaN counts as something else.
    """
    if data.translate(None, _BLANKS + _NUMBER_CHARACTERS):
        return None
    expected = count_tokens(data)
    # numpy finds one number in a text of blanks.
    if expected == 0:
        return np.empty(0)
    with warnings.catch_warnings():
        # Older numpy warns of what newer numpy refuses; the count tells in either case.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            values = np.fromstring(data, dtype=np.float64, sep=" ")
        except ValueError:
            return None
    if values.size != expected or np.isnan(values).any():
        return None
    return values


class NumberText:
    """The numbers of a text and where each of them stands.

    Parameters
    ----------
    data : bytes
        The text, comments already blanked.
    path : str
        The file's name, for messages.
    start, end : int
        Where in `data` the numbers begin and end; the default end is that of the text.

    Attributes
    ----------
    values : array of float64
        The numbers.
    """

    def __init__(self, data: bytes, path: str, start: int = 0, end: int | None = None) -> None:
        self._data = data
        self._start = start
        self._end = len(data) if end is None else end
        self.path = path
        values = parse_numbers(data[start : self._end])
        if values is None:
            raise self._not_a_number()
        self.values: np.ndarray = values

    def _not_a_number(self) -> ReadError:
        wrong = _NOT_A_NUMBER.search(self._data, self._start, self._end)
        if wrong is None:
            return ReadError("expected numbers", self.path)
        line = self._data.count(b"\n", 0, wrong.start()) + 1
        return ReadError(f"expected a number, found {shown(wrong.group())}", self.path, line)

    def line(self, position: int) -> int:
        """Return the line of a number, or the last line for a position past the end.

        Parameters
        ----------
        position : int
            Which number, counted from 0.

        Returns
        -------
        int
            The line, counted from 1.
        """
        text = self._data[self._start : self._end]
        starts = np.flatnonzero(_is_token_start(text))
        offset = int(starts[position]) if position < starts.size else len(text.rstrip())
        return self._data.count(b"\n", 0, self._start + offset) + 1

    def error(self, message: str, position: int) -> ReadError:
        """Return an error that points at a number.

        Parameters
        ----------
        message : str
            What was expected and found.
        position : int
            Which number, counted from 0; past the end means the end of the file.

        Returns
        -------
        ReadError
            The error, to be raised by the caller.
        """
        return ReadError(message, self.path, self.line(position))

    def integers(self, first: int, count: int, low: int, high: int, what: str) -> np.ndarray:
        """Return some of the numbers as integers within bounds.

        Parameters
        ----------
        first, count : int
            Which numbers.
        low, high : int
            The smallest and the largest that is allowed.
        what : str
            What the numbers are, for messages.

        Returns
        -------
        array of int64
            The integers.

        Raises
        ------
        ReadError
            If the file ends before, or a number is no integer or out of bounds.
        """
        if first + count > self.values.size:
            raise self.error(f"expected {what}, found the end of the file", self.values.size)
        found = self.values[first : first + count]
        wrong = (found < low) | (found > high) | (found != np.floor(found))
        if wrong.any():
            position = int(np.argmax(wrong))
            value = float(found[position])
            message = f"expected {what} (an integer from {low} to {high}), found {value:g}"
            raise self.error(message, first + position)
        return found.astype(np.int64)
