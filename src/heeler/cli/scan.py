"""`heeler scan`: the order of updates that is best for what is asked, and what it guarantees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from heeler.cli import options as o
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_line, print_table

__all__ = ["scan"]

Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME[=WEIGHT]",
        help="A variable that is asked; may be repeated. All of them if none is given.",
        show_default=False,
    ),
]
Length = Annotated[
    int | None,
    typer.Option(
        help="Steps of the scan; one pass if nothing is given.", min=1, show_default=False
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="The guarantee wanted: find the shortest scan.", show_default=False),
]
Start = Annotated[
    str,
    typer.Option("--start", help="The scan that optimising begins with.", metavar="NAME|FILE"),
]
Method = Annotated[
    str,
    typer.Option(help="Influence: auto, exact, binary or oscillation.", metavar="NAME"),
]
Rounds = Annotated[bool, typer.Option("--iterated", help="Save the iterated scan.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it.", show_default=False)
]
Saved = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Save the scan.", show_default=False),
]


def scan(
    model: o.ModelFile,
    target: Targets = None,
    length: Length = None,
    epsilon: Epsilon = None,
    evidence: o.Evidence = None,
    start: Start = "systematic",
    method: Method = "auto",
    temperature: o.Temperature = 1.0,
    iterated: Rounds = False,
    plot: Plot = None,
    json: o.Json = False,
    output: Saved = None,
) -> None:
    """Optimise the scan for some variables and print what scans guarantee.

    The guarantee bounds how far a Gibbs sampler can be from its target after the scan, whatever
    it began with. The saved scan is for `heeler marginals --restart --scan FILE`.
    """
    import heeler

    ready = load_model(model, evidence)
    influence = heeler.influence(ready, method, temperature)
    found = heeler.compare_scans(
        influence,
        _weights(ready, target),
        length=length,
        epsilon=epsilon,
        scan=o.scan_or_file(start, ready, temperature),
    )
    chosen = found.iterated if iterated else found.optimised
    if plot is not None:
        try:
            found.plot(plot)
        except ImportError as error:  # matplotlib is an extra
            raise ValueError(f"--plot: {error}") from None
    if output is not None:
        heeler.io.write_scan(output, chosen, ready, temperature)
    if json:
        print_json({"model": describe(ready, model)} | _content(ready, found, chosen))
    else:
        _print(model, found, chosen)


def _weights(model: Any, words: list[str] | None) -> Any:
    """Read variables, some with weights."""
    if not words:
        return None
    weights: dict[int, float] = {}
    for word in words:
        name, sign, number = word.rpartition("=")
        if not sign or word in model.names:
            weights[model.index(word)] = 1.0
            continue
        try:
            weights[model.index(name)] = float(number)
        except ValueError as error:
            raise ValueError(f"--target {word}: {error}") from None
    return weights


def _norms(influence: Any) -> dict[str, float]:
    """Name the norms."""
    return {{np.inf: "infinity"}.get(key, str(key)): n for key, n in influence.norms().items()}


def _content(model: Any, found: Any, chosen: Any) -> dict[str, Any]:
    """Collect what the JSON output says."""
    counts = np.bincount(chosen.order, minlength=model.n_variables)
    visited = np.flatnonzero(counts).tolist()
    target = zip(found.target.index.tolist(), found.target.weight.tolist(), strict=True)
    return {
        "influence": {
            "methods": found.influence.methods,
            "extension": found.influence.extension,
            "norms": _norms(found.influence),
            "contracts": found.influence.contracts,
            "temperature": found.influence.temperature,
        },
        "target": {model.names[v]: weight for v, weight in target},
        "length": found.length,
        "epsilon": found.epsilon,
        "guarantees": found.guarantees,
        "steps_needed": found.steps,
        "rounds": found.iterated.rounds,
        "frequencies": [
            {"distance": f.distance, "variables": f.variables, "updates": f.updates}
            for f in found.frequencies(chosen)
        ],
        "updates": {model.names[v]: int(counts[v]) for v in visited},
        "order": [model.names[v] for v in chosen.order.tolist()],
    }


def _print(path: Path, found: Any, chosen: Any) -> None:
    """Print the tables."""
    heads = ["scan", "guarantee"]
    rows = [[name, f"{value:.4g}"] for name, value in found.guarantees.items()]
    if found.epsilon is not None:
        heads.append(f"steps to {found.epsilon:.4g}")
        for row in rows:
            needed = found.steps.get(row[0])
            row.append("not found" if needed is None else str(needed))
    title = f"scans of {found.length} steps for {path.name}, {len(found.target.index)} asked"
    print_table(title, heads, rows, len(rows))
    often = [
        (str(f.distance), str(f.variables), str(f.updates), f"{f.updates / f.variables:.3g}")
        for f in found.frequencies(chosen)
    ]
    heads = ["distance", "variables", "updates", "of each"]
    print_table("updates by distance from what is asked", heads, often, len(often))
    norms = ", ".join(f"{name}: {norm:.4g}" for name, norm in _norms(found.influence).items())
    ways = " and ".join(found.influence.methods) or "given"
    print_line(f"influence: {ways}; norms {norms}")
    if found.influence.extension is not None:
        print_line(f"impossible contexts: {found.influence.extension}")
    if not found.influence.contracts:
        print_line("no norm is below 1: longer scans need not have better guarantees")
    total = found.target.total
    if found.guarantees["optimised"] >= total:
        print_line(f"vacuous: {total:.4g} is what holds before any step")
