"""What a run on a user's log density gives back."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.run.describe import describe
from heeler.run.result import Best, Run
from heeler.run.session import Session


class Vector(Mapping[Any, float]):
    """One number a variable: by name or index, or all in one array.

    Parameters
    ----------
    model
        Gives names.
    array
        float64 (dim,).
    label
        What the numbers are, or what they cover.
    """

    def __init__(self, model: Any, array: NDArray[np.float64], label: str = "") -> None:
        """Keep the numbers."""
        self._model = model
        self.array = array
        self.label = label

    def __getitem__(self, variable: Any) -> float:
        """Look a variable up by name or index."""
        return float(self.array[self._model.index(variable)])

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._model.names)

    def __len__(self) -> int:
        """Count the variables."""
        return len(self.array)

    @property
    def max(self) -> float:
        """The largest number, NaN where none is known."""
        known = self.array[np.isfinite(self.array)]
        return float(known.max()) if known.size else float("nan")

    def __repr__(self) -> str:
        """Show the numbers, or the largest one and its label."""
        if self.label:
            return f"largest {self.max:.2g}; {self.label}"
        return np.array2string(self.array, precision=4, threshold=20)


class DensityBest(Best):
    """The best state that a run on a log density has seen."""

    @property
    def values(self) -> dict[str, float]:  # type: ignore[override]
        """The state by names."""
        return dict(zip(self._model.names, self.state.tolist(), strict=True))


def collect_density(session: Session, stats: dict[str, Any], functions: dict[str, Any]) -> Run:
    """Make a run of what a session on a log density has seen so far.

    Parameters
    ----------
    session
        The chains.
    stats
        How much was done and how fast.
    functions
        Averages of the user's functions.

    Returns
    -------
    Run
        With means, deviations and errors instead of marginals; marginals of discrete variables.
    """
    model, engine, settings = session.model, session.engine, session.settings
    sums, visits = engine.sums(), session.column_visits()
    errors, label = session.errors(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = sums.mean(axis=0) / visits
    starts = np.cumsum(model.columns) - model.columns
    mean, square = columns[starts], columns[starts + 1]
    marginals = {
        model.names[v]: columns[starts[v] + 2 : starts[v] + 2 + model.values[v]]
        for v in np.flatnonzero(model.values).tolist()
    }
    bests = engine.best_scores().ravel()
    parts: dict[str, Any] = {
        "means": Vector(model, engine.reference + mean),
        "deviations": Vector(model, np.sqrt(np.maximum(square - mean**2, 0.0))),
        "errors": Vector(model, np.asarray(errors)[starts], label),
        "marginals": marginals,
        "best": DensityBest(model, engine.best_states()[int(np.argmax(bests))].copy()),
        "functions": functions,
        "log_scores": session.trace.values[: session.trace.count].T.copy(),
        "log_score_passes": session.trace.passes,
        "settings": describe(model, settings),
        "stats": stats,
        "pairs": {},
        "joint": None,
        "_kept": list(session.samples) if settings.keep.samples else None,
    }
    return Run(model, parts, session)
