"""Scans that carry a guarantee."""

from dataclasses import dataclass
from typing import Any

from heeler.scan.scans import Sequence


@dataclass(frozen=True, eq=False, repr=False)
class Optimised(Sequence):
    """A scan with a guarantee: made by `optimise_scan`, `shortest_scan` and `DoGS`.

    Parameters
    ----------
    order
        The variables in the order of their updates, int32.
    guarantee
        The Dobrushin variation: a bound on the distance after one pass from any start, for a
        chain with the random driver (Gibbs sampling).
    before
        The guarantee of the scan that it was made from, at the same length.
    target
        The variables that it is for, with their weights; a list of them where there are several.
    rounds
        How often all steps were chosen.
    kept
        How many first steps are those of the scan that it was made from.
    bounds
        The guarantee of each target, where there are several; otherwise of the one.
    """

    guarantee: float = float("nan")
    before: float = float("nan")
    target: Any = None
    rounds: int = 0
    kept: int = 0
    bounds: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The scan's name in settings: it is a sequence of variables."""
        return "sequence"

    def __len__(self) -> int:
        """Count the steps of a pass."""
        return len(self.order)

    def __repr__(self) -> str:
        """Show length and guarantees."""
        return (
            f"Optimised({len(self.order)} steps, guarantee={self.guarantee:.4g}, "
            f"before={self.before:.4g}, rounds={self.rounds})"
        )
