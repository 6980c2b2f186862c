"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "BurnIn",
    "Chains",
    "Context",
    "Driver",
    "Error",
    "Evidence",
    "Exact",
    "Json",
    "Kernel",
    "MemoryLimit",
    "ModelFile",
    "Output",
    "Restart",
    "Scan",
    "Seconds",
    "Seed",
    "Sweeps",
    "Temperature",
    "Thin",
    "run_settings",
    "scan_or_file",
]

#: Passes when none of --sweeps, --seconds and --error is given.
DEFAULT_SWEEPS = 1000

ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The model: .uai, .LG or .bif, also with .gz or .xz.",
        show_default=False,
    ),
]
Evidence = Annotated[
    list[str] | None,
    typer.Option(
        "--evidence",
        "-e",
        metavar="FILE|NAME=VALUE",
        help="A UAI evidence file, or one observed variable; may be repeated.",
        show_default=False,
    ),
]
Driver = Annotated[
    str,
    typer.Option(
        help="random, herded, quasi, greedy, metropolis, modified or auto.", metavar="NAME"
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        help="gibbs, metropolis, modified, herded, 'mixture(gibbs: 1, metropolis: 3)', "
        "'cycle(gibbs, metropolis)', ...; instead of --driver.",
        metavar="NAME",
        show_default=False,
    ),
]
Scan = Annotated[
    str,
    typer.Option(
        help="systematic, reversed, shuffled, uniform, chromatic, jacobi, dogs or auto; or a file "
        "that `heeler scan -o` wrote.",
        metavar="NAME|FILE",
    ),
]
Context = Annotated[
    str,
    typer.Option(
        help="For herding: neighbours, shared, binned(B), radius(r), full or auto.", metavar="NAME"
    ),
]
Chains = Annotated[int, typer.Option(help="How many chains run side by side.", min=1)]
BurnIn = Annotated[int, typer.Option(help="Sweeps that are not counted.", min=0)]
Thin = Annotated[int, typer.Option(help="Keep one state in so many sweeps.", min=1)]
Sweeps = Annotated[
    int | None,
    typer.Option(
        help=f"Stop after so many sweeps ({DEFAULT_SWEEPS} if nothing says when to stop).",
        min=1,
        show_default=False,
    ),
]
Seconds = Annotated[
    float | None, typer.Option(help="Stop after so many seconds.", min=0.0, show_default=False)
]
Error = Annotated[
    float | None,
    typer.Option(help="Stop when all error bars are below this.", min=0.0, show_default=False),
]
Temperature = Annotated[float, typer.Option(help="The temperature of the distribution.", min=0.0)]
Restart = Annotated[
    bool,
    typer.Option(
        "--restart", help="Begin every pass of the scan afresh, as short optimised scans want it."
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.")]
Exact = Annotated[
    bool, typer.Option("--exact", help="Compute exactly by a junction tree; sample nothing.")
]
MemoryLimit = Annotated[
    float, typer.Option(help="GiB that exact computation may take.", min=1e-6, metavar="GIB")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", show_default=False)]


def run_settings(
    *, sweeps: int | None, seconds: float | None, error: float | None, **others: Any
) -> dict[str, Any]:
    """Return the arguments of `heeler.sample` that the options stand for.

    Parameters
    ----------
    sweeps, seconds, error
        When to stop; a default number of sweeps if none is given.
    **others
        Further arguments, passed on; those that are None are left out.

    Returns
    -------
    dict
        The arguments.
    """
    if sweeps is None and seconds is None and error is None:
        sweeps = DEFAULT_SWEEPS
    stops = {"sweeps": sweeps, "seconds": seconds, "error": error}
    return {key: value for key, value in (stops | others).items() if value is not None}


def scan_or_file(word: str, model: Any, temperature: float = 1.0) -> Any:
    """Return the scan that a word of the command line stands for.

    Parameters
    ----------
    word : str
        A scan's name, or a file.
    model : Model
        The model that is to be scanned, with evidence.
    temperature : float
        The temperature of the run.

    Returns
    -------
    str or Sequence
        The name, or the scan in the file.
    """
    if word == "auto" or not Path(word).is_file():
        return word
    import heeler

    return heeler.io.read_scan(word, model, temperature)
