"""A figure and the measurement that gives it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

AT_LEAST, AT_MOST = "at least", "at most"
RATIO = "x reference"


@dataclass(frozen=True)
class Figure:
    """A measured number.

    Attributes
    ----------
    name
        What was measured.
    value
        The number; NaN for a ratio where there is no reference to compare with.
    unit
        Its unit.
    target
        What it should reach, or None where it is there to be known.
    limit
        ``"at least"`` or ``"at most"`` the target.
    note
        What the number alone does not say.
    rate
        Updates of a variable a second, for speeds.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    limit: str = AT_LEAST
    note: str = ""
    rate: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None where there is nothing to compare."""
        if self.target is None or math.isnan(self.value):
            return None
        return self.value >= self.target if self.limit == AT_LEAST else self.value <= self.target


@dataclass(frozen=True)
class Case:
    """A measurement that can be chosen by its name.

    Attributes
    ----------
    name
        Its name; figures of a case begin with it.
    measure
        Makes the figures.
    """

    name: str
    measure: Callable[[], Iterable[Figure]]


class LeftOut(Exception):  # noqa: N818 (no error: a group that cannot be measured here)
    """Raised by a measurement whose data or packages are absent; the text says which."""
