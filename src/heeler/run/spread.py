"""Errors from the spread of chains."""

import numpy as np
from numpy.typing import NDArray


def across_lanes(sums: NDArray[np.float64], visits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Estimate the standard error of the mean of the lanes from how they differ.

    Parameters
    ----------
    sums
        (lanes, entries).
    visits
        Updates behind each entry, (entries,).

    Returns
    -------
    ndarray
        float64 (entries,); NaN with fewer than two lanes.
    """
    lanes = len(sums)
    if lanes < 2:
        return np.full(sums.shape[1], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / visits
        means -= means.sum(axis=0) / lanes
        return np.sqrt(np.square(means).sum(axis=0) / (lanes - 1) / lanes)
