"""`heeler certify`: how far from the distribution after so many sweeps, or how many are needed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from heeler.cli import options as o
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json

__all__ = ["certify"]

Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        help="A variable whose marginal is asked about; may be repeated. Default: all variables.",
        show_default=False,
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="How many sweeps bring the distance below this?", show_default=False),
]
Sweeps = Annotated[
    int | None,
    typer.Option(
        help="How large can the distance be after so many sweeps? (1 if nothing is asked.)",
        min=0,
        show_default=False,
    ),
]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Run coupled chains, too: an estimate, for any model.")
]
Pairs = Annotated[int, typer.Option(help="Pairs of coupled chains.", min=2)]


def certify(
    model: o.ModelFile,
    evidence: o.Evidence = None,
    target: Target = None,
    epsilon: Epsilon = None,
    sweeps: Sweeps = None,
    driver: o.Driver = "random",
    scan: o.Scan = "auto",
    context: o.Context = "auto",
    temperature: o.Temperature = 1.0,
    estimate: Estimate = False,
    pairs: Pairs = 256,
    seed: o.Seed = 0,
    json: o.Json = False,
) -> None:
    """Print a proved bound on the distance from the distribution, or why there is none."""
    import heeler

    ready = load_model(model, evidence)
    found = heeler.certify(
        ready,
        scan=scan,
        target=target or None,
        epsilon=epsilon,
        sweeps=sweeps,
        driver=driver,
        context=context,
        temperature=temperature,
    )
    coupled = found.couple(pairs=pairs, seed=seed) if estimate else None
    if not json:
        typer.echo(repr(found) if coupled is None else f"{found!r}\n{coupled!r}")
        return
    content: dict[str, Any] = {"model": describe(ready, model), "certificate": found.to_dict()}
    if coupled is not None:
        content["estimate"] = coupled.to_dict()
        if epsilon is not None:
            content["estimate"]["sweeps"] = coupled.sweeps(epsilon)
        elif found.sweeps is not None or sweeps is not None:
            at = found.sweeps if sweeps is None else sweeps
            value, error = coupled.distance(int(at or 0))
            content["estimate"] |= {"distance": value, "error": error}
    print_json(content)
