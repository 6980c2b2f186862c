"""`heeler map`: the best state."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from heeler.cli import options as o
from heeler.cli.exits import Exit, was_interrupted
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_table, state_by_name

__all__ = ["Method", "best"]


class Method(StrEnum):
    """How the best state is looked for."""

    anneal = "anneal"
    greedy = "greedy"
    herded = "herded"
    sample = "sample"
    exact = "exact"


MethodOption = Annotated[
    Method | None,
    typer.Option(
        "--method",
        help="anneal; greedy or herded passes; sample, with --driver; exact (junction tree). "
        "By default anneal, or sample where a driver, context or temperature is given.",
        show_default=False,
    ),
]
Schedule = Annotated[
    str, typer.Option(help="For annealing: geometric, linear or logarithmic.", metavar="NAME")
]


def best(
    model: o.ModelFile,
    evidence: o.Evidence = None,
    method: MethodOption = None,
    schedule: Schedule = "geometric",
    driver: o.Driver = "auto",
    scan: o.Scan = "auto",
    context: o.Context = "auto",
    chains: o.Chains | None = None,
    sweeps: o.Sweeps = None,
    seconds: o.Seconds = None,
    temperature: o.Temperature = 1.0,
    seed: o.Seed = 0,
    exact: o.Exact = False,
    memory_limit: o.MemoryLimit = 1.0,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Print the best state that annealing has met, or with --exact the best of all.

    With -o FILE it is written as a UAI result file (MPE), too.
    """
    import heeler

    if exact and method not in (None, Method.exact):
        raise ValueError(f"--exact and --method {method} exclude each other")
    sampled = (driver, context, temperature) != ("auto", "auto", 1.0)
    if exact or method is None:
        method = Method.exact if exact else Method.sample if sampled else Method.anneal
    ready = load_model(model, evidence)
    order = o.scan_or_file(scan, ready, temperature)
    interrupted = False
    stats: dict[str, Any] = {}
    if method is Method.exact:
        settings: dict[str, Any] = {"method": "junction tree"}
        state, score = heeler.exact.map_state(ready, memory_limit=int(memory_limit * 2**30))
    elif method is Method.anneal:
        found = heeler.anneal(
            ready,
            schedule,
            sweeps=sweeps,
            seconds=seconds,
            driver="random" if driver == "auto" else driver,
            scan=order,
            chains=32 if chains is None else chains,
            seed=seed,
        )
        settings, stats = {"method": "anneal", "schedule": schedule} | found.settings, found.stats
        state, score = found.best.state, found.best.log_score
    else:
        # A method that is a driver's name takes that driver.
        chosen = driver if method is Method.sample else method.value
        run = heeler.sample(
            ready,
            **o.run_settings(
                sweeps=sweeps, seconds=seconds, error=None, driver=chosen, scan=order,
                context=context, chains=4 if chains is None else chains, temperature=temperature,
                seed=seed,
            ),
        )  # fmt: skip
        settings, stats = {"method": method.value} | run.settings, run.stats
        state, score = run.best.state, run.best.log_score
        interrupted = was_interrupted(run)
    if output is not None:
        heeler.io.uai.write_state(output, [int(value) for value in state])
    named = state_by_name(ready, state)
    proved = method is Method.exact
    if json:
        print_json(
            {
                "model": describe(ready, model),
                "settings": settings,
                "state": named,
                "log_score": float(score),
                "proved": proved,
                "stats": stats,
                "interrupted": interrupted,
            }
        )
    else:
        title = f"{'best state' if proved else 'best state met'} of {model.name}"
        title += f", log score {float(score):.6f}"
        print_table(title, ["variable", "value"], named.items(), ready.n_variables)
    if interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
