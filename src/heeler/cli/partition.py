"""`heeler partition`: log Z."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated

import typer

from heeler.cli import options as o
from heeler.cli.exits import say
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_line

__all__ = ["Method", "partition"]


class Method(StrEnum):
    """How log Z is computed."""

    ais = "ais"
    exact = "exact"
    tempering = "tempering"
    ti = "ti"


MethodOption = Annotated[
    Method,
    typer.Option(
        "--method",
        help="ais (annealed importance sampling), exact (junction tree), tempering or ti "
        "(thermodynamic integration).",
    ),
]
Sweeps = Annotated[int, typer.Option(help="Passes of every chain, in each direction.", min=1)]
Chains = Annotated[int, typer.Option(help="Chains in each direction.", min=2)]


def partition(
    model: o.ModelFile,
    evidence: o.Evidence = None,
    method: MethodOption = Method.ais,
    sweeps: Sweeps = 1000,
    chains: Chains = 64,
    seed: o.Seed = 0,
    exact: o.Exact = False,
    memory_limit: o.MemoryLimit = 1.0,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Print the log of the partition function, with a 90 % interval and what speaks against it.

    With -o FILE it is written as a UAI result file (PR), too.
    """
    import heeler

    ready = load_model(model, evidence)
    found = heeler.log_z(
        ready,
        "exact" if exact else method.value,
        sweeps=sweeps,
        chains=chains,
        seed=seed,
        memory_limit=int(memory_limit * 2**30),
    )
    if output is not None:
        heeler.io.uai.write_log_z(output, found.value)
    if json:
        print_json({"model": describe(ready, model), "log_z": found.value} | found.to_dict())
        return
    ten = found.value / math.log(10)
    print_line(f"log Z of {model.name}: {found.value:.10g}   (log10: {ten:.8g})")
    if found.method == "exact":
        print_line("exact, by the junction tree")
        return
    print_line(f"standard error {found.error:.2g}; 90 % from {found.low:.8g} to {found.high:.8g}")
    for name in ("forward", "reverse", "integral", "bennett", "round_trips"):
        if name in found.details:
            print_line(f"{name:10} {found.details[name]:.10g}")
    if not found.reliable:
        say(f"UNRELIABLE: {'; '.join(found.reasons)}")
