"""Puts tables between the markers of docs/accuracy.md, and figures beside it."""

import re
from pathlib import Path
from typing import Any

from accuracy_study.tables import TABLES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def tables(found: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Make all tables for which there are numbers.

    Parameters
    ----------
    found
        Study -> records.

    Returns
    -------
    dict
        Table's name -> Markdown.
    """
    return {name: make(found[study]) for name, (study, make) in TABLES.items() if study in found}


def fill(text: str, made: dict[str, str]) -> str:
    """Replace what stands between markers.

    Parameters
    ----------
    text
        A page with lines ``<!-- table NAME -->`` and ``<!-- end -->``.
    made
        Name -> Markdown.

    Returns
    -------
    str
        The page.
    """
    for name, table in made.items():
        pattern = rf"(<!-- table {re.escape(name)} -->\n).*?(<!-- end -->)"
        text, count = re.subn(
            pattern, lambda m, t=table: f"{m[1]}\n{t}\n\n{m[2]}", text, flags=re.DOTALL
        )
        if count != 1:
            raise ValueError(f"the page must have one marker of the table {name!r}. Got {count}.")
    return text


def write(found: dict[str, list[dict[str, Any]]]) -> None:
    """Write the page's tables and, where matplotlib is installed, the figures.

    Parameters
    ----------
    found
        Study -> records.
    """
    page = DOCS / "accuracy.md"
    page.write_text(fill(page.read_text(), tables(found)))
    try:
        from accuracy_study import figures
    except ImportError:
        print("matplotlib is not installed: figures are left as they are")
        return
    figures.draw(found, DOCS / "images")
