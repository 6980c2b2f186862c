"""`heeler sample`: draws."""

from __future__ import annotations

import csv
import io
import json as json_module
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from heeler.cli import options as o
from heeler.cli.exits import Exit, was_interrupted
from heeler.cli.load import describe, load_model
from heeler.cli.show import plain

__all__ = ["Format", "sample"]


class Format(StrEnum):
    """How draws are written."""

    csv = "csv"
    json = "json"
    npz = "npz"


Count = Annotated[int, typer.Option("-n", "--number", help="How many states.", min=1)]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format", help="csv, json or npz (by the output's ending, else csv).", show_default=False
    ),
]
Indices = Annotated[
    bool, typer.Option("--indices", help="Write values as numbers from 0, not by name.")
]


def sample(
    model: o.ModelFile,
    number: Count,
    evidence: o.Evidence = None,
    driver: o.Driver = "auto",
    kernel: o.Kernel = None,
    scan: o.Scan = "auto",
    context: o.Context = "auto",
    chains: o.Chains = 4,
    burn_in: o.BurnIn = 100,
    thin: o.Thin = 1,
    temperature: o.Temperature = 1.0,
    restart: o.Restart = False,
    seed: o.Seed = 0,
    exact: o.Exact = False,
    memory_limit: o.MemoryLimit = 1.0,
    form: FormatOption = None,
    indices: Indices = False,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Write states drawn from the model, one in a row.

    With --exact they are independent and exact; otherwise those that the chains passed through.
    """
    import heeler

    chosen = _format(form, json, output)
    ready = load_model(model, evidence)
    order = o.scan_or_file(scan, ready, temperature)
    interrupted = False
    if exact:
        settings: dict[str, Any] = {"method": "junction tree", "seed": seed}
        limit = int(memory_limit * 2**30)
        states = heeler.exact.sample(ready, number, seed, memory_limit=limit)
    else:
        chains = min(chains, number)
        sweeps = -(-number // chains) * thin
        run = heeler.sample(
            ready, sweeps=sweeps, driver=driver, kernel=kernel, scan=order, context=context,
            chains=chains, burn_in=burn_in, thin=thin, temperature=temperature, restart=restart,
            seed=seed,
            keep="samples",
        )  # fmt: skip
        settings, states = run.settings, _in_order(run)
        interrupted = was_interrupted(run)
        states = states[:number]
    data = _encoded(chosen, ready, model, settings, states, indices)
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        output.write_bytes(data)
    if interrupted:
        raise typer.Exit(Exit.INTERRUPTED)


def _in_order(run: Any) -> np.ndarray:
    """Return the kept states, those of one sweep together, as (draws, variables)."""
    n = run.model.n_variables
    if run.stats.get("kept_states") == 0:
        return np.empty((0, n), np.uint8)
    return np.swapaxes(run.samples, 0, 1).reshape(-1, n)


def _format(form: Format | None, json: bool, output: Path | None) -> Format:
    if json and form not in (None, Format.json):
        raise ValueError(f"--json and --format {form.value} exclude each other")
    if json or form is not None:
        chosen = form or Format.json
    else:
        ending = output.suffix.lower().lstrip(".") if output else ""
        chosen = Format(ending) if ending in list(Format) else Format.csv
    if chosen is Format.npz and output is None and sys.stdout.isatty():
        raise ValueError("--format npz is not for terminals; use -o FILE or a pipe")
    return chosen


def _encoded(
    form: Format,
    model: Any,
    path: Path,
    settings: dict[str, Any],
    states: np.ndarray,
    indices: bool,
) -> bytes:
    """Return the draws as the bytes of a file."""
    if form is Format.npz:
        file = io.BytesIO()
        names = np.array(list(model.names), dtype=np.str_)
        # Strings as strings: an array of objects would have to be pickled.
        np.savez_compressed(file, states=states, names=names)
        return file.getvalue()
    rows = states.tolist()
    if not indices:
        labels = [list(model.value_names[v]) for v in range(model.n_variables)]
        rows = [[names[x] for names, x in zip(labels, row, strict=True)] for row in rows]
    if form is Format.json:
        content = {
            "model": describe(model, path),
            "settings": settings,
            "variables": list(model.names),
            "samples": rows,
        }
        return (json_module.dumps(plain(content), allow_nan=False) + "\n").encode("ascii")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(list(model.names))
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")
