"""Reading and writing models by the file's ending."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from heeler.io import bif, uai
from heeler.io.files import MAX_BYTES, MAX_ENTRIES, split_name

if TYPE_CHECKING:
    from heeler.model.base import Model
    from heeler.model.bayes_net import BayesNet
    from heeler.model.factor_graph import FactorGraph

__all__ = ["read", "write"]

_FORMATS = {".uai": "uai", ".lg": "lg", ".bif": "bif"}


def _format(path: str | os.PathLike[str], name: str | None) -> str:
    if name is not None:
        if name not in _FORMATS.values():
            known = ", ".join(map(repr, _FORMATS.values()))
            raise ValueError(f"format must be one of {known} or None, got {name!r}")
        return name
    ending = split_name(path)[0]
    if ending not in _FORMATS:
        raise ValueError(
            f"path must end in .uai, .LG or .bif, with .gz or .xz after it if compressed, "
            f"or format must be given; got {os.fspath(path)!r}"
        )
    return _FORMATS[ending]


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
) -> FactorGraph | BayesNet:
    """Read a model from a file.

    Parameters
    ----------
    path : str or path-like
        The file: `.uai` (UAI competition), `.LG` (the same with logarithms of base 10), `.bif`
        (Bayesian network), each also compressed with `.gz` or `.xz` at the end.
    format : {"uai", "lg", "bif"}, optional
        The format, if the file's ending does not tell.
    max_bytes : int
        Limit on the text's size after decompression.
    max_entries : int
        Limit on the number of table entries.

    Returns
    -------
    FactorGraph or BayesNet
        The model.

    Raises
    ------
    ReadError
        If the file's content is not what its ending says. The message has file and line.
    """
    kind = _format(path, format)
    if kind == "bif":
        return bif.read(path, max_bytes=max_bytes, max_entries=max_entries)
    return uai.read(path, log10=kind == "lg", max_bytes=max_bytes, max_entries=max_entries)


def write(model: Model, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a model to a file.

    The file appears complete or not at all. Reading it gives the same distribution.

    Parameters
    ----------
    model : Model
        The model, without evidence. Only Bayesian networks can be written as BIF.
    path : str or path-like
        The file; its ending tells the format and the compression as for `read`.
    format : {"uai", "lg", "bif"}, optional
        The format, if the file's ending does not tell.
    """
    kind = _format(path, format)
    if not hasattr(model, "to_factor_graph"):
        raise TypeError(f"model must be a heeler model, got {type(model).__name__}")
    if kind == "bif":
        bif.write(model, path)  # type: ignore[arg-type]
    else:
        uai.write(model, path, log10=kind == "lg")
