"""`heeler demo`: a real job in under a minute, and something to look at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heeler.cli import options as o
from heeler.cli.show import print_json, print_line, print_table

if TYPE_CHECKING:
    from heeler.cli.showcase.study import Cleaned, Curves

__all__ = ["demo"]

Folder = Annotated[
    Path, typer.Option("--folder", "-o", help="Where the pictures go; made if absent.")
]
PictureSweeps = Annotated[int, typer.Option("--sweeps", help="Sweeps over the picture.", min=1)]
Side = Annotated[int, typer.Option(help="Height and width of the picture.", min=16, max=4096)]
Doublings = Annotated[
    int, typer.Option(help="The charts end after 2 to this power of sweeps.", min=1, max=24)
]
DemoSeed = Annotated[int, typer.Option(help="Of the noise and the chains.", min=0, max=2**63)]


def demo(
    folder: Folder = Path("demo"),
    sweeps: PictureSweeps = 50,
    side: Side = 256,
    doublings: Doublings = 14,
    seed: DemoSeed = 1,
    json: o.Json = False,
) -> None:
    """Clean a noisy picture, herded and at random, and compare errors with exact answers.

    Leaves pictures, charts and their numbers in a folder. The same seed leaves the same pictures.
    """
    from heeler.cli.showcase.figure import save_all
    from heeler.cli.showcase.study import clean, grid_curves, strip_curves

    start = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    cleaned = clean(side, sweeps, seed)
    curves = [strip_curves(doublings, seed), grid_curves(doublings)]
    files = save_all(folder, cleaned, curves)
    seconds = time.perf_counter() - start
    if json:
        print_json(_content(cleaned, curves, files, seconds))
        return
    rows = _rows(cleaned, curves)
    print_table("The same sweeps, at random and herded", ["", "random", "herded"], rows, len(rows))
    strip, grid = curves
    print_line(
        f"After {grid.sweeps[-1]:,} sweeps random errors are {grid.gain():.1f} times the herded "
        f"ones on the grids, {strip.gain():.1f} times on the strip."
    )
    print_line(f"Done in {seconds:.0f} s, compilation included. Look at {files[0]}")


def _rows(cleaned: Cleaned, curves: list[Curves]) -> list[tuple[str, ...]]:
    """Make the table for people."""
    drivers = ("random", "herded")
    before = cleaned.wrong["seen"]
    rows = [
        (
            f"picture: wrong pixels after {cleaned.sweeps} sweeps ({before:.1%} before)",
            *(f"{cleaned.wrong[d]:.2%}" for d in drivers),
        ),
        (
            "picture: mean distance from a long run",
            *(f"{cleaned.distance[d]:.4f}" for d in drivers),
        ),
        ("picture: milliseconds", *(f"{1000 * cleaned.seconds[d]:.0f}" for d in drivers)),
    ]
    for name, item in zip(("strip", "grids"), curves, strict=True):
        for k in range(4, len(item.sweeps), 5):
            errors = (f"{item.errors[d][k]:.5f}" for d in drivers)
            rows.append(
                (f"{name}: error beside the exact answer, {item.sweeps[k]} sweeps", *errors)
            )
    return rows


def _content(
    cleaned: Cleaned, curves: list[Curves], files: list[Path], seconds: float
) -> dict[str, Any]:
    """Make the object for programs."""
    return {
        "picture": {
            "sweeps": cleaned.sweeps,
            "wrong": cleaned.wrong,
            "distance": cleaned.distance,
            "seconds": cleaned.seconds,
        },
        "curves": [{"title": c.title, "sweeps": c.sweeps, "errors": c.errors} for c in curves],
        "files": files,
        "seconds": seconds,
    }
