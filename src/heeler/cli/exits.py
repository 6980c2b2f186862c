"""Exit codes and messages that a script can rely on."""

from __future__ import annotations

import signal
import sys
from enum import IntEnum
from types import FrameType, TracebackType
from typing import Self

__all__ = ["Exit", "Interruption", "exit_code", "say"]


class Exit(IntEnum):
    """What the process's exit code says."""

    DONE = 0
    BAD_INPUT = 2
    TOO_WIDE = 3
    NO_STATE = 4
    INTERRUPTED = 130


def say(message: str) -> None:
    """Write a message to standard error.

    Parameters
    ----------
    message : str
        The message.
    """
    sys.stderr.write(f"heeler: {message}\n")


def exit_code(error: BaseException) -> Exit | None:
    """Return the exit code of an error that the user can cause.

    Parameters
    ----------
    error : exception
        The error.

    Returns
    -------
    Exit or None
        The code; None if the error is a mistake of the program and should be seen in full.
    """
    # Only now: the classes live beside the engines that raise them.
    from heeler import NoStateFound
    from heeler.exact import Contradiction, TooWide

    if isinstance(error, TooWide):
        return Exit.TOO_WIDE
    if isinstance(error, Contradiction | NoStateFound):
        return Exit.NO_STATE
    return Exit.BAD_INPUT if isinstance(error, ValueError | OSError) else None


class Interruption:
    """Remembers whether Ctrl-C was pressed while a block ran.

    A run that is interrupted returns what exists; this tells the command that it was cut short.
    """

    def __init__(self) -> None:
        self.happened = False
        self._previous = None

    def __enter__(self) -> Self:
        """Take over the signal, where this thread may."""
        self._previous = signal.getsignal(signal.SIGINT)
        if callable(self._previous):
            try:
                signal.signal(signal.SIGINT, self._note)
            except ValueError:  # not the main thread: nobody presses Ctrl-C here
                self._previous = None
        else:
            self._previous = None
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        if callable(self._previous):
            self._previous(number, frame)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the signal back."""
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
