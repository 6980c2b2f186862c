"""Figures of the study (matplotlib)."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from accuracy_study.tables import find, models_of

Found = dict[str, list[dict[str, Any]]]
# Colours that stay apart for colour-blind readers (Okabe and Ito).
STYLE: dict[str, dict[str, Any]] = {
    "random": {"color": "#000000", "marker": "o"},
    "quasi": {"color": "#999999", "marker": "s"},
    "herded neighbours": {"color": "#0072B2", "marker": "^"},
    "herded radius(2)": {"color": "#56B4E9", "marker": "v"},
    "herded full": {"color": "#D55E00", "marker": "D"},
    "herded full, random weights": {"color": "#E69F00", "marker": "d"},
    "herded binned(4)": {"color": "#CC79A7", "marker": "<"},
    "herded binned(16)": {"color": "#E69F00", "marker": ">"},
    "herded binned(64)": {"color": "#009E73", "marker": "P"},
    "herded neighbours, random weights": {"color": "#56B4E9", "marker": "v"},
}


def draw(found: Found, folder: Path) -> None:
    """Draw every figure for which there are numbers.

    Parameters
    ----------
    found
        Study -> records.
    folder
        Where the PNG files go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plots = {"small": small, "grids": grids, "dense": dense, "networks": networks}
    with plt.rc_context(
        {"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "lines.markersize": 4}
    ):
        for name, plot in plots.items():
            if name in found:
                figure = plot(found)
                path = folder / f"accuracy-{name}.png"
                # No date or version inside: the same numbers give the same file.
                figure.savefig(path, dpi=130, metadata={"Software": None})
                plt.close(figure)


def lines(
    axes: Any, records: list[dict[str, Any]], model: str, labels: list[str], what: str
) -> None:
    """Draw curves of a model on logarithmic axes."""
    for label in labels:
        record = find(records, model, label)
        if record is not None and what in record:
            axes.loglog(record["sweeps"], record[what], label=label, lw=1.3, **STYLE[label])
    axes.set_xlabel("sweeps")


def below(figure: Any, axes: Any, columns: int) -> None:
    """Put one legend under all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def small(found: Found) -> Any:
    """Marginals and joint of 3x3 grids."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    labels = ["random", "quasi", "herded neighbours", "herded radius(2)", "herded full"]
    for axes, what, title in zip(panels, ("site", "joint"), ("marginals", "joint"), strict=True):
        lines(axes, found["small"], "3x3 grid", labels, what)
        axes.set_title(f"3x3 grids, couplings in ±0.5: {title}")
    panels[0].set_ylabel("total variation, median of 5")
    below(figure, panels[0], 5)
    return figure


def grids(found: Found) -> Any:
    """Marginals and pairs of 4x4 grids of growing couplings."""
    models = [m for m in models_of(found["grids"]) if m.startswith("4x4")]
    figure, panels = plt.subplots(
        2, len(models), figsize=(9, 5.4), sharex=True, sharey=True, layout="constrained"
    )
    labels = ["random", "quasi", "herded neighbours", "herded binned(64)", "herded radius(2)"]
    for column, model in enumerate(models):
        for row, what in enumerate(("site", "pair")):
            lines(panels[row, column], found["grids"], model, labels, what)
        panels[0, column].set_title(model.replace("+-", "±"))
        panels[0, column].set_xlabel("")
    panels[0, 0].set_ylabel("error of marginals")
    panels[1, 0].set_ylabel("error of pairs")
    below(figure, panels[0, 0], 5)
    return figure


def dense(found: Found) -> Any:
    """Marginals of dense graphs."""
    models = ["units, n = 16, scale 1", "units, n = 16, scale 3", "spins, n = 16, scale 1"]
    figure, panels = plt.subplots(1, 3, figsize=(9, 3.8), sharey=True, layout="constrained")
    labels = [
        "random",
        "quasi",
        "herded neighbours",
        "herded binned(4)",
        "herded binned(16)",
        "herded binned(64)",
    ]
    for axes, model in zip(panels, models, strict=True):
        lines(axes, found["dense"], model, labels, "site")
        axes.set_title(model)
    panels[0].set_ylabel("error of marginals, median of 5")
    below(figure, panels[0], 6)
    return figure


def networks(found: Found) -> Any:
    """Herded against random at the end of the runs, networks and competition instances."""
    figure, axes = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    records = found["networks"] + found.get("competition", [])
    for zeros, colour, text in (
        (False, "#0072B2", "no zeros"),
        (True, "#D55E00", "zeros in tables"),
    ):
        points = []
        for model in models_of(records):
            random = find(records, model, "random")
            herded = find(records, model, "herded auto")
            if random and herded and random["zeros"] == zeros:
                points.append((random["site"][-1], herded["site"][-1]))
        axes.loglog(*zip(*points, strict=True), "o", color=colour, label=text)
    low, high = axes.get_xlim()
    axes.plot([low, high], [low, high], color="#999999", lw=1, zorder=0)
    axes.text(0.97, 0.05, "herded better", ha="right", transform=axes.transAxes)
    axes.text(0.03, 0.95, "random better", va="top", transform=axes.transAxes)
    axes.set_xlabel("error of random")
    axes.set_ylabel("error of herded, context auto")
    axes.set_title("Bayesian networks and competition models, longest runs")
    axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.25), frameon=False)
    return figure
