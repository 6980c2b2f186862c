"""`heeler lab`: a kernel on a small model, as a whole transition matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from heeler.cli import options as o
from heeler.cli.load import describe, load_model
from heeler.cli.show import print_json, print_line

__all__ = ["lab"]

_MATRICES = (".csv", ".npy")

ModelOrMatrix = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The model: .uai, .LG or .bif; or a transition matrix: .csv or .npy, rows sum to 1.",
        show_default=False,
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        help="gibbs, metropolis, modified, greedy, 'cycle(a, b)' or 'mixture(a: 1, b: 2)'.",
        metavar="NAME",
    ),
]
ScanOption = Annotated[
    str,
    typer.Option(
        help="systematic, reversed, shuffled, uniform, chromatic, jacobi or auto.", metavar="NAME"
    ),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it.", show_default=False)
]
Floats = Annotated[
    bool, typer.Option("--floats", help="Probabilities in double precision, not as compiled.")
]
Herded = Annotated[
    int | None,
    typer.Option(
        "--herded",
        metavar="SWEEPS",
        help="The empirical kernel of so many herded sweeps instead.",
        min=1,
        show_default=False,
    ),
]


def lab(
    model: ModelOrMatrix,
    evidence: o.Evidence = None,
    kernel: Kernel = "gibbs",
    scan: ScanOption = "systematic",
    temperature: o.Temperature = 1.0,
    floats: Floats = False,
    herded: Herded = None,
    seed: o.Seed = 0,
    plot: Plot = None,
    memory_limit: o.MemoryLimit = 1.0,
    json: o.Json = False,
) -> None:
    """Print all that can be known about a kernel on a small model, from its transition matrix.

    Stationary distribution, detailed balance, classes and periods, eigenvalues, mixing and hitting
    times, bounds. With a .csv or .npy file: about that matrix.
    """
    import heeler

    limit = int(memory_limit * 2**30)
    given: dict[str, Any] = {"file": str(model), "kind": "matrix"}
    about: dict[str, Any] = {}
    run: Any = None
    if model.suffix.lower() in _MATRICES:
        if evidence or herded is not None:
            raise ValueError("--evidence and --herded are for models, not for matrices")
        found = heeler.lab.analyse(_matrix(model), memory_limit=limit)
    else:
        ready = load_model(model, evidence)
        given = describe(ready, model)
        if herded is None:
            found = heeler.lab.analyse(
                ready,
                kernel,
                scan,
                temperature=temperature,
                quantised=not floats,
                memory_limit=limit,
            )
        else:
            run = heeler.lab.herded_kernel(ready, herded, scan=scan, seed=seed, memory_limit=limit)
            found = heeler.lab.analyse(run.matrix, memory_limit=limit)
            about = {"sweeps": herded, "distance": run.distance, "error": run.error}
            about |= {"bound": run.bound}
    if plot is not None:
        try:
            found.plot(plot)
        except ImportError as error:  # matplotlib is an extra
            raise ValueError(f"--plot: {error}") from None
    if json:
        print_json({"model": given, "herded": about or None} | found.to_dict())
    else:
        print_line(found.report())
        if about:
            print_line(f"  herded          {run!r}")


def _matrix(path: Path) -> np.ndarray:
    """Read a matrix of numbers."""
    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path} must hold a square matrix of numbers: {error}") from None
