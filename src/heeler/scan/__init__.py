"""Scans: which variable is updated when."""

from typing import TYPE_CHECKING, Any

from heeler.scan.colouring import colour
from heeler.scan.dogs import DoGS
from heeler.scan.optimised import Optimised
from heeler.scan.scans import (
    Chromatic,
    Jacobi,
    Reversed,
    Scan,
    Sequence,
    Shuffled,
    Steps,
    Systematic,
    Uniform,
    Weighted,
    as_scan,
)

if TYPE_CHECKING:
    from heeler.scan.blocks import OptimisedBlocks
    from heeler.scan.compare import Comparison
    from heeler.scan.influence.matrix import Influence

__all__ = [
    "Chromatic",
    "Comparison",
    "DoGS",
    "Influence",
    "Jacobi",
    "Optimised",
    "OptimisedBlocks",
    "Reversed",
    "Scan",
    "Sequence",
    "Shuffled",
    "Steps",
    "Systematic",
    "Uniform",
    "Weighted",
    "as_scan",
    "colour",
]

# What needs SciPy or Numba is imported when it is asked for.
_LATER = {
    "Comparison": "heeler.scan.compare",
    "Influence": "heeler.scan.influence.matrix",
    "OptimisedBlocks": "heeler.scan.blocks",
}


def __getattr__(name: str) -> Any:
    """Import what is slow to import when it is first asked for."""
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
