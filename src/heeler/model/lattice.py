"""Lattices: Ising models whose graph is a regular grid and is never stored."""

from collections.abc import Iterator, Sequence
from math import prod
from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.base import Model
from heeler.model.check import as_finite, frozen, repeated, same_cardinalities, shown
from heeler.model.factor_graph import FactorGraph
from heeler.model.graph import symmetric_rows
from heeler.model.ising import Ising

# The steps to half of a site's neighbours; the other half are the opposite steps.
STEPS: dict[tuple[int, int], tuple[tuple[int, ...], ...]] = {
    (2, 4): ((1, 0), (0, 1)),
    (2, 8): ((1, 0), (0, 1), (1, 1), (1, -1)),
    (3, 6): ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}


class Lattice(Model):
    """Spins on a regular grid with one coupling; made by `heeler.lattice`.

    p(s) is proportional to exp(J * sum over bonds of s_i s_j + sum of h_i s_i), where the spin of
    value x is s = 2 x - 1. Variables are the sites in C order: the last axis is the fastest.

    Attributes
    ----------
    shape : tuple of int
        Two or three extents; where the lattice is periodic each is at least 3.
    coupling : float
        J.
    field : ndarray
        h, float64 (n,); one number given for all sites is stored once (stride 0).
    periodic : bool
        Whether opposite borders touch.
    neighbours : int
        4 or 8 in two dimensions, 6 in three.
    """

    kind = "lattice"
    shape: tuple[int, ...]
    coupling: float
    field: NDArray[np.float64]
    periodic: bool
    neighbours: int

    def index(self, variable: Any) -> int:
        """Find the index of a site.

        Parameters
        ----------
        variable
            Its name, its index, or a tuple of coordinates.

        Returns
        -------
        int
            The index, from 0.
        """
        if not isinstance(variable, tuple):
            return super().index(variable)
        if len(variable) != len(self.shape) or not all(
            isinstance(k, int | np.integer) and 0 <= k < extent
            for k, extent in zip(variable, self.shape, strict=False)
        ):
            raise ValueError(
                f"A site must have coordinates within the shape {self.shape}. "
                f"Got {shown(variable)} instead."
            )
        return int(np.ravel_multi_index(variable, self.shape))

    def to_ising(self) -> Ising:
        """Give the same distribution, evidence kept, with its graph written out."""
        return self._cached("_ising", self._write_out)._with_evidence(self.evidence)

    def _write_out(self) -> Ising:
        """Write the graph out."""
        wraps = (self.periodic,) * len(self.shape)
        steps = STEPS[len(self.shape), self.neighbours]
        couplings = (self.coupling,) * len(steps)
        field = frozen(np.ascontiguousarray(self.field))
        return _explicit(self.shape, steps, wraps, couplings, field, self.names, self.value_names)

    def colours(self) -> NDArray[np.int32] | None:
        """Colour the sites so that neighbours differ: by parity, or by 2 x 2 cells with diagonals.

        Returns
        -------
        ndarray or None
            int32 (n,), from 0; None where a periodic axis of odd length leaves no such colouring.
        """
        if self.periodic and any(extent % 2 for extent in self.shape):
            return None
        axes = np.indices(self.shape, np.int32)
        if self.neighbours == 8:
            return (2 * (axes[0] % 2) + axes[1] % 2).ravel()
        return (axes.sum(axis=0, dtype=np.int32) % 2).ravel()

    def to_factor_graph(self) -> FactorGraph:
        """Give the same distribution, evidence kept, as a factor graph."""
        return self.to_ising().to_factor_graph()

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows."""
        return self.to_ising().adjacency()

    def __repr__(self) -> str:
        """Show shape, neighbourhood and numbers in one line."""
        if self.evidence is None:
            return f"Lattice({', '.join(self._sizes())})"
        return f"Lattice({', '.join(self._sizes())}, {(self.evidence >= 0).sum()} clamped)"

    def _sizes(self) -> list[str]:
        """List shape, neighbourhood and numbers."""
        uniform = self.field.strides[0] == 0
        return [
            "x".join(map(str, self.shape)),
            f"{self.neighbours} neighbours",
            "periodic" if self.periodic else "open",
            f"coupling={self.coupling:g}",
            f"field={self.field[0]:g}" if uniform else "field per site",
        ]

    def _parts(self) -> dict[str, Any]:
        """Give the defining numbers and arrays."""
        numbers = np.array([*self.shape, self.periodic, self.neighbours], np.int64)
        return {"numbers": numbers, "coupling": np.array([self.coupling]), "field": self.field}

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Count agreeing bonds, exactly, and add fields."""
        spins = 2 * states.astype(np.int8) - 1
        grid = spins.reshape(-1, *self.shape)
        axes = tuple(range(1, grid.ndim))
        wraps = (False, *(self.periodic,) * len(self.shape))
        total = np.zeros(len(states), np.int64)
        for step in STEPS[len(self.shape), self.neighbours]:
            start, end = _bond_ends(grid, (0, *step), wraps)
            total += (start * end).sum(axis=axes, dtype=np.int64)
        if self.field.strides[0] == 0:
            fields = spins.sum(axis=1, dtype=np.int64) * self.field[0]
        else:
            fields = spins @ self.field
        return self.coupling * total + fields

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Give -h and +h for the local field h."""
        near = self._blanket(variable)
        total = 2 * states[:, near].sum(axis=1, dtype=np.int64) - len(near)
        local = self.field[variable] + self.coupling * total
        return np.stack((-local, local), axis=1)

    def _blanket(self, variable: int) -> NDArray[np.int32]:
        """List a site's neighbours by its coordinates."""
        here = np.array(np.unravel_index(variable, self.shape))
        steps = np.array(STEPS[len(self.shape), self.neighbours])
        there = here + np.concatenate((steps, -steps))
        if self.periodic:
            there %= self.shape
        else:
            there = there[((there >= 0) & (there < self.shape)).all(axis=1)]
        return np.sort(np.ravel_multi_index(tuple(there.T), self.shape)).astype(np.int32)


def lattice(
    shape: Sequence[int],
    coupling: Any,
    field: ArrayLike = 0.0,
    periodic: bool = False,
    neighbours: int | None = None,
    *,
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> Lattice | Ising:
    """Make an Ising model on a regular grid.

    Parameters
    ----------
    shape
        Two or three extents.
    coupling
        J: one number makes a `Lattice`. A sequence with one entry per direction makes the `Ising`
        model of the same graph: directions are down, right (and down-right, down-left with 8
        neighbours), or the three axes; an entry is a number or an array with one number per
        bond, shaped like the block of sites from which such bonds start (an axis that does not
        wrap is one shorter along it).
    field
        h: one number, or one per site, of the lattice's shape or flat.
    periodic
        Whether opposite borders touch. Each pair of neighbours has one bond: an axis of length 1
        or 2 therefore does not wrap (no bond of a site with itself, no double bond), and the
        model then is an `Ising` model, as its graph is not regular.
    neighbours
        4 (default) or 8 in two dimensions, 6 in three.
    names, value_names
        Names of the sites and of their values; value 0 is spin -1, value 1 is spin +1.

    Returns
    -------
    Lattice or Ising
        The model.
    """
    extents = _extents(shape)
    dimensions, count = len(extents), prod(extents)
    neighbours = {2: 4, 3: 6}[dimensions] if neighbours is None else neighbours
    if (dimensions, neighbours) not in STEPS:
        raise ValueError(
            "The 'neighbours' parameter must be 4 or 8 in two dimensions and 6 in three. "
            f"Got {shown(neighbours)} in {dimensions} dimensions instead."
        )
    if not isinstance(periodic, bool | np.bool_):
        raise TypeError(f"The 'periodic' parameter must be a bool. Got {shown(periodic)} instead.")
    cardinalities = same_cardinalities(count, 2)
    fields = _site_field(field, extents)
    steps = STEPS[dimensions, neighbours]
    wraps = tuple(bool(periodic) and extent >= 3 for extent in extents)
    if not isinstance(coupling, list | tuple) and np.ndim(coupling) == 0:
        number = float(as_finite(coupling, "coupling"))
        if all(wraps) or not periodic:
            return Lattice(
                cardinalities,
                names,
                value_names,
                shape=extents,
                coupling=number,
                field=fields,
                periodic=bool(periodic),
                neighbours=int(neighbours),
            )
        coupling = (number,) * len(steps)
    if len(coupling) != len(steps):
        raise ValueError(
            "The 'coupling' parameter must be a number or have one entry for each of "
            f"{len(steps)} directions. Got {len(coupling)} entries instead."
        )
    return _explicit(extents, steps, wraps, coupling, fields, names, value_names)


def _extents(shape: Any) -> tuple[int, ...]:
    """Check the shape of a lattice."""
    try:
        extents = tuple(as_integer(extent) for extent in shape)
    except TypeError:
        raise TypeError(
            f"The 'shape' parameter must hold integers. Got {shown(shape)} instead."
        ) from None
    if len(extents) not in (2, 3) or min(extents) < 1:
        raise ValueError(
            "The 'shape' parameter must hold two or three positive extents. "
            f"Got {shown(extents)} instead."
        )
    return extents


def _site_field(field: Any, extents: tuple[int, ...]) -> NDArray[np.float64]:
    """Check a field and give it as (n,); one number for all is stored once."""
    array = as_finite(field, "field")
    count = prod(extents)
    if array.ndim == 0:
        return repeated(array, (count,))
    if array.shape not in (extents, (count,)):
        raise ValueError(
            f"The 'field' parameter must be a number or have shape {extents}. "
            f"Got an array of shape {array.shape} instead."
        )
    return frozen(np.array(array, order="C").reshape(count))


def _bond_ends(
    sites: NDArray, step: tuple[int, ...], wraps: tuple[bool, ...]
) -> tuple[NDArray, NDArray]:
    """Give what is at the start and at the end of every bond in one direction."""
    start = end = sites
    for axis, (move, wrap) in enumerate(zip(step, wraps, strict=True)):
        if not move:
            continue
        if wrap:
            end = np.roll(end, -move, axis)
            continue
        low = (slice(None),) * axis + (slice(None, -1),)
        high = (slice(None),) * axis + (slice(1, None),)
        start, end = (start[low], end[high]) if move > 0 else (start[high], end[low])
    return start, end


def _bond_couplings(
    couplings: Sequence[Any], blocks: Iterator[tuple[NDArray, NDArray]]
) -> tuple[NDArray, NDArray, NDArray]:
    """List all bonds with their couplings."""
    first, second, value = [], [], []
    for number, (entry, (start, end)) in enumerate(zip(couplings, blocks, strict=True)):
        array = as_finite(entry, f"coupling[{number}]")
        if array.ndim and array.shape != start.shape:
            raise ValueError(
                f"Entry {number} of the 'coupling' parameter must be a number or have shape "
                f"{start.shape}. Got an array of shape {array.shape} instead."
            )
        first.append(start.ravel())
        second.append(end.ravel())
        value.append(np.broadcast_to(array, start.shape).ravel())
    return np.concatenate(first), np.concatenate(second), np.concatenate(value)


def _explicit(
    extents: tuple[int, ...],
    steps: tuple[tuple[int, ...], ...],
    wraps: tuple[bool, ...],
    couplings: Sequence[Any],
    field: NDArray[np.float64],
    names: Any,
    value_names: Any,
) -> Ising:
    """Write a lattice's graph out."""
    count = prod(extents)
    sites = np.arange(count).reshape(extents)
    blocks = (_bond_ends(sites, step, wraps) for step in steps)
    rows = symmetric_rows(count, *_bond_couplings(couplings, blocks))
    pointer, column, coupling = map(frozen, rows)
    return Ising(
        same_cardinalities(count, 2),
        names,
        value_names,
        pointer=pointer,
        column=column,
        coupling=coupling,
        field=frozen(np.ascontiguousarray(field)),
    )
