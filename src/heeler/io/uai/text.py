"""What all UAI files have in common: comments and the first word."""

from __future__ import annotations

import re

from heeler.io.errors import ReadError, shown

__all__ = ["blank_comments", "first_word"]

_COMMENT = re.compile(rb"#[^\n]*|^[ \t]*c(?:[^\n]*)", re.MULTILINE)
_WORD = re.compile(rb"\s*(\S+)")


def blank_comments(data: bytes) -> bytes:
    """Return the text with its comments turned into blanks, every line where it was.

    Parameters
    ----------
    data : bytes
        The text.

    Returns
    -------
    bytes
        The text without comments, of the same length.
    """
    if b"#" not in data and b"c" not in data:
        return data
    return _COMMENT.sub(lambda found: b" " * len(found.group()), data)


def first_word(data: bytes, path: str, expected: tuple[str, ...]) -> tuple[str, int]:
    """Return the first word of a file and where it ends.

    Parameters
    ----------
    data : bytes
        The text without comments.
    path : str
        The file's name, for messages.
    expected : tuple of str
        The words that are allowed, in upper case.

    Returns
    -------
    word : str
        The word found, in upper case.
    end : int
        Position of the first byte after it.
    """
    found = _WORD.match(data)
    names = " or ".join(expected)
    if found is None:
        raise ReadError(f"expected {names}, found an empty file", path)
    word = found.group(1).upper()
    line = data.count(b"\n", 0, found.start(1)) + 1
    if len(word) > 16 or word.decode("latin-1") not in expected:
        raise ReadError(f"expected {names}, found {shown(found.group(1))}", path, line)
    return word.decode("ascii"), found.end()
