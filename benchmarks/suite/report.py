"""The figures as lines for people and as JSON for programs."""

import json
import math
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import heeler
from suite.figure import AT_LEAST, Figure
from suite.timing import Speed

HEADER = f"{'':62s} {'measured':>9s} {'target':>9s}"


def line(figure: Figure, *, judged: bool) -> str:
    """Write one figure as a line.

    Parameters
    ----------
    figure
        The figure.
    judged
        Whether to say where it falls short.

    Returns
    -------
    str
        Name, value, target, mark, note.
    """
    sign = ">=" if figure.limit == AT_LEAST else "<="
    target = "" if figure.target is None else f"{sign} {figure.target:g}"
    mark = "  SHORT" if judged and figure.met is False else ""
    rate = "" if figure.rate is None else f"{figure.rate / 1e6:.4g} M updates/s"
    notes = "; ".join(note for note in (rate, figure.note) if note)
    value = f"{figure.value:.4g}"
    text = f"{figure.name:62s} {value:>9s} {target:>9s} {figure.unit:12s}{mark:7s}  {notes}"
    return text.rstrip()


def summary(figures: list[Figure]) -> str:
    """Say how many targets are reached and which are not.

    Parameters
    ----------
    figures
        All figures.

    Returns
    -------
    str
        A few lines.
    """
    judged = [figure for figure in figures if figure.met is not None]
    short = [figure for figure in judged if not figure.met]
    lines = [f"{len(judged) - len(short)} of {len(judged)} targets reached."]
    lines += [
        f"  short: {f.name}: {f.value:.4g} {f.unit}, wanted {f.limit} {f.target:g}" for f in short
    ]
    return "\n".join(lines)


def as_json(figures: dict[str, list[Figure]], speed: Speed, *, quick: bool) -> dict[str, Any]:
    """Put all figures and what they were measured with into one object.

    Parameters
    ----------
    figures
        Group -> figures.
    speed
        The stopwatch, which knows the reference's speed.
    quick
        Whether this was a quick run, whose numbers mean little.

    Returns
    -------
    dict
        Plain values only; a number that is not known is null.
    """
    rows = [
        {
            "group": group,
            "name": figure.name,
            "value": None if math.isnan(figure.value) else figure.value,
            "unit": figure.unit,
            "target": figure.target,
            "limit": None if figure.target is None else figure.limit,
            "met": figure.met,
            "updates_per_second": figure.rate,
            "note": figure.note,
        }
        for group, found in figures.items()
        for figure in found
    ]
    return {
        "quick": quick,
        "versions": {
            "heeler": heeler.__version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "numba": version("numba"),
        },
        "processor": processor(),
        "processors": os.cpu_count(),
        "reference_updates_per_second": speed.fastest or None,
        "figures": rows,
    }


def processor() -> str:
    """Name the processor as well as the system can."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for text in info.read_text().splitlines():
            if text.startswith("model name"):
                return text.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def write(path: Path, content: dict[str, Any]) -> None:
    """Write the JSON file."""
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
