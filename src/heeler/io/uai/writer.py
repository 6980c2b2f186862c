"""Writing UAI model files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from heeler.io.files import split_name, write_bytes

if TYPE_CHECKING:
    from heeler.model.base import Model

__all__ = ["write"]


def write(model: Model, path: str | os.PathLike[str], *, log10: bool | None = None) -> None:
    """Write a model as a UAI file.

    A Bayesian network becomes a `BAYES` file, everything else the `MARKOV` file of its factor
    graph. Numbers have as many digits as it takes to read back the same floats. The format has no
    names.

    Parameters
    ----------
    model : Model
        The model, without evidence.
    path : str or path-like
        The file; `.gz` and `.xz` compress.
    log10 : bool, optional
        Whether to write logarithms of base 10. The default is to go by the name: `.LG` files have
        logarithms.
    """
    from heeler.io.writing import conditional_tables, refuse_evidence

    refuse_evidence(model)
    if log10 is None:
        log10 = split_name(path)[0] == ".lg"
    if getattr(model, "cpts", None) is not None:
        cpts = sorted(conditional_tables(model, "BAYES"), key=lambda cpt: cpt[0])
        functions = [((*parents, child), table) for child, parents, table in cpts]
        with np.errstate(divide="ignore"):
            tables = [np.log10(table) if log10 else table for _, table in functions]
        scopes = [scope for scope, _ in functions]
        kind = "BAYES"
    else:
        graph: Any = model.to_factor_graph()
        functions = [(tuple(scope), table) for scope, table in graph.factors]
        tables = [_table(table, number, log10) for number, (_, table) in enumerate(functions)]
        scopes = [scope for scope, _ in functions]
        kind = "MARKOV"
    lines = [kind, str(model.n_variables)]
    lines.append(" ".join(map(str, np.asarray(model.cardinalities).tolist())))
    lines.append(str(len(scopes)))
    lines += [" ".join(map(str, [len(scope), *map(int, scope)])) for scope in scopes]
    for table in tables:
        lines += ["", str(table.size), " ".join(map(repr, table.ravel().tolist()))]
    write_bytes(path, ("\n".join(lines) + "\n").encode("ascii"))


def _table(log_table: np.ndarray, number: int, log10: bool) -> np.ndarray:
    if log10:
        return np.asarray(log_table) / np.log(10.0)
    with np.errstate(over="ignore", under="ignore"):
        table = np.exp(log_table)
    lost = np.isinf(table) | ((table < np.finfo(float).tiny) & (log_table > -np.inf))
    if lost.any():
        value = float(np.asarray(log_table)[lost][0])
        raise ValueError(
            f"model must have weights that fit into floats to be written as .uai, got "
            f"exp({value:g}) in factor {number}; write "
            f"logarithms instead (log10=True, or a name with .LG)"
        )
    return table
