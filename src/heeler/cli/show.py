"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "plain",
    "print_json",
    "print_line",
    "print_table",
    "probabilities_by_name",
    "state_by_name",
]

#: Rows of a table for people; programs get all of them.
MAX_ROWS = 50


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    Parameters
    ----------
    value
        Numbers, arrays, mappings, sequences; anything else becomes its text.

    Returns
    -------
    object
        The same with plain types; numbers that JSON does not know become null.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object.

    Parameters
    ----------
    content : mapping
        The object.
    """
    text = json.dumps(plain(content), allow_nan=False, ensure_ascii=False)
    # Names from a file may be what the terminal's encoding lacks; JSON has its own way to say them.
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{text}\n" if _fits(text, encoding) else f"{json.dumps(plain(content))}\n")


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], total: int
) -> None:
    """Print a table, cut if it is long.

    Parameters
    ----------
    title : str
        What the table shows.
    columns : sequence of str
        The heads.
    rows : iterable of sequences of str
        The rows, made only as far as they are shown.
    total : int
        How many rows there are.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    for _, row in zip(range(MAX_ROWS), rows, strict=False):
        table.add_row(*map(escape, row))
    console = Console()
    # As a line of its own: a title inside is broken at the width of a narrow table.
    console.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
    console.print(table)
    if total > MAX_ROWS:
        console.print(f"… and {total - MAX_ROWS} more, use --json")


def print_line(text: str) -> None:
    """Print a line below a table, as long as it is.

    Parameters
    ----------
    text : str
        The line.
    """
    sys.stdout.write(f"{text}\n")


def probabilities_by_name(model: Any, rows: Any) -> dict[str, dict[str, float]]:
    """Return numbers for each variable's values by name.

    Parameters
    ----------
    model : Model
        The model.
    rows : object
        `rows[v]` has the numbers of variable v's values.

    Returns
    -------
    dict
        `{variable: {value: number}}`.
    """
    return {
        name: dict(zip(model.value_names[v], np.asarray(rows[v]).tolist(), strict=True))
        for v, name in enumerate(model.names)
    }


def state_by_name(model: Any, state: Any) -> dict[str, str]:
    """Return a state by name.

    Parameters
    ----------
    model : Model
        The model.
    state : sequence of int
        The value of each variable.

    Returns
    -------
    dict
        `{variable: value}`.
    """
    values = np.asarray(state).tolist()
    return {name: model.value_names[v][values[v]] for v, name in enumerate(model.names)}
