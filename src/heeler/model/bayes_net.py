"""Bayesian networks: factor graphs whose tables are conditional probabilities."""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.check import as_cardinalities, frozen, shown
from heeler.model.factor_graph import FactorGraph, FactorReader

# Tables in files are rounded, often to two decimals: three values of .33 sum to .99.
SUM_TOLERANCE = 0.02

Table = tuple[int, tuple[int, ...], NDArray[np.float64]]


class BayesNet(FactorGraph):
    """A Bayesian network; made by `heeler.bayes_net`.

    Factor k of the graph is entry k of `cpts`.

    Attributes
    ----------
    probabilities : ndarray
        float64: the tables as given, aligned to ``log_tables``.
    """

    kind = "bayes_net"
    probabilities: NDArray[np.float64]

    @property
    def cpts(self) -> tuple[Table, ...]:
        """The tables ``(child, parents, table)``, parents first, the child's axis last."""
        return self._cached("_cpts", lambda: tuple(map(self._cpt, range(self.n_factors))))

    def _cpt(self, number: int) -> Table:
        """Give one variable's conditional probabilities."""
        scope, table = self._factor(number)
        begin = self.table_pointer[self.table_of[number]]
        flat = self.probabilities[begin : begin + table.size]
        return scope[-1], scope[:-1], flat.reshape(table.shape)


def bayes_net(
    cardinalities: Iterable[int] | NDArray[np.integer],
    cpts: Iterable[tuple[Any, Sequence[Any], ArrayLike]],
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
) -> BayesNet:
    """Make a Bayesian network.

    Parameters
    ----------
    cardinalities
        The number of values of each variable.
    cpts
        One ``(child, parents, table)`` for every variable, in any order; variables by index or
        name (one name alone is one parent). A table has the parents' axes first, in the order of
        ``parents``, and the child's last, or is flat with the child fastest. Rows sum to 1, up to
        0.02 for rounded tables, and are used as they are.
    names
        Names of the variables.
    value_names
        Names of the values, for all variables alike or one sequence per variable.

    Returns
    -------
    BayesNet
        p(x) proportional to (for rows that sum to 1: equal to) the product of the tables.
    """
    counts = as_cardinalities(cardinalities)
    names = names if names is None or hasattr(names, "__len__") else tuple(names)
    reader = FactorReader(counts.tolist(), names)
    # The list keeps all tables alive, so that an id stands for one table.
    given = list(cpts)
    families: dict[int, tuple[list[int], Any]] = {}
    for number, entry in enumerate(given):
        child, parents, table = _family(entry, number, reader)
        if child in families:
            raise ValueError(f"The 'cpts' parameter gives variable {child} two tables.")
        families[child] = parents, table
    if len(families) < len(counts):
        missing = next(k for k in range(len(counts)) if k not in families)
        raise ValueError(f"The 'cpts' parameter gives variable {missing} no table.")
    for child in _parents_first({child: parents for child, (parents, _) in families.items()}):
        parents, table = families[child]
        reader.add(([*parents, child], table))
        _check_rows(reader, child)
    arrays = reader.arrays(log=False)
    flat = np.concatenate([table.reshape(-1) for table in reader.tables])
    return BayesNet(counts, names, value_names, **arrays, probabilities=frozen(flat))


def _family(entry: Any, number: int, reader: FactorReader) -> tuple[int, list[int], Any]:
    """Check the form of one entry and find its variables."""
    try:
        child, parents, table = entry
        parents = [parents] if isinstance(parents, str) else list(parents)
    except (TypeError, ValueError):
        raise TypeError(
            f"Entry {number} of the 'cpts' parameter must be (child, parents, table). "
            f"Got {shown(entry)} instead."
        ) from None
    found = [reader.variable(word, number) for word in (child, *parents)]
    return found[0], found[1:], table


def _check_rows(reader: FactorReader, child: int) -> None:
    """Refuse the table added last when a row does not sum to 1."""
    table = reader.tables[reader.table_of[-1]]
    sums = table.reshape(-1, reader.counts[child]).sum(axis=1)
    # Written so that NaN fails too.
    wrong = ~(np.abs(sums - 1.0) <= SUM_TOLERANCE)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"The table of variable {child} must have rows that sum to 1. "
            f"Got a sum of {sums[row]} in row {row}."
        )


def _parents_first(parents: dict[int, list[int]]) -> list[int]:
    """Order variables so that parents come before children, else by index."""
    children: dict[int, list[int]] = {child: [] for child in parents}
    waiting = {child: len(above) for child, above in parents.items()}
    for child, above in parents.items():
        for parent in above:
            children[parent].append(child)
    ready = [child for child, count in waiting.items() if not count]
    heapify(ready)
    order = []
    while ready:
        parent = heappop(ready)
        order.append(parent)
        for child in children[parent]:
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, child)
    if len(order) < len(parents):
        raise ValueError(
            f"The 'cpts' parameter must have no cycle. Got {_cycle(parents, set(order))}."
        )
    return order


def _cycle(parents: dict[int, list[int]], done: set[int]) -> str:
    """Show a cycle among the variables that could not be ordered."""
    place = next(child for child in parents if child not in done)
    path: list[int] = []
    while place not in path:
        path.append(place)
        place = next(parent for parent in parents[place] if parent not in done)
    cycle = [*path[path.index(place) :], place]
    return " <- ".join(map(str, cycle[:20])) + (" ..." if len(cycle) > 20 else "")
