"""What the writers have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heeler.model.base import Model

__all__ = ["conditional_tables", "refuse_evidence"]


def refuse_evidence(model: Model) -> None:
    """Raise an error if a model has evidence, for which a model file has no place.

    Parameters
    ----------
    model : Model
        The model.
    """
    if model.evidence is not None and bool((np.asarray(model.evidence) >= 0).any()):
        raise ValueError(
            "model must have no evidence, which model files cannot hold; write the model as it was "
            "before given(), and the evidence with heeler.io.uai.write_evidence"
        )


def conditional_tables(model: Model, what: str) -> list[tuple[int, tuple[int, ...], np.ndarray]]:
    """Return a Bayesian network's tables as probabilities.

    Parameters
    ----------
    model : Model
        The network.
    what : str
        The format that needs it, for messages.

    Returns
    -------
    list of (child, parents, table)
        The tables, the child's axis last.
    """
    cpts = getattr(model, "cpts", None)
    if cpts is None:
        raise TypeError(f"model must be a BayesNet to be written as {what}, got {model!r}")
    return [(int(child), tuple(map(int, parents)), table) for child, parents, table in cpts]
