"""`heeler map`: the best state."""

from __future__ import annotations

from typing import Any

import typer

from heeler.cli import options as o
from heeler.cli.exits import Exit, was_interrupted
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_table, state_by_name

__all__ = ["best"]


def best(
    model: o.ModelFile,
    evidence: o.Evidence = None,
    driver: o.Driver = "auto",
    scan: o.Scan = "auto",
    context: o.Context = "auto",
    chains: o.Chains = 4,
    sweeps: o.Sweeps = None,
    seconds: o.Seconds = None,
    temperature: o.Temperature = 1.0,
    seed: o.Seed = 0,
    exact: o.Exact = False,
    memory_limit: o.MemoryLimit = 1.0,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Print the best state that sampling has met, or with --exact the best of all.

    With -o FILE it is written as a UAI result file (MPE), too.
    """
    import heeler

    ready = load_model(model, evidence)
    interrupted = False
    if exact:
        settings: dict[str, Any] = {"method": "junction tree"}
        stats: dict[str, Any] = {}
        state, score = heeler.exact.map_state(ready, memory_limit=int(memory_limit * 2**30))
    else:
        run = heeler.sample(
            ready,
            **o.run_settings(
                sweeps=sweeps, seconds=seconds, error=None, driver=driver, scan=scan,
                context=context, chains=chains, temperature=temperature, seed=seed,
            ),
        )  # fmt: skip
        settings, stats = run.settings, run.stats
        state, score = run.best.state, run.best.log_score
        interrupted = was_interrupted(run)
    if output is not None:
        heeler.io.uai.write_state(output, [int(value) for value in state])
    named = state_by_name(ready, state)
    if json:
        print_json(
            {
                "model": describe(ready, model),
                "settings": settings,
                "state": named,
                "log_score": float(score),
                "proved": exact,
                "stats": stats,
                "interrupted": interrupted,
            }
        )
    else:
        title = f"{'best state' if exact else 'best state met'} of {model.name}"
        title += f", log score {float(score):.6f}"
        print_table(title, ["variable", "value"], named.items(), ready.n_variables)
    if interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
