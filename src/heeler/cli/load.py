"""Models and evidence from the words of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import heeler

__all__ = ["describe", "load_model"]


def load_model(path: Path, evidence: Sequence[str] | None) -> Any:
    """Read a model and clamp what was observed.

    Parameters
    ----------
    path : Path
        The model's file.
    evidence : sequence of str, optional
        Evidence files and `NAME=VALUE` words, in any order.

    Returns
    -------
    Model
        The model, with evidence.
    """
    model = heeler.read(path)
    observed: dict[int, int] = {}
    for word in evidence or []:
        for variable, value in _observations(model, word).items():
            if observed.setdefault(variable, value) != value:
                name = model.names[variable]
                raise ValueError(f"--evidence must give one value to {name!r}, got two")
    return model.given(observed) if observed else model


def _observations(model: Any, word: str) -> dict[int, int]:
    if "=" not in word or Path(word).is_file():
        sets = heeler.io.uai.read_evidence(word, model.cardinalities)
        if len(sets) != 1:
            raise ValueError(f"--evidence must be one evidence set, {word} has {len(sets)}")
        return sets[0]
    # Names and values may have '=' in them; the longest known name before one is meant.
    cuts = [place for place, sign in enumerate(word) if sign == "="]
    known = [cut for cut in cuts if word[:cut].strip() in model.names]
    cut = known[-1] if known else cuts[0]
    variable = model.index(word[:cut].strip())
    return {variable: model.value_index(variable, word[cut + 1 :].strip())}


def describe(model: Any, path: Path) -> dict[str, Any]:
    """Return what the JSON output says of a model.

    Parameters
    ----------
    model : Model
        The model.
    path : Path
        Its file.

    Returns
    -------
    dict
        File, kind, sizes, digest and evidence by name.
    """
    evidence = {}
    if model.evidence is not None:
        for variable, value in enumerate(model.evidence.tolist()):
            if value >= 0:
                evidence[model.names[variable]] = model.value_names[variable][value]
    return {
        "file": str(path),
        "kind": model.kind,
        "variables": model.n_variables,
        "digest": model.digest,
        "evidence": evidence,
    }
