"""Influence: how much the conditional of a variable can change when one other variable does."""

from typing import TYPE_CHECKING, Any

from heeler.scan.influence.bounds import influence
from heeler.scan.influence.given import as_influence

if TYPE_CHECKING:
    from heeler.scan.influence.matrix import Influence

__all__ = ["Influence", "as_influence", "influence"]


def __getattr__(name: str) -> Any:
    """Import the matrix class, and with it SciPy, when it is first asked for."""
    if name == "Influence":
        from heeler.scan.influence.matrix import Influence

        return Influence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
