"""Colourings: classes of variables that do not touch each other."""

import numpy as np
from numpy.typing import NDArray


def colour(
    pointer: NDArray[np.int64], index: NDArray[np.integer], sites: NDArray[np.integer]
) -> NDArray[np.int32]:
    """Colour the graph's variables so that neighbours differ, largest degree first.

    Parameters
    ----------
    pointer, index
        The graph in compressed rows.
    sites
        The variables to colour; the others are ignored and get -1.

    Returns
    -------
    ndarray
        int32 (n,): the colour of each variable, from 0; at most the largest degree + 1 colours.
    """
    from heeler.compiled.colour import first_fit

    n = len(pointer) - 1
    degree = np.diff(pointer)
    sites = np.asarray(sites, np.int64)
    order = sites[np.argsort(-degree[sites], kind="stable")]
    colours = np.full(n, -1, np.int32)
    taken = np.full(int(degree.max(initial=0)) + 2, -1, np.int64)
    first_fit(pointer, np.asarray(index), order, colours, taken)
    return colours
