"""`heeler marginals`: the probability of each variable's values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import typer

from heeler.cli import options as o
from heeler.cli.exits import Exit, was_interrupted
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_line, print_table, probabilities_by_name

__all__ = ["marginals"]

# Values of one variable that a table for people shows, the most probable first.
_SHOWN_VALUES = 6


def marginals(
    model: o.ModelFile,
    evidence: o.Evidence = None,
    driver: o.Driver = "auto",
    kernel: o.Kernel = None,
    scan: o.Scan = "auto",
    context: o.Context = "auto",
    chains: o.Chains = 4,
    burn_in: o.BurnIn = 0,
    sweeps: o.Sweeps = None,
    seconds: o.Seconds = None,
    error: o.Error = None,
    temperature: o.Temperature = 1.0,
    restart: o.Restart = False,
    seed: o.Seed = 0,
    exact: o.Exact = False,
    memory_limit: o.MemoryLimit = 1.0,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Print the probability of each variable's values, given the evidence.

    With -o FILE they are written as a UAI result file (MAR), too.
    """
    import heeler

    ready = load_model(model, evidence)
    order = o.scan_or_file(scan, ready, temperature)
    interrupted = False
    if exact:
        settings: dict[str, Any] = {"method": "junction tree"}
        stats: dict[str, Any] = {}
        result = heeler.exact.marginals(ready, memory_limit=int(memory_limit * 2**30))
        errors = None
    else:
        run = heeler.sample(
            ready,
            **o.run_settings(
                sweeps=sweeps, seconds=seconds, error=error, driver=driver, kernel=kernel,
                scan=order, context=context, chains=chains, burn_in=burn_in,
                temperature=temperature, restart=restart, seed=seed,
            ),
        )  # fmt: skip
        settings, stats = run.settings, run.stats
        result, errors = run.marginals, run.errors
        interrupted = was_interrupted(run)
    if output is not None:
        heeler.io.uai.write_marginals(output, [result[v] for v in range(ready.n_variables)])
    if json:
        print_json(
            {
                "model": describe(ready, model),
                "settings": settings,
                "marginals": probabilities_by_name(ready, result),
                "errors": None if errors is None else probabilities_by_name(ready, errors),
                "errors_cover": None if errors is None else errors.label,
                "stats": stats,
                "interrupted": interrupted,
            }
        )
    else:
        heads = ["variable", "probabilities" if errors is None else "probabilities ± error"]
        title = f"{'exact marginals' if exact else 'marginals'} of {model.name}"
        print_table(title, heads, _rows(ready, result, errors), ready.n_variables)
        if errors is not None:
            print_line(f"{settings['driver']}, {stats['sweeps']} sweeps; errors: {errors.label}")
    if interrupted:
        raise typer.Exit(Exit.INTERRUPTED)


def _rows(model: Any, marginals: Any, errors: Any) -> Iterator[tuple[str, str]]:
    for variable, name in enumerate(model.names):
        row = np.asarray(marginals[variable])
        bars = None if errors is None else np.asarray(errors[variable])
        # NaN (never updated) sorts last, so the order stays that of the model there.
        order = np.argsort(-row, kind="stable") if row.size > _SHOWN_VALUES else range(row.size)
        pieces = []
        for value in list(order)[:_SHOWN_VALUES]:
            bar = "" if bars is None or np.isnan(bars[value]) else f" ± {bars[value]:.1g}"
            pieces.append(f"{model.value_names[variable][int(value)]} {row[value]:.6f}{bar}")
        more = row.size - _SHOWN_VALUES
        pieces += [f"… {more} more"] if more > 0 else []
        yield name, "   ".join(pieces)
