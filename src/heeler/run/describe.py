"""What was run, in plain values; and what needs no running."""

import platform
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.run.settings import Settings


def describe(model: Model, settings: Settings) -> dict[str, Any]:
    """Give the settings as plain values, with what "auto" stood for and the versions.

    Parameters
    ----------
    model
        The model.
    settings
        The settings.

    Returns
    -------
    dict
        JSON can hold all of it.
    """
    from heeler import __version__

    temperature = settings.temperature
    driver = settings.driver
    kernel = settings.kernel
    return {
        "kernel": None if kernel is None else kernel.words(),
        "driver": driver.name if kernel is None else kernel.name,
        "chance": settings.chance,
        "rule": getattr(driver, "rule", None),
        "bits": getattr(driver, "bits", None),
        "generator": getattr(driver, "generator", None) if kernel is None else None,
        "scan": settings.scan.name if kernel is None else None,
        **_guarantee(settings),
        "context": settings.context,
        "chains": settings.lanes,
        "seed": settings.seed,
        "burn_in": settings.burn_in,
        "thin": settings.thin,
        "temperature": temperature if isinstance(temperature, float) else "schedule",
        "restart": settings.restart,
        "chosen": list(settings.chosen),
        "model": LazyDigest(model),
        "versions": {
            "heeler": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _guarantee(settings: Settings) -> dict[str, Any]:
    """Say how long an optimised scan is and what it guarantees, where that holds."""
    guarantee = getattr(settings.scan, "guarantee", None)
    if guarantee is None:
        return {}
    steps = len(settings.scan)  # type: ignore[arg-type] - only optimised scans have guarantees
    holds = settings.driver.name == "random"
    return {"scan_steps": steps, "scan_guarantee": guarantee if holds else None}


class LazyDigest:
    """The model's one-line text and digest, which is computed when looked at."""

    def __init__(self, model: Model) -> None:
        """Keep the model."""
        self._model = model

    def __repr__(self) -> str:
        """Show text and digest."""
        return f"{self._model!r} {self._model.digest}"


def settle(columns: NDArray, errors: NDArray, model: Model, binary: bool) -> None:
    """Set the marginals of clamped variables, which are known.

    Parameters
    ----------
    columns, errors
        Numbers of all variables, changed in place.
    model
        The model.
    binary
        Whether columns hold value 1 only.
    """
    evidence = model.evidence
    assert evidence is not None
    fixed = np.flatnonzero(evidence >= 0)
    if binary:
        columns[fixed] = evidence[fixed]
        errors[fixed] = 0.0
        return
    cards = np.asarray(model.cardinalities, np.int64)
    start = np.cumsum(cards) - cards
    member = np.repeat(evidence >= 0, cards)
    columns[member] = 0.0
    errors[member] = 0.0
    columns[start[fixed] + evidence[fixed]] = 1.0
