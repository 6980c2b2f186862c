"""Exit codes and messages that a script can rely on."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

__all__ = ["Exit", "exit_code", "say", "was_interrupted"]


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


def was_interrupted(run: Any) -> bool:
    """Return whether a run was cut short by Ctrl-C, and say so if it was.

    Parameters
    ----------
    run : Run
        The result, which has what existed by then.

    Returns
    -------
    bool
        Whether to end with the exit code of an interruption.
    """
    interrupted = bool(run.stats.get("interrupted"))
    if interrupted:
        say("interrupted: what follows is what there was by then")
    return interrupted
