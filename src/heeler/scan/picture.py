"""Guarantees of scans in pictures; matplotlib is an optional extra."""

from pathlib import Path
from typing import Any

import numpy as np

from heeler.scan.optimise import optimise_scan
from heeler.scan.plan import as_plan
from heeler.scan.variation import advance, first_bounds, weighted_sum

POINTS = 40
# Products of the matrix that a line of the picture may cost.
MOST_WORK = 1 << 31
COLOURS = {
    "uniform": "tab:gray",
    "systematic": "tab:orange",
    "optimised": "tab:blue",
    "iterated": "tab:green",
}


def plot_of(comparison: Any, path: str | Path | None) -> Any:
    """Draw the guarantees against the number of steps, and updates against distance.

    Parameters
    ----------
    comparison : Comparison
        What is known.
    path
        A file to write to.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'heeler[plot]'") from error
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _guarantees(left, comparison)
    _frequencies(right, comparison)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def _guarantees(axis: Any, c: Any) -> None:
    """Show what every scan guarantees after so many steps."""
    lengths = np.unique(np.geomspace(1, c.length, POINTS).round().astype(int))
    for name in ("uniform", "systematic"):
        if name in c.guarantees and c.length * c.influence.nnz <= MOST_WORK:
            values = _after(c, as_plan(name, c.influence, int(lengths[-1])), lengths)
            axis.plot(lengths, values, color=COLOURS[name], label=_label(c, name))
    # Every length is a scan of its own: the last steps of a scan are made for its end.
    scans = [optimise_scan(c.influence, "systematic", c.target, length=int(k)) for k in lengths]
    values = [scan.guarantee for scan in scans[:-1]] + [c.guarantees["optimised"]]
    axis.plot(lengths, values, color=COLOURS["optimised"], label=_label(c, "optimised"))
    axis.plot(
        c.length,
        c.guarantees["iterated"],
        "o",
        ms=5,
        color=COLOURS["iterated"],
        label=_label(c, "iterated"),
    )
    if c.epsilon is not None:
        axis.axhline(c.epsilon, color="black", lw=0.8, ls=":", label=f"wanted {c.epsilon:.4g}")
    if c.length > 100:
        axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("steps")
    axis.set_ylabel("guarantee (Dobrushin variation)")
    axis.set_title("how far a chain can be from its target")
    axis.legend(fontsize=8)


def _label(c: Any, name: str) -> str:
    """Name a scan with its guarantee."""
    return f"{name} {c.guarantees[name]:.3g}"


def _after(c: Any, plan: Any, lengths: Any) -> list[float]:
    """Compute the variation after several numbers of steps."""
    b, done, values = first_bounds(c.influence), 0, []
    for length in lengths.tolist():
        advance(c.influence, plan, done, length - done, b)
        done = length
        values.append(weighted_sum(c.target.weight, b[c.target.index]))
    return values


def _frequencies(axis: Any, c: Any) -> None:
    """Show how often variables are updated, by their distance from the target."""
    for scan, name, shift in ((c.optimised, "optimised", -0.2), (c.iterated, "iterated", 0.2)):
        found = c.frequencies(scan)
        distance = np.array([f.distance for f in found])
        often = [f.updates / f.variables for f in found]
        axis.bar(distance + shift, often, 0.4, color=COLOURS[name], label=name)
    axis.axhline(
        c.length / max(len(c.influence.free), 1),
        color=COLOURS["systematic"],
        lw=1,
        label="systematic",
    )
    axis.set_xlabel("distance from the target, in edges")
    axis.set_ylabel("updates of a variable in a pass")
    axis.set_title("where the steps go")
    axis.legend(fontsize=8)
