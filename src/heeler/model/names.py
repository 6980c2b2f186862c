"""Names of variables and of their values, made only when somebody looks at them."""

import difflib
from collections.abc import Iterator, Sequence
from operator import index as as_integer
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import shown

# Suggesting a close name compares with every known one: this bounds the time on large models.
_COMPARED_NAMES = 10_000


class NumberNames(Sequence[str]):
    """The names ``"0"``, ``"1"``, ... that things have when nobody named them.

    Parameters
    ----------
    count
        How many names there are.
    """

    __slots__ = ("_count",)

    def __init__(self, count: int) -> None:
        """Remember the count; no name is made."""
        self._count = count

    def __len__(self) -> int:
        """Count the names."""
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """Make one name, or a tuple of names for a slice."""
        chosen = range(self._count)[index]
        return tuple(map(str, chosen)) if isinstance(chosen, range) else str(chosen)

    def __iter__(self) -> Iterator[str]:
        """Make the names one after the other."""
        return map(str, range(self._count))

    def __contains__(self, name: object) -> bool:
        """Tell whether this is one of the names."""
        return isinstance(name, str) and self._position(name) >= 0

    def __eq__(self, other: object) -> bool:
        """Compare with any other sequence of names."""
        if isinstance(other, NumberNames):
            return self._count == other._count
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(other) == self._count and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        """Hash by the count."""
        return hash((NumberNames, self._count))

    def __repr__(self) -> str:
        """Show the first and the last name."""
        if self._count <= 3:
            return repr(tuple(self))
        return f"('0', '1', ..., '{self._count - 1}')"

    def _position(self, name: str) -> int:
        """Find a name's place; -1 when it is none of these."""
        if not (name.isascii() and name.isdigit() and len(name) <= 10):
            return -1
        number = int(name)
        return number if number < self._count and str(number) == name else -1

    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        """Find a name's place without looking at the others.

        Parameters
        ----------
        value
            The name.
        start, stop
            Only places in this range count.
        """
        place = self._position(value) if isinstance(value, str) else -1
        if place < 0 or place not in range(self._count)[start:stop]:
            raise ValueError(f"{value!r} is not one of {self!r}")
        return place


class ValueNames(Sequence[Sequence[str]]):
    """The names of the values of each variable.

    Parameters
    ----------
    cardinalities
        Numbers of values, shape (n,).
    given
        Names given by the user, for all variables alike or one entry per variable (None where the
        values of that variable are unnamed), or None when no value has a name.
    shared
        Whether ``given`` holds for all variables alike.
    """

    __slots__ = ("_cardinalities", "_given", "_shared")

    def __init__(
        self,
        cardinalities: NDArray[np.int32],
        given: Sequence[Any] | None,
        shared: bool = False,
    ) -> None:
        """Remember what was given; no name is made."""
        self._cardinalities = cardinalities
        self._given = given
        self._shared = shared

    @property
    def given(self) -> Sequence[Any] | None:
        """The names as the user gave them: for all variables alike, or one entry per variable."""
        return self._given

    def __len__(self) -> int:
        """Count the variables."""
        return len(self._cardinalities)

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[Any]:
        """Give the names of one variable's values."""
        if isinstance(index, slice):
            return tuple(self[k] for k in range(len(self))[index])
        index = range(len(self))[index]
        names = self._given
        if names is not None and not self._shared:
            names = names[index]
        return NumberNames(int(self._cardinalities[index])) if names is None else names

    def __repr__(self) -> str:
        """Show the names of the first variables' values."""
        shown_rows = ", ".join(repr(self[k]) for k in range(min(3, len(self))))
        return f"({shown_rows}{', ...' if len(self) > 3 else ''})"


def as_names(names: Any, n_variables: int) -> Sequence[str]:
    """Check the names of variables; None gives the numbers as names."""
    if names is None:
        return NumberNames(n_variables)
    if isinstance(names, str):
        raise TypeError(
            f"The 'names' parameter must be a sequence of strings. Got {shown(names)} instead."
        )
    return _distinct(names, n_variables, "names", "variables")


def as_value_names(value_names: Any, cardinalities: NDArray[np.int32]) -> ValueNames:
    """Check the names of values: one sequence for all variables, or one per variable."""
    if value_names is None:
        return ValueNames(cardinalities, None)
    if isinstance(value_names, ValueNames):
        value_names = tuple(value_names)
    if isinstance(value_names, str):
        raise TypeError(
            "The 'value_names' parameter must be a sequence of sequences of strings. "
            f"Got {shown(value_names)} instead."
        )
    rows = tuple(value_names)
    if rows and all(isinstance(row, str) for row in rows):
        other = np.flatnonzero(cardinalities != len(rows))
        if other.size:
            raise ValueError(
                "The 'value_names' parameter must name every value of every variable. "
                f"Got {len(rows)} names while variable {other[0]} has "
                f"{cardinalities[other[0]]} values."
            )
        return ValueNames(cardinalities, _distinct(rows, len(rows), "value_names", "values"), True)
    if len(rows) != len(cardinalities):
        raise ValueError(
            "The 'value_names' parameter must have one entry per variable "
            f"({len(cardinalities)}). Got {len(rows)} instead."
        )
    checked = []
    for variable, row in enumerate(rows):
        if isinstance(row, str):
            raise TypeError(
                f"Entry {variable} of the 'value_names' parameter must be a sequence of strings. "
                f"Got {shown(row)} instead."
            )
        what = f"values of variable {variable}"
        count = int(cardinalities[variable])
        checked.append(None if row is None else _distinct(row, count, "value_names", what))
    return ValueNames(cardinalities, tuple(checked))


def _distinct(names: Any, count: int, parameter: str, what: str) -> tuple[str, ...] | NumberNames:
    """Check that there are so many names, all different strings."""
    if isinstance(names, NumberNames) and len(names) == count:
        return names
    names = tuple(names)
    if len(names) != count:
        raise ValueError(
            f"The {parameter!r} parameter must name {count} {what}. Got {len(names)} names instead."
        )
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"The {parameter!r} parameter must hold strings. Got {shown(name)} instead."
            )
    if len(set(names)) != count:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise ValueError(
            f"The {parameter!r} parameter must hold different names. Got {twice!r} twice."
        )
    return names


def resolve(word: Any, names: Sequence[str], places: dict[str, int] | None, what: str) -> int:
    """Turn a name or an index into an index.

    Parameters
    ----------
    word
        What the user wrote: a string or an integer.
    names
        The known names.
    places
        The place of each name, or None to search ``names``.
    what
        ``"variable"`` or the like, for the error message.
    """
    if isinstance(word, str):
        try:
            return names.index(word) if places is None else places[word]
        except (KeyError, ValueError):
            raise ValueError(_unknown(word, names, what)) from None
    try:
        number = as_integer(word)
    except TypeError:
        raise TypeError(
            f"A {what} must be given by its name or its index. Got {shown(word)} instead."
        ) from None
    if not 0 <= number < len(names):
        raise ValueError(
            f"A {what} must have an index from 0 to {len(names) - 1}. Got {number} instead."
        )
    return number


def _unknown(word: str, names: Sequence[str], what: str) -> str:
    """Write the error message for an unknown name, with close names where there are any."""
    message = f"There is no {what} {shown(word)}."
    if not isinstance(names, NumberNames):
        close = difflib.get_close_matches(word[:200], names[:_COMPARED_NAMES], 3)
        if close:
            return f"{message} Did you mean {' or '.join(map(repr, close))}?"
    if len(names) <= 8:
        return f"{message} Known: {', '.join(map(repr, names))}."
    return f"{message} Known: {names[0]!r}, {names[1]!r}, ..., {names[-1]!r}."
