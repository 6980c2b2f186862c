"""Fresh processes: what they print, and the seconds they take."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import heeler
from suite.timing import processor_seconds

CHILD = Path(__file__).with_name("child.py")


def _run(arguments: list[str], cache: str | None) -> str:
    """Run this Python with this heeler."""
    source = str(Path(heeler.__file__).resolve().parents[1])
    environment = os.environ | {"PYTHONPATH": source}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    # The program is this very Python, its arguments are those of this package.
    done = subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        raise RuntimeError(f"a process for measuring ended with:\n{done.stderr}")
    return done.stdout


def ask(*arguments: str) -> dict[str, Any]:
    """Let a fresh process measure itself.

    Parameters
    ----------
    arguments
        Those of `child.py`.

    Returns
    -------
    dict
        Its answer.
    """
    return json.loads(_run([str(CHILD), *arguments], None))


def seconds_of(program: str, cache: str) -> tuple[float, float]:
    """Time a program in a fresh process, the interpreter's start included.

    Parameters
    ----------
    program
        Its text.
    cache
        Folder for compiled code.

    Returns
    -------
    float, float
        CPU seconds, and seconds on the wall.
    """
    start, wall = processor_seconds(), time.perf_counter()
    _run(["-c", program], cache)
    return processor_seconds() - start, time.perf_counter() - wall
