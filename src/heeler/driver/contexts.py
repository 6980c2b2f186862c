"""Contexts of herding: which updates of a variable share a weight."""

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Context:
    """The key under which a herding weight is kept."""

    @property
    def name(self) -> str:
        """The context's name as a user writes it."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Neighbours(Context):
    """Key by the assignment of the Markov blanket, as the paper does.

    Excellent marginals and pair marginals on sparse graphs; the joint distribution keeps a bias.
    Memory grows with the product of the neighbours' cardinalities.
    """


@dataclass(frozen=True)
class Shared(Context):
    """Key by the conditional itself: blankets with equal conditionals share a weight.

    Little memory and early speed on lattices with one coupling; a larger bias in the long run.
    """


@dataclass(frozen=True)
class Binned(Context):
    """Key by the conditional's probability in bins; the true probability is still added.

    Works for any degree and solves dense graphs. Few bins win early, many bins win late.

    Parameters
    ----------
    bins
        How many bins a variable has, 1 to 65536.
    """

    bins: int = 64

    def __post_init__(self) -> None:
        """Check the number of bins."""
        if not isinstance(self.bins, int) or not 1 <= self.bins <= 65536:
            raise ValueError(
                "The 'bins' parameter must be a whole number from 1 to 65536. "
                f"Got {self.bins!r} instead."
            )

    @property
    def name(self) -> str:
        """The context's name as a user writes it."""
        return f"binned({self.bins})"


@dataclass(frozen=True)
class Radius(Context):
    """Key by the assignment of all variables within a distance; a context is kept when visited.

    Parameters
    ----------
    radius
        The distance in steps of the graph; 1 is `Neighbours` for any degree.
    """

    radius: int = 2

    def __post_init__(self) -> None:
        """Check the radius."""
        if not isinstance(self.radius, int) or self.radius < 1:
            raise ValueError(
                "The 'radius' parameter must be a whole number of at least 1. "
                f"Got {self.radius!r} instead."
            )

    @property
    def name(self) -> str:
        """The context's name as a user writes it."""
        return f"radius({self.radius})"


@dataclass(frozen=True)
class Full(Context):
    """Key by the assignment of all other variables: restores the joint's 1/T rate on any graph."""


_PLAIN: dict[str, type[Context]] = {"neighbours": Neighbours, "shared": Shared, "full": Full}
_NUMBERED: dict[str, Any] = {"binned": Binned, "radius": Radius}


def as_context(context: Any) -> Context | None:
    """Read a context.

    Parameters
    ----------
    context
        An object, or a name: ``"auto"``, ``"neighbours"``, ``"shared"``, ``"binned(64)"``,
        ``"radius(2)"``, ``"full"``.

    Returns
    -------
    Context or None
        None stands for ``"auto"``: neighbours while they fit, bins where they do not.
    """
    if isinstance(context, Context):
        return context
    if isinstance(context, str):
        if context == "auto":
            return None
        if context in _PLAIN:
            return _PLAIN[context]()
        match = re.fullmatch(r"(binned|radius)(?:\((\d{1,9})\))?", context)
        if match:
            kind = _NUMBERED[match[1]]
            return kind(int(match[2])) if match[2] else kind()
    raise ValueError(
        "The 'context' parameter must be 'auto', 'neighbours', 'shared', 'binned(B)', 'radius(r)', "
        f"'full' or a Context. Got {context!r} instead."
    )
