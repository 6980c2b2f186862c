"""The arrays of a sparse binary model in slots, as the coloured kernel reads them.

A slot is a place in the pass: slot k holds the variable that is updated k-th, and the variables
that are never updated come after. In slots everything that a pass needs lies in the order of its
use, and whole vectors of new values, sums and scores are stored side by side. Within a class the
variables stand by ascending degree, so that the eight variables of a group have (nearly) as many
neighbours and a loop over them is seldom mispredicted.
"""

from typing import NamedTuple

import numpy as np

from heeler.compiled.conditionals import Sparse
from heeler.compiled.drivers import Herded
from heeler.compiled.scans import Fixed

GROUP = 8  # slots whose neighbours are gathered together: one 512-bit vector of float64


class Coloured(NamedTuple):
    """A sparse binary model in slots."""

    classes: np.ndarray  # int64 (classes + 1): ranges of slots that do not touch each other
    group: np.ndarray  # int64 (groups + 1): where the entries of 8 slots start
    index: np.ndarray  # uint32: the slots' j-th neighbours side by side, missing ones being slot n
    minus_coupling: np.ndarray  # float64 beside index: -coupling, 0 for missing neighbours
    field: np.ndarray  # float64 (8 * groups)
    base: np.ndarray  # int64 (8 * groups): number of the slot's first context, or -1
    scale: float  # fixed-point units of a nat


def colour_order(
    pointer: np.ndarray, index: np.ndarray, colours: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of a pass and the ranges of its classes.

    Parameters
    ----------
    pointer, index : ndarray
        The neighbours of every variable, as CSR.
    colours : ndarray of int, shape (n,)
        The class of every variable, from 0; negative for variables that are never updated.

    Returns
    -------
    order : ndarray of uint32
        The variables by class, degree and number.
    class_pointer : ndarray of int64, shape (classes + 1,)
        Class c is order[class_pointer[c]:class_pointer[c + 1]].
    """
    n = pointer.size - 1
    colours = np.asarray(colours)
    if colours.shape != (n,):
        raise ValueError(
            f"colours must have shape ({n},), one class for each variable; got {colours.shape}."
        )
    degree = np.diff(pointer)
    owner = np.repeat(np.arange(n), degree)
    clash = (colours[owner] == colours[index]) & (colours[owner] >= 0)
    if clash.any():
        edge = int(np.argmax(clash))
        raise ValueError(
            "colours must give neighbours different classes; "
            f"variables {int(owner[edge])} and {int(index[edge])} "
            f"both have {int(colours[index[edge]])}."
        )
    free = np.flatnonzero(colours >= 0)
    order = free[np.lexsort((free, degree[free], colours[free]))]
    count = np.bincount(colours[free]) if free.size else np.zeros(0, np.int64)
    return order.astype(np.uint32), np.concatenate(([0], np.cumsum(count))).astype(np.int64)


def slot_variables(order: np.ndarray, n: int) -> np.ndarray:
    """Return the variable of every slot (int64): those of the order, then the others."""
    rest = np.ones(n, bool)
    rest[order] = False
    return np.concatenate((order, np.flatnonzero(rest))).astype(np.int64)


def lay_out(conditional: Sparse, scan: Fixed) -> Coloured:
    """Return the model in the slots of a scan; costs three passes over the edges.

    The couplings must be given for all edges and be finite: the kernel computes every probability
    from them.
    """
    pointer, n = conditional.pointer, conditional.field.size
    if conditional.coupling.size != conditional.index.size:
        raise ValueError(
            "conditional.coupling must have one entry for each of the "
            f"{conditional.index.size} entries of index; got {conditional.coupling.size}."
        )
    if not (np.isfinite(conditional.coupling).all() and np.isfinite(conditional.field).all()):
        raise ValueError("conditional.coupling and .field must be finite; got infinities or NaN.")
    if np.unique(scan.order).size != scan.order.size:
        raise ValueError("scan.order must have every variable at most once; got one twice.")
    variables = slot_variables(scan.order, n)
    place = np.empty(n, np.int64)
    place[variables] = np.arange(n)
    groups = (n + GROUP - 1) // GROUP
    degree = np.diff(pointer)[variables]
    padded = np.zeros(groups * GROUP, np.int64)
    padded[:n] = degree
    padded[scan.order.size :] = 0  # nobody asks for the conditionals of the others
    group = np.concatenate(([0], np.cumsum(padded.reshape(groups, GROUP).max(axis=1) * GROUP)))
    free = padded[:n]
    slot = np.repeat(np.arange(n), free)
    number = np.arange(slot.size) - np.repeat(np.cumsum(free) - free, free)
    source = pointer[variables[slot]] + number
    target = group[slot // GROUP] + number * GROUP + slot % GROUP
    index = np.full(group[-1], n, np.uint32)
    index[target] = place[conditional.index[source]]
    minus_coupling = np.zeros(group[-1])
    minus_coupling[target] = -conditional.coupling[source]
    field = np.zeros(groups * GROUP)
    field[:n] = conditional.field[variables]
    base = np.full(groups * GROUP, -1, np.int64)
    base[:n] = conditional.base[variables]
    classes = scan.class_pointer.astype(np.int64)
    return Coloured(classes, group, index, minus_coupling, field, base, float(conditional.scale))


def herded_in_slots(driver: Herded, order: np.ndarray) -> Herded:
    """Return a herding driver that finds its bins by slot; the weights stay those of `driver`."""
    variables = slot_variables(order, driver.bin_base.size)
    return driver._replace(bin_base=np.ascontiguousarray(driver.bin_base[variables]))
