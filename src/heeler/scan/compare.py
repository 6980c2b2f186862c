"""Usual scans beside optimised ones: what each of them guarantees."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.scan.optimise import as_epsilon, optimise_scan, shortest_scan
from heeler.scan.optimised import Optimised
from heeler.scan.plan import as_plan, variables_of, whole
from heeler.scan.target import Target, as_target
from heeler.scan.variation import coupling_bounds, matrix_of, weighted_sum

# Products of a matrix that may be spent on finding how long a usual scan would have to be.
MOST_WORK = 1 << 31
USUAL = ("uniform", "systematic")


@dataclass(frozen=True)
class Frequency:
    """How often variables at some distance from the target are updated.

    Attributes
    ----------
    distance : int
        Steps on the graph to the nearest variable of the target.
    variables : int
        Free variables at this distance that the scan could update.
    updates : int
        Updates of them in a pass.
    """

    distance: int
    variables: int
    updates: int


@dataclass(frozen=True, repr=False)
class Comparison:
    """Guarantees of scans of one length; made by `compare_scans`.

    Attributes
    ----------
    influence : Influence
        The matrix.
    target : Target
        What is asked.
    length : int
        Steps.
    epsilon : float or None
        The guarantee that was wanted.
    guarantees : dict
        Scan -> the bound after `length` steps.
    steps : dict
        Scan -> steps until the bound is at most epsilon; None where that was not found.
    optimised, iterated : Optimised
        The scans of one round, and of rounds until nothing is gained.
    """

    influence: Any
    target: Target
    length: int
    epsilon: float | None
    guarantees: dict[str, float]
    steps: dict[str, int | None]
    optimised: Optimised
    iterated: Optimised

    def frequencies(self, scan: Any = None) -> list[Frequency]:
        """Count updates by distance from the target.

        Parameters
        ----------
        scan
            A sequence of variables; None stands for the optimised scan.

        Returns
        -------
        list of Frequency
            From distance 0 to the largest at which the scan updates a variable.
        """
        order = self.optimised.order if scan is None else scan.order
        counts = np.bincount(order, minlength=self.influence.n_variables)
        found = []
        for distance, layer in enumerate(layers(self.influence, self.target.index)):
            updates = int(counts[layer].sum())
            found.append(Frequency(distance, len(layer), updates))
            counts[layer] = 0
            if not counts.any():
                break
        return found

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the guarantees against the number of steps, and updates against distance.

        Parameters
        ----------
        path
            A file to write to.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.
        """
        from heeler.scan.picture import plot_of

        return plot_of(self, path)

    def __repr__(self) -> str:
        """Show the guarantees."""
        shown = ", ".join(f"{name}: {value:.4g}" for name, value in self.guarantees.items())
        return f"Comparison({self.length} steps, {shown})"


def compare_scans(
    model_or_influence: Any,
    target: Any = None,
    *,
    length: int | None = None,
    epsilon: float | None = None,
    scan: Any = "systematic",
) -> Comparison:
    """Compare the guarantees of the usual scans with those of optimised ones.

    Parameters
    ----------
    model_or_influence
        A model, or what `heeler.influence` gives, or a matrix of bounds.
    target
        What is asked, as in `heeler.variation`.
    length
        Steps; None stands for one pass, or for the shortest optimised scan that reaches epsilon.
    epsilon
        The guarantee wanted.
    scan
        The scan that optimising begins with.

    Returns
    -------
    Comparison
        Guarantees and scans.
    """
    matrix = matrix_of(model_or_influence)
    variables = variables_of(matrix)
    wanted = as_target(target, variables)
    if length is not None and epsilon is not None:
        raise ValueError("Give 'length' or 'epsilon', not both.")
    if epsilon is not None:
        epsilon = as_epsilon(epsilon)
        one = shortest_scan(matrix, epsilon, wanted, scan)
    else:
        steps = as_plan(scan, matrix).length if length is None else whole("length", length)
        one = optimise_scan(matrix, scan, wanted, length=steps)
    steps = len(one)
    many = optimise_scan(matrix, one, wanted, length=steps, rounds=None)
    guarantees = {
        name: _bound(matrix, name, wanted, steps)
        for name in USUAL
        if name != "uniform" or steps * matrix.nnz <= MOST_WORK
    }
    needed: dict[str, int | None] = {}
    if epsilon is not None:
        needed = {name: _needed(matrix, name, wanted, epsilon) for name in USUAL}
        needed |= {"optimised": steps, "iterated": steps}
    guarantees |= {"optimised": one.guarantee, "iterated": many.guarantee}
    return Comparison(matrix, wanted, steps, epsilon, guarantees, needed, one, many)


def layers(matrix: Any, first: NDArray[np.int64]) -> Any:
    """Go out from some variables, one step of influence at a time.

    Parameters
    ----------
    matrix
        The `Influence`.
    first
        Where to begin.

    Yields
    ------
    ndarray
        The variables at distance 0, 1, ...
    """
    pointer, index, _ = matrix.flat()
    seen = np.zeros(matrix.n_variables, bool)
    layer = np.asarray(first)
    while len(layer):
        seen[layer] = True
        yield layer
        sizes = pointer[layer + 1] - pointer[layer]
        places = np.repeat(pointer[layer] - (np.cumsum(sizes) - sizes), sizes)
        near = index[places + np.arange(len(places))]
        layer = np.unique(near[~seen[near]])


def _bound(matrix: Any, scan: str, target: Target, length: int) -> float:
    """Compute a variation."""
    b = coupling_bounds(matrix, scan, length=length)
    return weighted_sum(target.weight, b[target.index])


def _needed(matrix: Any, scan: str, target: Target, epsilon: float) -> int | None:
    """Find how many steps a usual scan needs, by doubling and halving."""
    cost = matrix.nnz if scan == "uniform" else 1
    if target.total <= epsilon:
        return 1
    if not matrix.contracts:
        return None
    low, length, work = 0, 1, 0
    while _bound(matrix, scan, target, length) > epsilon:
        low, length = length, 2 * length
        work += length * cost
        if work > MOST_WORK // 8:
            return None
    while length - low > 1:
        middle = (low + length) // 2
        if _bound(matrix, scan, target, middle) <= epsilon:
            length = middle
        else:
            low = middle
    return length
