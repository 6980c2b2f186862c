"""What is proved about herded runs: the theorems of the paper, and a sharper bound."""

from heeler.estimate.herded.bounds import find_bounds, herded_bounds
from heeler.estimate.herded.complete import CompleteBounds, Discrepancy, FullBounds
from heeler.estimate.herded.empty import EmptyBounds
from heeler.estimate.herded.relations import Independence, rational_independence

__all__ = [
    "CompleteBounds",
    "Discrepancy",
    "EmptyBounds",
    "FullBounds",
    "Independence",
    "find_bounds",
    "herded_bounds",
    "rational_independence",
]
