"""Scans as files: JSON with the order of updates and what it guarantees."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from heeler.io.errors import ReadError, shown
from heeler.io.files import read_bytes, write_bytes
from heeler.scan.optimised import Optimised
from heeler.scan.scans import Sequence
from heeler.scan.target import Target

if TYPE_CHECKING:
    from heeler.model.base import Model

__all__ = ["read_scan", "write_scan"]

#: Bytes that a reader accepts unless told otherwise.
MAX_BYTES = 2**28
_KIND = "heeler scan 1"


def write_scan(
    path: str | os.PathLike[str], scan: Sequence, model: Model, temperature: float = 1.0
) -> None:
    """Write a scan that is a sequence of variables.

    Parameters
    ----------
    path : str or path-like
        The file; `.gz` and `.xz` compress.
    scan : Sequence
        The scan; one with a guarantee keeps it.
    model : Model
        The model that it is for.
    temperature : float
        The temperature that the guarantee is for.
    """
    content: dict[str, Any] = {
        "kind": _KIND,
        "model": model.digest,
        "variables": model.n_variables,
        "temperature": float(temperature),
        "order": scan.checked(model).tolist(),
    }
    if isinstance(scan, Optimised) and isinstance(scan.target, Target):
        content |= {
            "guarantee": scan.guarantee,
            "before": scan.before,
            "rounds": scan.rounds,
            "kept": scan.kept,
            "target": [scan.target.index.tolist(), scan.target.weight.tolist()],
        }
    write_bytes(path, (json.dumps(content, allow_nan=False) + "\n").encode())


def read_scan(
    path: str | os.PathLike[str],
    model: Model | None = None,
    temperature: float = 1.0,
    max_bytes: int = MAX_BYTES,
) -> Sequence:
    """Read a scan.

    Parameters
    ----------
    path : str or path-like
        A file that `write_scan` made.
    model : Model, optional
        The model that is to be scanned: the scan must fit, and its guarantee is kept only where
        this is the model, with the evidence, that it was made for.
    temperature : float
        The temperature of the run: the guarantee is kept only where it is the scan's.
    max_bytes : int
        Limit on the file's size, decompressed.

    Returns
    -------
    Sequence
        The scan, an `Optimised` one where its guarantee holds.

    Raises
    ------
    ReadError
        If the file is not a scan.
    """
    name = os.fspath(path)
    try:
        content = json.loads(read_bytes(path, max_bytes))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError("expected a scan in JSON", name) from None
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise ReadError(f"expected a scan, an object of kind {_KIND!r}", name)
    count = content.get("variables")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ReadError("expected a positive number of variables", name)
    order = _integers(content.get("order"), count, "order", name)
    if not order.size:
        raise ReadError("expected at least one step in the order", name)
    if model is not None and count != model.n_variables:
        raise ReadError(f"expected a scan of {model.n_variables} variables, found {count}", name)
    fits = model is None or (
        content.get("model") == model.digest and content.get("temperature") == temperature
    )
    scan = Sequence(order.astype(np.int32))
    if "guarantee" in content and fits:
        scan = _optimised(content, order, count, name)
    if model is not None:
        scan.checked(model)
    return scan


def _optimised(content: dict[str, Any], order: Any, count: int, name: str) -> Optimised:
    """Read what an optimised scan guarantees."""
    numbers = []
    for key in ("guarantee", "before"):
        value = content.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise ReadError(f"expected a number that is not negative as {key}", name)
        numbers.append(float(value))
    target = content.get("target")
    if not isinstance(target, list) or len(target) != 2 or not isinstance(target[1], list):
        raise ReadError("expected a target: two lists, variables and weights", name)
    index = _integers(target[0], count, "target", name)
    try:
        weight = np.array(target[1], np.float64)
    except (TypeError, ValueError):
        weight = np.empty(0)
    if weight.shape != index.shape or not (weight > 0).all() or not np.isfinite(weight).all():
        raise ReadError("expected a positive weight for each variable of the target", name)
    rounds, kept = content.get("rounds", 0), content.get("kept", 0)
    if not isinstance(rounds, int) or not isinstance(kept, int):
        raise ReadError("expected whole numbers as rounds and kept", name)
    known = numbers[0], numbers[1], Target(index, weight), rounds, kept, (numbers[0],)
    return Optimised(order.astype(np.int32), *known)


def _integers(value: Any, count: int, key: str, name: str) -> Any:
    """Read a list of variables."""
    if not isinstance(value, list) or not all(type(v) is int for v in value):
        raise ReadError(
            f"expected a list of whole numbers as {key}, found {shown(str(value))}", name
        )
    if value and (min(value) < 0 or max(value) >= count):
        wrong = min(value) if min(value) < 0 else max(value)
        raise ReadError(f"expected variables from 0 to {count - 1} in {key}, found {wrong}", name)
    return np.array(value, np.int64)
