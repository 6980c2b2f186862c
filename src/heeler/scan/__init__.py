"""Scans: which variable is updated when."""

from heeler.scan.colouring import colour
from heeler.scan.dogs import DoGS
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

__all__ = [
    "Chromatic",
    "DoGS",
    "Jacobi",
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
