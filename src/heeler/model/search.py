"""Search for a state that no zero of a factor graph forbids.

Only tables with zeros matter here. The search is a backtracking one that keeps every value
supported (generalised arc consistency), branches on the variable with the smallest domain for its
weight (a variable gains weight with each conflict it takes part in) and restarts.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from random import Random

import numpy as np

from heeler.model.factor_graph import FactorGraph

# A first round may fail so often; each round after it half as often again.
_FIRST_FAILURES = 64
_GROWTH = 1.5


class OutOfEffortError(Exception):
    """The search was stopped before it found a state or proved that there is none."""


class Search:
    """The zeros of a factor graph as a constraint problem.

    Sets are Python integers: bit v of a domain says that value v is possible, bit e of a factor's
    entries that entry e of its table is not zero and has possible values only.

    Parameters
    ----------
    graph
        The model; its evidence counts.
    """

    def __init__(self, graph: FactorGraph) -> None:
        """Read the zeros and draw the first conclusions."""
        self.domains = [(1 << count) - 1 for count in graph.cardinalities.tolist()]
        if graph.evidence is not None:
            for variable in np.flatnonzero(graph.evidence >= 0).tolist():
                self.domains[variable] = 1 << int(graph.evidence[variable])
        self.scopes: list[list[int]] = []
        self.strides: list[list[int]] = []
        self.bases: list[tuple[int, ...]] = []
        self.entries: list[int] = []
        self.touching: dict[int, list[tuple[int, int]]] = {}
        self._read_factors(graph)
        self.variables = sorted(self.touching)
        self.weights = dict.fromkeys(self.variables, 1)
        self.changed = [(1 << len(scope)) - 1 for scope in self.scopes]
        self.queue = list(range(len(self.scopes)))
        self.trail: list[tuple[bool, int, int]] = []
        self.heap: list[tuple[float, float, int, int]] = []
        self.random = Random(0)  # noqa: S311 (no secret depends on it)
        self.effort = 0
        self.possible = self._propagate()
        self.trail.clear()

    def _read_factors(self, graph: FactorGraph) -> None:
        """Take the tables that have zeros."""
        zero = np.isneginf(graph.log_tables)
        pointer = graph.table_pointer
        allowed: dict[int, int] = {}
        for table in np.flatnonzero(np.logical_or.reduceat(zero, pointer[:-1])).tolist():
            bits = np.packbits(~zero[pointer[table] : pointer[table + 1]], bitorder="little")
            allowed[table] = int.from_bytes(bits.tobytes(), "little")
        bases: dict[tuple[int, ...], tuple[int, ...]] = {}
        for number in np.flatnonzero(np.isin(graph.table_of, list(allowed))).tolist():
            begin, end = graph.scope_pointer[number : number + 2].tolist()
            scope = graph.scope[begin:end].tolist()
            strides = graph.scope_stride[begin:end].tolist()
            shape = tuple(graph.cardinalities[scope].tolist())
            if shape not in bases:
                bases[shape] = tuple(map(_first_value, [shape] * len(shape), strides, shape))
            for axis, variable in enumerate(scope):
                self.touching.setdefault(variable, []).append((len(self.scopes), axis))
            self.scopes.append(scope)
            self.strides.append(strides)
            self.bases.append(bases[shape])
            self.entries.append(allowed[int(graph.table_of[number])])

    def solve(self, random: Random, effort: int) -> dict[int, int] | None:
        """Find values for the variables that zeros concern.

        Parameters
        ----------
        random
            Decides between equally good branches.
        effort
            About how many revisions of a factor may be spent.

        Returns
        -------
        dict or None
            A value for each variable of `variables`; None when it is proved that there are none.

        Raises
        ------
        OutOfEffortError
            When neither was reached.
        """
        if not self.possible:
            return None
        self.random = random
        self.effort = effort
        failures = float(_FIRST_FAILURES)
        while True:
            found = self._round(failures)
            if found is not None:
                values = {v: self.domains[v].bit_length() - 1 for v in self.variables}
                self._undo(0)
                return values if found else None
            self._undo(0)
            if self.effort <= 0:
                raise OutOfEffortError
            failures *= _GROWTH

    def _round(self, failures: float) -> bool | None:
        """Search until a state (True), a proof that none exists (False) or a limit (None)."""
        self.heap = [self._priority(v) for v in self.variables if self._undecided(v)]
        heapify(self.heap)
        decisions: list[tuple[int, int, int]] = []
        while (variable := self._choose()) is not None:
            value = self._pick(self.domains[variable])
            decisions.append((len(self.trail), variable, value))
            fine = self._restrict(variable, value)
            while not fine:
                failures -= 1
                if not decisions:
                    return False
                if failures <= 0 or self.effort <= 0:
                    return None
                mark, variable, value = decisions.pop()
                self._undo(mark)
                fine = self._restrict(variable, self.domains[variable] & ~value)
        return True

    def _undecided(self, variable: int) -> bool:
        """Tell whether a variable has several possible values."""
        domain = self.domains[variable]
        return domain & (domain - 1) != 0

    def _priority(self, variable: int) -> tuple[float, float, int, int]:
        """Give a heap entry: smallest first; the domain tells later whether it is still true."""
        domain = self.domains[variable]
        size = domain.bit_count() / self.weights[variable]
        return size, self.random.random(), variable, domain

    def _choose(self) -> int | None:
        """Take the next variable to branch on; None when all are decided."""
        while self.heap:
            _, _, variable, domain = heappop(self.heap)
            if domain == self.domains[variable] and self._undecided(variable):
                return variable
        return None

    def _pick(self, domain: int) -> int:
        """Choose one value of a domain at random; gives its bit."""
        values = list(_bits(domain))
        return values[int(self.random.random() * len(values))]

    def _restrict(self, variable: int, domain: int) -> bool:
        """Shrink a domain and draw the conclusions; False in a contradiction."""
        return domain != 0 and self._set_domain(variable, domain, -1) and self._propagate()

    def _set_domain(self, variable: int, domain: int, cause: int) -> bool:
        """Record a smaller domain and queue the factors that it concerns."""
        self.trail.append((True, variable, self.domains[variable]))
        self.domains[variable] = domain
        if domain & (domain - 1):
            heappush(self.heap, self._priority(variable))
        for factor, axis in self.touching[variable]:
            if factor != cause:
                if not self.changed[factor]:
                    self.queue.append(factor)
                self.changed[factor] |= 1 << axis
        return True

    def _undo(self, mark: int) -> None:
        """Take back everything recorded after a mark of the trail."""
        while len(self.trail) > mark:
            is_domain, place, old = self.trail.pop()
            if not is_domain:
                self.entries[place] = old
                continue
            self.domains[place] = old
            heappush(self.heap, self._priority(place))

    def _propagate(self) -> bool:
        """Remove values without support until nothing changes; False when none is left."""
        while self.queue:
            factor = self.queue.pop()
            changed, self.changed[factor] = self.changed[factor], 0
            if self._revise(factor, changed):
                continue
            for variable in self.scopes[factor]:
                self.weights[variable] += 1
            for waiting in self.queue:
                self.changed[waiting] = 0
            self.queue.clear()
            return False
        return True

    def _revise(self, factor: int, changed: int) -> bool:
        """Remove a factor's entries whose values are gone, then values without an entry."""
        scope, strides, bases = self.scopes[factor], self.strides[factor], self.bases[factor]
        old = entries = self.entries[factor]
        # A large table costs more than a small one: 64 kbit at a time.
        self.effort -= 1 + (old.bit_length() >> 16)
        for axis, variable in enumerate(scope):
            if changed >> axis & 1:
                entries &= _slices(self.domains[variable], bases[axis], strides[axis])
        if not entries:
            return False
        if entries != old:
            self.trail.append((False, factor, old))
            self.entries[factor] = entries
        for axis, variable in enumerate(scope):
            domain, base, stride = self.domains[variable], bases[axis], strides[axis]
            if domain & (domain - 1) == 0:
                continue  # a decided value has support: there are entries left
            kept = domain
            for bit in _bits(domain):
                if not entries & (base << (bit.bit_length() - 1) * stride):
                    kept ^= bit
            if kept != domain:
                # This factor need not look again: none of its entries had these values.
                self._set_domain(variable, kept, factor)
        return True


def _bits(domain: int) -> Iterator[int]:
    """Take a set apart into its single bits."""
    while domain:
        bit = domain & -domain
        yield bit
        domain ^= bit


def _slices(domain: int, base: int, stride: int) -> int:
    """Give the entries of a table at which one axis has a value of the domain."""
    found = 0
    for bit in _bits(domain):
        found |= base << (bit.bit_length() - 1) * stride
    return found


def _first_value(shape: tuple[int, ...], stride: int, count: int) -> int:
    """Give the entries of a table at which the axis of this stride has its first value."""
    size = 1
    for extent in shape:
        size *= extent
    mask, length = (1 << stride) - 1, stride * count
    while length < size:
        mask |= mask << length
        length *= 2
    return mask & ((1 << size) - 1)
