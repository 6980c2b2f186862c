"""The one error that readers raise when a file's content is not what it should be."""

from __future__ import annotations

__all__ = ["ReadError"]


class ReadError(ValueError):
    """A file cannot be read as a model, as evidence or as a result.

    The message names the file, the line (where there is one) and what was expected there.

    Parameters
    ----------
    message : str
        What was expected and what was found.
    path : str
        The file, or a name for data that did not come from a file.
    line : int, optional
        The line in the decompressed text, counted from 1.

    Attributes
    ----------
    path : str
        The file.
    line : int or None
        The line.
    """

    def __init__(self, message: str, path: str = "<data>", line: int | None = None) -> None:
        place = path if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {message}")
        self.path = path
        self.line = line


def shown(text: str | bytes, limit: int = 40) -> str:
    """Return a piece of a file as it may safely appear in a message.

    Parameters
    ----------
    text : str or bytes
        The piece.
    limit : int
        Longer pieces are cut to this many characters.

    Returns
    -------
    str
        The quoted piece; control characters are escaped.
    """
    if isinstance(text, bytes):
        text = text[: limit + 1].decode("latin-1")
    return repr(text if len(text) <= limit else text[:limit] + "...")
