"""An analysis in pictures; matplotlib is an optional extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_MOST_LINES = 200  # starts that are drawn one by one
_MOST_NAMES = 16  # states whose names fit below an axis
_LONGEST = 10**6  # passes that the axis of time reaches at most


def plot_of(analysis: Any, path: str | Path | None) -> Any:
    """Draw the four pictures.

    Parameters
    ----------
    analysis : Analysis
        What is known.
    path : str or Path, optional
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
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    axes = figure.subplots(2, 2)
    _matrix(figure, axes[0, 0], analysis)
    _eigenvalues(axes[0, 1], analysis)
    _distances(axes[1, 0], analysis)
    _distribution(axes[1, 1], analysis)
    figure.suptitle(analysis.matrix.description or "a given chain")
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def _matrix(figure: Any, axis: Any, a: Any) -> None:
    """Show the probabilities on a logarithmic scale, zeros white."""
    from matplotlib.colors import LogNorm

    dense = a.matrix.toarray()
    # Entries below a millionth are all the same colour: one tiny entry would take the whole scale.
    low = max(float(a.matrix.data.min()), 1e-6)
    image = axis.imshow(
        np.ma.masked_equal(np.where(dense > 0, np.maximum(dense, low), 0), 0),
        norm=LogNorm(min(low, 0.5), 1.0),
        cmap="viridis_r",
        interpolation="nearest",
    )
    figure.colorbar(image, ax=axis, shrink=0.9)
    axis.set_title("probability from row to column")
    _name_states(axis, a, "yticks")
    _name_states(axis, a, "xticks")


def _name_states(axis: Any, a: Any, which: str) -> None:
    """Name the states along an axis where names fit."""
    if len(a) <= _MOST_NAMES:
        options = {"rotation": 90} if which == "xticks" else {}
        getattr(axis, f"set_{which}")(range(len(a)), list(a.labels), fontsize=8, **options)


def _eigenvalues(axis: Any, a: Any) -> None:
    """Show the eigenvalues in the unit circle."""
    angle = np.linspace(0, 2 * np.pi, 361)
    axis.plot(np.cos(angle), np.sin(angle), color="0.7", lw=1)
    radius = a.second_eigenvalue
    axis.plot(radius * np.cos(angle), radius * np.sin(angle), color="tab:orange", lw=1, ls="--")
    values = a.eigenvalues
    axis.plot(values.real, values.imag, "o", color="tab:blue", ms=4, alpha=0.6)
    axis.set_aspect("equal")
    axis.set_title(f"eigenvalues; second largest {radius:.4g}")
    axis.set_xlabel("real part")
    axis.set_ylabel("imaginary part")


def _distances(axis: Any, a: Any) -> None:
    """Show how far the chain is from every start, and the bounds."""
    end = 4 * a.mixing_time(0.25)
    end = int(np.clip(end, 10, _LONGEST)) if np.isfinite(end) else 100
    count = min(end, 60)
    times = np.unique(np.round(np.linspace(0, end, count + 1)).astype(int))
    distance = a.total_variation(times)
    starts = np.linspace(0, len(a) - 1, min(len(a), _MOST_LINES)).astype(int)
    shade = max(0.08, min(0.6, 8 / len(starts)))
    axis.plot(times, distance[:, starts], color="tab:blue", lw=0.8, alpha=shade)
    axis.plot([], [], color="tab:blue", lw=0.8, label="every start")
    axis.plot(times, distance.max(axis=1), color="black", lw=1.6, label="worst start")
    if a.minorisation.holds:
        bound = a.minorisation.bound(times)
        axis.plot(times, bound, color="tab:green", ls="-.", label="$(1 - v)^{t}$ of the notes")
    eta = a.dobrushin
    if eta < 1:
        axis.plot(times, eta**times, color="tab:red", ls=":", label="Dobrushin's $\\eta^t$")
    axis.plot(
        times, a.second_eigenvalue**times, color="tab:orange", ls="--", label="$|\\lambda_2|^t$"
    )
    # Below rounding there is nothing to see.
    axis.set_yscale("log")
    axis.set_ylim(max(distance.max(axis=1).min() / 3, 1e-12), 1.5)
    axis.set_xlabel("passes")
    axis.set_ylabel("total variation")
    axis.set_title("distance from the stationary distribution")
    axis.legend(fontsize=8)


def _distribution(axis: Any, a: Any) -> None:
    """Show the stationary distribution beside the target."""
    n = len(a)
    pis = a.stationary_distributions
    if n <= 4 * _MOST_NAMES:
        width = 0.8 / len(pis[:4])
        for k, pi in enumerate(pis[:4]):
            name = "stationary" if len(pis) == 1 else f"of closed class {k + 1}"
            axis.bar(np.arange(n) + width * (k - (len(pis[:4]) - 1) / 2), pi, width, label=name)
        if a.target is not None:
            axis.plot(np.arange(n), a.target, "_", color="black", ms=8, label="target")
        _name_states(axis, a, "xticks")
    else:
        order = np.argsort(-a.reference, kind="stable")
        axis.plot(pis[0][order], lw=2, label="stationary")
        if a.target is not None:
            axis.plot(a.target[order], color="black", lw=1, ls="--", label="target")
        axis.set_yscale("log")
        axis.set_xlabel("states, the likeliest first")
    axis.set_ylabel("probability")
    axis.set_title("stationary distribution")
    axis.legend(fontsize=8)
