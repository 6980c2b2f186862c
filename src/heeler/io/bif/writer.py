"""Writing BIF files."""

from __future__ import annotations

import itertools
import os
import re
from typing import TYPE_CHECKING

import numpy as np

from heeler.io.files import write_bytes

if TYPE_CHECKING:
    from heeler.model.bayes_net import BayesNet

__all__ = ["write"]

# Names that every reader we know takes without quotes.
_PLAIN = re.compile(r"[A-Za-z0-9_.<>=+\-/*%:~^@$&']+")


def write(model: BayesNet, path: str | os.PathLike[str], name: str = "unknown") -> None:
    """Write a Bayesian network as a BIF file.

    Probabilities are written with as many digits as it takes to read back the same floats.

    Parameters
    ----------
    model : BayesNet
        The network, without evidence.
    path : str or path-like
        The file; `.gz` and `.xz` compress.
    name : str
        The network's name.
    """
    from heeler.io.writing import conditional_tables, refuse_evidence

    refuse_evidence(model)
    cpts = conditional_tables(model, "BIF")
    names = [_quoted(text) for text in model.names]
    values = [[_quoted(text) for text in model.value_names[v]] for v in range(model.n_variables)]
    lines = [f"network {_quoted(name)} {{", "}"]
    for variable, labels in zip(names, values, strict=True):
        lines.append(f"variable {variable} {{")
        lines.append(f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};")
        lines.append("}")
    for child, parents, table in cpts:
        rows = np.asarray(table, np.float64).reshape(-1, table.shape[-1]).tolist()
        given = f" | {', '.join(names[parent] for parent in parents)}" if parents else ""
        lines.append(f"probability ( {names[child]}{given} ) {{")
        if parents:
            heads = itertools.product(*[values[parent] for parent in parents])
            for head, row in zip(heads, rows, strict=True):
                lines.append(f"  ({', '.join(head)}) {', '.join(map(repr, row))};")
        else:
            lines.append(f"  table {', '.join(map(repr, rows[0]))};")
        lines.append("}")
    write_bytes(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _quoted(name: str) -> str:
    """Return a name as it must stand in the file."""
    if _PLAIN.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    if '"' in name or "\n" in name or "\r" in name:
        raise ValueError(f"names must have no quotes and no line breaks in BIF, got {name!r}")
    return f'"{name}"'
