"""Runs for ArviZ, before and after its version 1."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.names import NumberNames

if TYPE_CHECKING:
    from heeler.run.result import Run

__all__ = ["to_arviz"]

# Names that ArviZ keeps for its dimensions, and that this module uses for its own.
_VARIABLE, _VALUE = "heeler_variable", "heeler_value"
_RESERVED = ("chain", "draw", "sample", "pred_id", _VARIABLE, _VALUE)
# Drivers that choose no value at random, and why that matters to whoever reads diagnostics.
_DETERMINISTIC = ("herded", "greedy")
_NOTE = (
    "The chains are deterministic: effective sample sizes and R-hat assume random ones and mean "
    "nothing here. constant_data has the marginals with errors from replicates, which show spread "
    "and not bias."
)


@dataclass
class _Content:
    """What ArviZ is given: one nested dictionary, and words about it.

    Attributes
    ----------
    groups
        Group -> name -> array.
    coords, dims
        As `arviz.from_dict` takes them.
    attrs
        Texts and numbers that any file format can hold.
    """

    groups: dict[str, dict[str, NDArray[Any]]]
    coords: dict[str, list[str]] = field(default_factory=dict)
    dims: dict[str, list[str]] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)


def to_arviz(run: Run) -> Any:
    """Hand the kept states of a run to ArviZ.

    A model whose variables have names gives one ArviZ variable each; one without gives the variable
    ``x``, in the shape of the lattice if it is one. Values are whole numbers. Clamped variables are
    `observed_data`. `sample_stats` has the log score as ``lp``; `constant_data` has the run's own
    marginals and their errors, which are better than averages of the kept states.

    Parameters
    ----------
    run : Run
        A run with ``keep="samples"``.

    Returns
    -------
    InferenceData or DataTree
        `InferenceData` from ArviZ 0, `DataTree` from ArviZ 1. The attribute ``deterministic`` is 1
        where the chains are not random, so that their diagnostics mean nothing.
    """
    if run.__dict__.get("_kept") is None:
        raise ValueError(
            "The 'run' parameter must be a run that kept its states: call heeler.sample(..., "
            "keep='samples'). Got one that did not."
        )
    if not run.__dict__["_kept"]:
        raise ValueError(
            "The 'run' parameter must be a run with kept states. Got one that ended before the "
            f"first was due, after {run.settings['thin']} sweeps."
        )
    try:
        import arviz  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(
            "to_arviz needs ArviZ, which is not installed: pip install 'heeler[arviz]'"
        ) from error
    content = _gather_density(run) if run.model.kind == "density" else _gather(run)
    if int(arviz.__version__.partition(".")[0]) >= 1:
        attrs = {"/": content.attrs} | dict.fromkeys(content.groups, content.attrs)
        return arviz.from_dict(
            content.groups, coords=content.coords, dims=content.dims, attrs=attrs
        )
    groups: dict[str, Any] = dict(content.groups)
    return arviz.from_dict(
        **groups,
        coords=content.coords,
        dims=content.dims,
        attrs=dict(content.attrs),
        posterior_attrs=content.attrs,
        sample_stats_attrs=content.attrs,
    )


def _gather(run: Run) -> _Content:
    """Sort the run into groups."""
    model = run.model
    states = run.samples
    chains, draws, n = states.shape
    # The scores belong to the kept states; the trace has other passes.
    scores = np.asarray(model.log_score(states.reshape(-1, n)), np.float64).reshape(chains, draws)
    content = _Content({"posterior": {}, "sample_stats": {"lp": scores}})
    content.attrs = _words(run)
    observed: dict[str, NDArray[Any]] = {}
    # Small unsigned integers would wrap round in differences.
    if isinstance(model.names, NumberNames):
        shape = getattr(model, "shape", (n,)) if model.evidence is None else (n,)
        content.groups["posterior"]["x"] = states.reshape(chains, draws, *shape).astype(np.int64)
        if model.evidence is not None:
            observed["x_observed"] = model.evidence.astype(np.int64)
    else:
        names = _safe_names(list(model.names))
        for v, name in enumerate(names):
            if model.evidence is not None and model.evidence[v] >= 0:
                observed[name] = np.asarray(model.evidence[v], np.int64)
            else:
                content.groups["posterior"][name] = states[:, :, v].astype(np.int64)
        renamed = {new: old for new, old in zip(names, model.names, strict=True) if new != old}
        if renamed:
            content.attrs["renamed"] = json.dumps(renamed)
        content.attrs["value_names"] = json.dumps(
            {name: list(model.value_names[v]) for v, name in enumerate(names)}
        )
        content.coords[_VARIABLE] = names
    content.groups["constant_data"] = {
        "marginal": run.marginals.array,
        "marginal_error": run.errors.array,
    }
    content.dims = {name: [_VARIABLE, _VALUE] for name in content.groups["constant_data"]}
    if observed:
        content.groups["observed_data"] = observed
    return content


def _gather_density(run: Any) -> _Content:
    """Sort a run on a log density into groups."""
    model = run.model
    states = run.samples
    chains, draws, n = states.shape
    scores = np.array([model.log_score(x) for x in states.reshape(-1, n)]).reshape(chains, draws)
    content = _Content({"posterior": {}, "sample_stats": {"lp": scores}})
    content.attrs = _words(run)
    if isinstance(model.names, NumberNames):
        content.groups["posterior"]["x"] = states
    else:
        names = _safe_names(list(model.names))
        for v, name in enumerate(names):
            values = states[:, :, v]
            discrete = model.values[v] > 0
            content.groups["posterior"][name] = values.astype(np.int64) if discrete else values
        content.coords[_VARIABLE] = names
    content.groups["constant_data"] = {
        "mean": run.means.array,
        "deviation": run.deviations.array,
        "mean_error": run.errors.array,
    }
    content.dims = {name: [_VARIABLE] for name in content.groups["constant_data"]}
    return content


def _words(run: Run) -> dict[str, Any]:
    """Describe the run in texts and numbers."""
    settings = run.settings
    keys = ("driver", "rule", "context", "scan", "burn_in", "thin", "temperature")
    attrs = {key: settings[key] for key in keys if settings[key] is not None}
    attrs |= {
        "inference_library": "heeler",
        "inference_library_version": settings["versions"]["heeler"],
        # The seed may be larger than what a file format's integers hold.
        "seed": str(settings["seed"]),
        "restart": int(settings["restart"]),
        "sweeps": run.stats["sweeps"],
        "updates": run.stats["updates"],
        "sampling_time": run.stats["seconds"],
        "model": repr(run.model),
        "model_digest": run.model.digest,
        "errors_cover": run.errors.label,
        "deterministic": int(settings["chance"] in _DETERMINISTIC),
    }
    if attrs["deterministic"]:
        attrs["deterministic_note"] = _NOTE
    if settings["scan"] == "jacobi":
        attrs["approximate"] = "the Jacobi scan does not leave the distribution invariant"
    return attrs


def _safe_names(names: list[str]) -> list[str]:
    """Change names that ArviZ or its files cannot take: its own dimensions, and paths."""
    taken = set(names)
    safe = []
    for name in names:
        changed = name.replace("/", "_") or "_"
        if changed != name or changed in _RESERVED:
            while changed in _RESERVED or changed in taken:
                changed += "_"
            taken.add(changed)
        safe.append(changed)
    return safe
