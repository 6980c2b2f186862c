"""`heeler info`: how large, how connected and how hard a model is."""

from __future__ import annotations

from typing import Any

import numpy as np

from heeler.cli import options as o
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_table

__all__ = ["info"]

# The elimination order of a graph with more edges takes longer than a look should.
_MAX_EDGES = 200_000
# `neighbours` keeps at most so many weights a variable before `auto` turns to bins.
_MAX_CONTEXTS = 256


def info(
    model: o.ModelFile,
    evidence: o.Evidence = None,
    memory_limit: o.MemoryLimit = 1.0,
    json: o.Json = False,
) -> None:
    """Print a model's sizes, degrees, width and colours, and which driver fits it."""
    ready = load_model(model, evidence)
    graph = _graph(ready)
    content = {
        "model": describe(ready, model),
        "sizes": _sizes(ready),
        "graph": graph,
        "exact": _exact(ready, graph["edges"], memory_limit),
    }
    content["recommended"] = _recommended(ready, content)
    if json:
        print_json(content)
        return
    rows = [
        (f"{part} {key}".replace("_", " "), _text(value))
        for part in ("sizes", "graph", "exact", "recommended")
        for key, value in content[part].items()
    ]
    print_table(repr(ready), ["what", "value"], rows, len(rows))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sizes(model: Any) -> dict[str, Any]:
    cardinalities, counts = np.unique(model.cardinalities, return_counts=True)
    sizes: dict[str, Any] = {
        "variables": model.n_variables,
        "free_variables": len(model.free),
        "variables_of_cardinality": dict(zip(cardinalities.tolist(), counts.tolist(), strict=True)),
    }
    for name, attribute in (("factors", "n_factors"), ("table_entries", "log_tables")):
        value = getattr(model, attribute, None)
        if value is not None:
            sizes[name] = int(np.size(value)) if isinstance(value, np.ndarray) else int(value)
    sizes["hard_zeros"] = bool(model.has_zeros)
    return sizes


def _graph(model: Any) -> dict[str, Any]:
    """Return degrees and colours of the graph of free variables."""
    from heeler.scan import colour

    pointer, index = model.adjacency()
    free = np.zeros(model.n_variables, bool)
    free[model.free] = True
    rows = np.repeat(np.arange(model.n_variables), np.diff(pointer))
    inside = free[rows] & free[index]
    degree = np.bincount(rows[inside], minlength=model.n_variables)[free]
    if degree.size == 0:
        return {"edges": 0, "degree_mean": 0.0, "degree_max": 0, "colours": 0}
    colours = colour(pointer, index, np.flatnonzero(free))
    return {
        "edges": int(inside.sum()) // 2,
        "degree_mean": float(degree.mean()),
        "degree_max": int(degree.max()),
        "colours": int(colours.max()) + 1,
    }


def _exact(model: Any, edges: int, memory_limit: float) -> dict[str, Any]:
    """Return the junction tree's width and memory."""
    import heeler

    if edges > _MAX_EDGES:
        return {"possible": None, "reason": f"not looked at with more than {_MAX_EDGES} edges"}
    width = heeler.exact.width(model)
    return {
        "possible": bool(width.bytes <= memory_limit * 2**30),
        "induced_width": int(width.induced_width),
        "largest_table": int(width.largest_table),
        "bytes": int(width.bytes),
    }


def _recommended(model: Any, content: dict[str, Any]) -> dict[str, str]:
    """Return which driver fits, and why."""
    if content["exact"]["possible"]:
        return {"driver": "none", "reason": "the junction tree is narrow: use --exact"}
    if content["sizes"]["hard_zeros"]:
        reason = "herding loses its advantage where states are impossible"
        return {"driver": "random", "reason": reason}
    # The largest number of joint values around one variable, in logarithms against overflow.
    pointer, index = model.adjacency()
    logs = np.concatenate([[0.0], np.cumsum(np.log(model.cardinalities)[index])])
    around = float((logs[pointer[1:]] - logs[pointer[:-1]]).max())
    if around <= np.log(_MAX_CONTEXTS) + 1e-9:
        reason = "few values around each variable: marginals and pairs by herding"
        return {"driver": "herded", "context": "neighbours", "reason": reason}
    reason = "many values around a variable: marginals by herding in bins, pairs by random"
    return {"driver": "herded", "context": "binned(64)", "reason": reason}
