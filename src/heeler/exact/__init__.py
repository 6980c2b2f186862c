"""Exact answers for models that are small or narrow enough: what samplers are judged by."""

from heeler.exact.chain import Smoothing, forward_backward, viterbi
from heeler.exact.distance import Distances, scan_distances
from heeler.exact.errors import Contradiction, TooWide
from heeler.exact.oracle import (
    Width,
    log_z,
    map_state,
    marginals,
    pairs,
    sample,
    width,
)
from heeler.exact.oracle import enumerate_states as enumerate  # noqa: A004 - the public name
from heeler.exact.result import Marginals, Pairs

__all__ = [
    "Contradiction",
    "Distances",
    "Marginals",
    "Pairs",
    "Smoothing",
    "TooWide",
    "Width",
    "enumerate",
    "forward_backward",
    "log_z",
    "map_state",
    "marginals",
    "pairs",
    "sample",
    "scan_distances",
    "viterbi",
    "width",
]
