"""Factor graphs: products of tables, each over a few variables."""

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heeler.model.base import Model
from heeler.model.check import as_cardinalities, as_numbers, frozen, shown
from heeler.model.graph import compress_rows


class FactorGraph(Model):
    """A product of non-negative tables; made by `heeler.factor_graph`.

    Attributes
    ----------
    scope_pointer : ndarray
        int64 (factors + 1,): where each factor's scope begins in ``scope``.
    scope : ndarray
        int32: the variables of all factors, one after the other.
    table_of : ndarray
        int32 (factors,): the table that a factor uses; factors may share one.
    table_pointer : ndarray
        int64 (tables + 1,): where each table begins in ``log_tables``.
    log_tables : ndarray
        float64: natural logarithms of all tables, the last variable of a scope fastest.
    """

    kind = "factor_graph"
    scope_pointer: NDArray[np.int64]
    scope: NDArray[np.int32]
    table_of: NDArray[np.int32]
    table_pointer: NDArray[np.int64]
    log_tables: NDArray[np.float64]

    @property
    def n_factors(self) -> int:
        """The number of factors."""
        return len(self.table_of)

    @property
    def factors(self) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64]]]:
        """The factors in order, as pairs of scope and log table shaped by the cardinalities."""
        return map(self._factor, range(self.n_factors))

    @property
    def scope_stride(self) -> NDArray[np.int64]:
        """How far one value of each scope entry moves in its table; int64, aligned to ``scope``."""
        return self._cached("_scope_stride", self._make_strides)

    @property
    def incidence(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The factors of each variable: pointer (n + 1,), and positions in ``scope``."""
        return self._cached("_incidence", self._make_incidence)

    @property
    def factor_of(self) -> NDArray[np.int64]:
        """The factor that each entry of ``scope`` belongs to."""
        sizes = np.diff(self.scope_pointer)
        return self._cached("_factor_of", lambda: np.repeat(np.arange(len(sizes)), sizes))

    @property
    def has_zeros(self) -> bool:
        """Whether a table has an entry of zero."""
        return self._cached("_has_zeros", lambda: bool(np.isneginf(self.log_tables).any()))

    def adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Give all Markov blankets in compressed rows: variables that share a factor."""
        first, second = [], []
        start, sizes = self.scope_pointer[:-1], np.diff(self.scope_pointer)
        for size in np.unique(sizes[sizes > 1]):
            scopes = self.scope[start[sizes == size][:, None] + np.arange(size)]
            left, right = np.nonzero(~np.eye(size, dtype=bool))
            first.append(scopes[:, left].ravel())
            second.append(scopes[:, right].ravel())
        if not first:
            return np.zeros(self.n_variables + 1, np.int64), np.empty(0, np.int32)
        return compress_rows(self.n_variables, np.concatenate(first), np.concatenate(second))

    def to_factor_graph(self) -> "FactorGraph":
        """Give the same distribution, evidence kept, as a plain factor graph."""
        if type(self) is FactorGraph:
            return self
        return from_flat(self, *(self.__dict__[name] for name in _ARRAYS))

    def _factor(self, number: int) -> tuple[tuple[int, ...], NDArray[np.float64]]:
        """Give one factor's scope and log table."""
        begin, end = self.scope_pointer[number : number + 2]
        scope = tuple(self.scope[begin:end].tolist())
        begin, end = self.table_pointer[self.table_of[number] :][:2]
        table = self.log_tables[begin:end]
        return scope, table.reshape([int(self.cardinalities[v]) for v in scope])

    def _sizes(self) -> list[str]:
        """List numbers of factors and values."""
        low, high = int(self.cardinalities.min()), int(self.cardinalities.max())
        values = f"{low} values each" if low == high else f"{low} to {high} values"
        return [values, f"{self.n_factors} factors"]

    def _parts(self) -> dict[str, Any]:
        """Give the defining arrays."""
        return {name: self.__dict__[name] for name in ("cardinalities", *_ARRAYS)}

    def _score_size(self) -> int:
        """Count scope entries, or variables where there are more of them."""
        return max(len(self.scope), self.n_variables)

    def _log_scores(self, states: NDArray) -> NDArray[np.float64]:
        """Look every factor's entry up and add them."""
        place = np.broadcast_to(self.table_pointer[self.table_of], (len(states), self.n_factors))
        if len(self.scope):
            moved = states[:, self.scope] * self.scope_stride
            # Sums between cumulative ends, not reduceat: a scope may be empty.
            total = np.zeros((len(states), len(self.scope) + 1), np.int64)
            np.cumsum(moved, axis=1, out=total[:, 1:])
            place = place + np.diff(total[:, self.scope_pointer], axis=1)
        return self.log_tables[place].sum(axis=1)

    def _log_weights(self, variable: int, states: NDArray) -> NDArray[np.float64]:
        """Add the slices of the factors that the variable is in."""
        count = int(self.cardinalities[variable])
        result = np.zeros((len(states), count))
        pointer, positions = self.incidence
        for position in positions[pointer[variable] : pointer[variable + 1]]:
            number = self.factor_of[position]
            begin, end = self.scope_pointer[number : number + 2]
            strides = self.scope_stride[begin:end].copy()
            strides[position - begin] = 0
            base = self.table_pointer[self.table_of[number]]
            base = base + states[:, self.scope[begin:end]] @ strides
            moves = self.scope_stride[position] * np.arange(count)
            result += self.log_tables[base[:, None] + moves]
        return result

    def _blanket(self, variable: int) -> NDArray[np.int32]:
        """Collect the scopes of the variable's factors."""
        pointer, positions = self.incidence
        numbers = self.factor_of[positions[pointer[variable] : pointer[variable + 1]]]
        scopes = [self.scope[self.scope_pointer[k] : self.scope_pointer[k + 1]] for k in numbers]
        if not scopes:
            return np.empty(0, np.int32)
        near = np.unique(np.concatenate(scopes))
        return near[near != variable]

    def _make_strides(self) -> NDArray[np.int64]:
        """Multiply cardinalities from the end of each scope, all factors at once."""
        stride = np.ones(len(self.scope), np.int64)
        end, sizes = self.scope_pointer[1:], np.diff(self.scope_pointer)
        for back in range(2, int(sizes.max(initial=0)) + 1):
            place = end[sizes >= back] - back
            stride[place] = stride[place + 1] * self.cardinalities[self.scope[place + 1]]
        return frozen(stride)

    def _make_incidence(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sort the scope entries by variable."""
        pointer = np.zeros(self.n_variables + 1, np.int64)
        np.cumsum(np.bincount(self.scope, minlength=self.n_variables), out=pointer[1:])
        return frozen(pointer), frozen(np.argsort(self.scope, kind="stable"))


_ARRAYS = ("scope_pointer", "scope", "table_of", "table_pointer", "log_tables")


def from_flat(model: Model, *arrays: NDArray) -> FactorGraph:
    """Make a factor graph with a model's variables and evidence from flat arrays.

    Parameters
    ----------
    model
        Gives cardinalities, names and evidence.
    arrays
        ``scope_pointer``, ``scope``, ``table_of``, ``table_pointer``, ``log_tables``; correct, as
        they come from a checked model.

    Returns
    -------
    FactorGraph
        The same distribution.
    """
    types = (np.int64, np.int32, np.int32, np.int64, np.float64)
    flat = {
        name: frozen(np.ascontiguousarray(array, dtype))
        for name, array, dtype in zip(_ARRAYS, arrays, types, strict=True)
    }
    result = FactorGraph(model.cardinalities, model.names, model.value_names, **flat)
    return result._with_evidence(model.evidence)


def factor_graph(
    cardinalities: Iterable[int] | NDArray[np.integer],
    factors: Iterable[tuple[Sequence[Any], ArrayLike]],
    names: Sequence[str] | None = None,
    value_names: Sequence[Any] | None = None,
    log: bool = False,
) -> FactorGraph:
    """Make a model that is a product of tables.

    Parameters
    ----------
    cardinalities
        The number of values of each variable, 1 to 65536.
    factors
        Pairs ``(scope, table)``. A scope lists variables by index or name. A table has one axis
        per variable of the scope, in that order, or is flat with the last variable fastest. The
        same table object given twice is stored once. An empty scope makes a constant factor.
    names
        Names of the variables.
    value_names
        Names of the values, for all variables alike or one sequence per variable.
    log
        Whether the tables hold natural logarithms (-inf is a zero) instead of weights.

    Returns
    -------
    FactorGraph
        p(x) proportional to the product of all tables at x.
    """
    counts = as_cardinalities(cardinalities)
    # The list keeps all tables alive, so that an id stands for one table.
    pairs = list(factors)
    reader = FactorReader(counts.tolist(), names)
    for factor in pairs:
        reader.add(factor)
    return FactorGraph(counts, names, value_names, **reader.arrays(log))


class FactorReader:
    """Collects checked factors in flat lists.

    Parameters
    ----------
    counts
        Numbers of values.
    names
        Names of the variables as the user gave them, or None.
    """

    def __init__(self, counts: list[int], names: Sequence[str] | None) -> None:
        """Start without factors."""
        self.counts = counts
        self.places = {} if names is None else {name: k for k, name in enumerate(names)}
        self.scope: list[int] = []
        self.scope_ends = [0]
        self.table_of: list[int] = []
        self.tables: list[NDArray[np.float64]] = []
        self.table_ends = [0]
        self.known: dict[int, int] = {}

    def add(self, factor: Any) -> None:
        """Check one pair of scope and table and append it.

        Parameters
        ----------
        factor
            What the user gave; the caller keeps its table alive until the last one is added.
        """
        number = len(self.table_of)
        try:
            scope, table = factor
            scope = scope.tolist() if isinstance(scope, np.ndarray) else list(scope)
        except (TypeError, ValueError):
            raise TypeError(
                f"Factor {number} of the 'factors' parameter must be a pair (scope, table). "
                f"Got {shown(factor)} instead."
            ) from None
        for place, variable in enumerate(scope):
            if type(variable) is not int or not 0 <= variable < len(self.counts):
                scope[place] = self.variable(variable, number)
        if len(scope) > 1 and len(set(scope)) < len(scope):
            raise ValueError(f"The scope {scope} of factor {number} names a variable twice.")
        which = self.known.get(id(table))
        if which is None:
            array = as_numbers(table, f"factors[{number}] table")
            which = self.known[id(table)] = len(self.tables)
            self.tables.append(array)
            self.table_ends.append(self.table_ends[-1] + array.size)
        else:
            array = self.tables[which]
        shape = tuple([self.counts[variable] for variable in scope])
        if array.shape != shape and (array.ndim != 1 or array.size != prod(shape)):
            raise ValueError(
                f"The table of factor {number} over {scope} must have shape {shape} or be flat "
                f"with {prod(shape)} entries. Got shape {array.shape} instead."
            )
        self.scope += scope
        self.scope_ends.append(len(self.scope))
        self.table_of.append(which)

    def variable(self, word: Any, number: int) -> int:
        """Turn a word of a scope that is not a plain index into an index.

        Parameters
        ----------
        word
            A name or an index.
        number
            The factor's number, for the error message.
        """
        if isinstance(word, str):
            if word in self.places:
                return self.places[word]
        elif isinstance(word, int | np.integer) and 0 <= word < len(self.counts):
            return int(word)
        raise ValueError(
            f"The scope of factor {number} must list variables by name or by index from 0 to "
            f"{len(self.counts) - 1}. Got {shown(word)} instead."
        )

    def arrays(self, log: bool) -> dict[str, NDArray]:
        """Check all numbers at once and give the flat arrays.

        Parameters
        ----------
        log
            Whether the tables hold natural logarithms.
        """
        flat = [table.reshape(-1) for table in self.tables]
        values = np.concatenate(flat) if flat else np.empty(0)
        allowed = values < np.inf if log else (values >= 0) & (values < np.inf)
        if not allowed.all():
            wrong = int(np.argmin(allowed))
            what = "below +inf (-inf is a zero)" if log else "finite and not negative"
            raise ValueError(
                f"The table of factor {self.user_of(wrong)} must hold numbers that are {what}. "
                f"Got {values[wrong]} instead."
            )
        if not log:
            with np.errstate(divide="ignore"):
                values = np.log(values)
        ends = np.array(self.table_ends, np.int64)
        if len(values):
            top = np.maximum.reduceat(values, ends[:-1])
            if np.isneginf(top).any():
                number = self.user_of(int(ends[np.argmin(top)]))
                raise ValueError(f"The table of factor {number} must not be zero everywhere.")
        arrays = (
            np.array(self.scope_ends, np.int64),
            np.array(self.scope, np.int32),
            np.array(self.table_of, np.int32),
            ends,
            values,
        )
        return {name: frozen(array) for name, array in zip(_ARRAYS, arrays, strict=True)}

    def user_of(self, place: int) -> str:
        """Describe the first factor that uses a table.

        Parameters
        ----------
        place
            A place in the flat values, inside the table.
        """
        table = int(np.searchsorted(self.table_ends, place, side="right")) - 1
        number = self.table_of.index(table)
        scope = self.scope[self.scope_ends[number] : self.scope_ends[number + 1]]
        return f"{number} over {scope}"
