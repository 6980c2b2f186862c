"""The order of a deterministic scan's pass."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.scan.colouring import colour
from heeler.scan.scans import Chromatic, Reversed, Scan, Sequence


def order_of(scan: Scan, model: Model) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the sites of a deterministic scan's pass, and where its classes begin.

    Parameters
    ----------
    scan
        The scan.
    model
        The model; its clamped variables are left out.

    Returns
    -------
    order : ndarray
        int64 sites.
    class_pointer : ndarray
        int64 (classes + 1,); one class where nothing is known to be independent.
    """
    free = model.free
    if isinstance(scan, Sequence):
        order = scan.checked(model)
    elif isinstance(scan, Chromatic):
        return _by_colour(model, free)
    else:
        order = free[::-1] if isinstance(scan, Reversed) else free
    return order, np.array([0, len(order)])


def _by_colour(
    model: Model, free: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort the free variables by colour: a lattice's rows in order, others by degree."""
    planes: Any = getattr(model, "colours", None)
    if planes is not None and (colours := planes()) is not None:
        key = colours[free].astype(np.int64)
        order = free[np.argsort(key, kind="stable")]
    else:
        pointer, index = model.adjacency()
        colours = colour(pointer, index, free)
        # Equal degrees side by side: the inner loop's length is then predictable.
        order = free[np.lexsort((np.diff(pointer)[free], colours[free]))]
    sizes = np.bincount(colours[free], minlength=1)
    return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
