"""Scans as the compiled loop takes them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled import scans as compiled
from heeler.model.base import Model
from heeler.scan import (
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
)
from heeler.scan.order import order_of

_CERTAIN = np.uint32(0xFFFFFFFF)


def compile_scan(scan: Scan, model: Model, seed: int) -> tuple[Any, int]:
    """Make the tuple that the compiled loop takes.

    Parameters
    ----------
    scan
        The scan.
    model
        The model.
    seed
        Key of the scan's random words.

    Returns
    -------
    compiled : tuple
        One of the tuples of `heeler.compiled.scans`.
    steps : int
        Updates of a pass.
    """
    key = np.uint64(seed)
    if isinstance(scan, (Uniform, Weighted)):
        sites = model.free
        if isinstance(scan, Weighted):
            weights = scan.checked(model)
            sites = np.flatnonzero(weights)
            accept, alias = alias_table(weights[sites])
        else:
            accept, alias = np.full(len(sites), _CERTAIN), np.arange(len(sites))
        steps = len(model.free) if scan.steps is None else scan.steps
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
            raise ValueError(
                "The 'steps' parameter of a scan must be a whole number of at least 1. "
                f"Got {scan.steps!r} instead."
            )
        steps = int(steps)
        start = np.array([0, steps])
        tuple_ = compiled.Weighted(
            sites.astype(np.uint32), start, accept, alias.astype(np.int32), key
        )
        return tuple_, steps
    if isinstance(scan, Steps):
        raise ValueError(  # noqa: TRY004 - a scan, but one that is only there to be bounded
            "The 'scan' parameter holds steps that draw their variable with probabilities of their "
            "own, which bounds understand and runs do not. Use scan=Weighted(...) for one draw "
            "repeated, or a sequence of variables."
        )
    order, class_pointer = order_of(scan, model)
    start = np.array([0, len(order)])
    sites = np.ascontiguousarray(order, np.uint32)
    if isinstance(scan, Shuffled):
        return compiled.Shuffled(sites, start, key), len(order)
    if isinstance(scan, Jacobi):
        return compiled.Jacobi(sites, start), len(order)
    if not isinstance(scan, (Systematic, Reversed, Chromatic, Sequence)):
        raise TypeError(
            f"The 'scan' parameter must be a scan of heeler.scan. Got {scan!r} instead."
        )
    return compiled.Fixed(sites, start, class_pointer), len(order)


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Prepare Walker's alias method.

    Parameters
    ----------
    weights
        Positive numbers.

    Returns
    -------
    accept : ndarray
        uint32: a column keeps a draw whose word is below this.
    alias : ndarray
        int64: the column that gets the other draws.
    """
    count = len(weights)
    share = weights * (count / weights.sum())
    alias = np.arange(count)
    small = [int(k) for k in np.flatnonzero(share < 1.0)]
    large = [int(k) for k in np.flatnonzero(share >= 1.0)]
    while small and large:
        low, high = small.pop(), large[-1]
        alias[low] = high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    share[small + large] = 1.0  # rounding left these: they keep all their draws
    return np.minimum(np.rint(share * 2.0**32), 2.0**32 - 1).astype(np.uint32), alias
