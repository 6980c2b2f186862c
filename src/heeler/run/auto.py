"""What "auto" stands for, and what a user should be warned of."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Driver, Herded, Random, as_context, as_driver
from heeler.model.base import Model
from heeler.run.settings import Keep, Settings
from heeler.scan import Chromatic, Jacobi, Scan, Systematic, as_scan
from heeler.scan.dogs import made_for
from heeler.scan.optimised import Optimised


def choose(
    model: Model, options: dict[str, Any], keep: Keep, temperature: float | NDArray[np.float64]
) -> tuple[Driver, Scan, str | None, tuple[str, ...]]:
    """Resolve driver, scan and context.

    Parameters
    ----------
    model
        The model.
    options
        The checked arguments of `heeler.sample`.
    keep
        What is kept.
    temperature
        The temperature.

    Returns
    -------
    driver, scan, context, chosen
        The choice, and the names of the parameters that were "auto".
    """
    chosen = [name for name in ("driver", "scan", "context") if _is_auto(options[name])]
    if "scan" in chosen:
        scan: Scan = (
            Chromatic() if model.kind == "lattice" and _two_colours(model) else Systematic()
        )
    else:
        scan = made_for(as_scan(options["scan"]), model, temperature)
    if "driver" not in chosen:
        driver = as_driver(options["driver"])
    elif isinstance(scan, Optimised):
        driver = Random()  # its guarantee is for Gibbs sampling
    else:
        driver = _auto_driver(model, keep, temperature)
    if not isinstance(driver, Herded):
        if "context" not in chosen:
            raise ValueError(
                f"The 'context' parameter is for the herded driver. The driver is {driver.name!r}."
            )
        return driver, scan, None, tuple(chosen)
    if driver.context is not None and "context" not in chosen:
        raise ValueError(
            "Give the 'context' parameter or the driver's own context, not both. "
            f"Got {options['context']!r} and {driver.context!r}."
        )
    wanted = options["context"] if driver.context is None else driver.context
    context = as_context(wanted)
    if context is None:
        name = "neighbours" if model.kind == "lattice" and model.evidence is None else "auto"
    else:
        name = context.name
        chosen = [c for c in chosen if c != "context"]
    return driver, scan, name, tuple(chosen)


def _is_auto(value: Any) -> bool:
    """Say whether a parameter was left to us."""
    return isinstance(value, str) and value == "auto"


def _auto_driver(model: Model, keep: Keep, temperature: float | NDArray[np.float64]) -> Driver:
    """Herd for marginals and best states; draw for states, joints, and where herding loses."""
    wants_states = keep.samples or keep.joint or bool(keep.functions)
    # Deterministic tables and homogeneous lattices without fields are herding's worst cases
    # (docs/accuracy.md).
    field: Any = getattr(model, "field", None)
    homogeneous = model.kind == "lattice" and field is not None and not np.any(field)
    random = wants_states or model.has_zeros or homogeneous or isinstance(temperature, np.ndarray)
    return Random() if random else Herded()


def _two_colours(model: Any) -> bool:
    """Say whether a lattice's rows and columns alternate all the way round."""
    return model.colours() is not None


def warn_of(model: Model, settings: Settings) -> None:
    """Warn of choices that cost accuracy or correctness.

    Parameters
    ----------
    model
        The model.
    settings
        The run's settings.
    """
    if isinstance(settings.scan, Jacobi):
        if len(settings.keep.pairs) or settings.keep.joint:
            raise ValueError(
                "The Jacobi scan updates all variables at once, so its pairs and joints are wrong. "
                "Use scan='chromatic' to update many variables together and exactly."
            )
        if model.has_zeros:
            raise ValueError(
                "The Jacobi scan updates all variables at once, so it would leave the support of a "
                "model with zeros. Use scan='chromatic' to update many variables together and "
                "exactly."
            )
        warnings.warn(
            "The Jacobi scan is approximate: it does not leave the distribution invariant. "
            "scan='chromatic' is exact and updates whole colour classes together.",
            stacklevel=5,
        )
    if isinstance(settings.scan, Optimised) and not settings.restart:
        left_out = len(model.free) - len(np.unique(settings.scan.order))
        if left_out:
            warnings.warn(
                f"The optimised scan never updates {left_out} of the free variables: they keep "
                "their first values, and so does their effect on the others. Use restart=True, "
                "where every pass is a draw of its own.",
                stacklevel=5,
            )
    if isinstance(settings.driver, Herded) and not settings.scan.deterministic:
        warnings.warn(
            f"Herding loses its advantage with the random scan {settings.scan.name!r}: use "
            "scan='systematic'.",
            stacklevel=5,
        )


def warn_of_stuck(model: Model, columns: NDArray[np.float64], session: Any) -> None:
    """Warn of variables that zeros may have kept from ever changing.

    Parameters
    ----------
    model
        A model with zeros.
    columns
        The marginals, as the engine lays them out.
    session
        The run.
    """
    certain = (columns == 0.0) | (columns == 1.0)
    if model.evidence is not None:
        free = model.evidence < 0
        certain &= (
            free if session.engine.binary else np.repeat(free, np.asarray(model.cardinalities))
        )
    if session.passes < 16 or not certain.any() or session.settings.chance == "greedy":
        return
    warnings.warn(
        f"{int(certain.sum())} probabilities came out as exactly 0 or 1. This model has zeros, and "
        "single-site moves may never leave one part of its support: the error bars do not cover "
        "that. Compare with heeler.exact.",
        stacklevel=6,
    )
