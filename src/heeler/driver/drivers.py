"""The drivers as a user names them."""

from dataclasses import dataclass, field
from typing import Any

from heeler.driver.contexts import Context, as_context


@dataclass(frozen=True)
class Driver:
    """Which value an update takes."""

    @property
    def name(self) -> str:
        """The driver's name as a user writes it."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Random(Driver):
    """Independent random choices: Gibbs sampling.

    Parameters
    ----------
    generator
        ``"philox"``, or ``"fast"`` for a cheaper tested counter-based generator where a kernel
        has one (lattices in colour classes).
    """

    generator: str = "philox"

    def __post_init__(self) -> None:
        """Check the generator's name."""
        if self.generator not in ("philox", "fast"):
            raise ValueError(
                "The 'generator' parameter must be 'philox' or 'fast'. "
                f"Got {self.generator!r} instead."
            )


@dataclass(frozen=True)
class Herded(Driver):
    """Deterministic choices that make every context's frequencies right: herded Gibbs.

    Parameters
    ----------
    context
        Which updates share a weight; see `heeler.driver.contexts`. None leaves it to the
        ``context`` argument of `heeler.sample`.
    rule
        ``"argmax"`` (the paper's) or ``"tijdeman"`` (smallest guaranteed discrepancy; needs a
        fixed probability for every weight).
    bits
        32, or 16 for half the memory with shared contexts on a lattice.
    start
        ``"half"``: the first lane starts from weights of one half and the others from random
        weights; ``"random"``: all lanes do.
    """

    context: Context | str | None = None
    rule: str = "argmax"
    bits: int = 32
    start: str = field(default="half", kw_only=True)

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.context is not None:
            as_context(self.context)
        if self.rule not in ("argmax", "tijdeman"):
            raise ValueError(
                f"The 'rule' parameter must be 'argmax' or 'tijdeman'. Got {self.rule!r} instead."
            )
        if self.bits not in (16, 32):
            raise ValueError(f"The 'bits' parameter must be 16 or 32. Got {self.bits!r} instead.")
        if self.start not in ("half", "random"):
            raise ValueError(
                f"The 'start' parameter must be 'half' or 'random'. Got {self.start!r} instead."
            )


@dataclass(frozen=True)
class Quasi(Driver):
    """Choices from a completely uniformly distributed sequence with random digital shifts.

    The run must take the generator's whole period: 2^m - 1 passes, or 2^m with the zero point,
    for one of the published generators (m from 8 to 24).
    """


@dataclass(frozen=True)
class Greedy(Driver):
    """The likeliest value every time: iterated conditional modes, for best states only."""


_BY_NAME: dict[str, type[Driver]] = {
    "random": Random,
    "gibbs": Random,
    "herded": Herded,
    "quasi": Quasi,
    "greedy": Greedy,
}


def as_driver(driver: Any) -> Driver:
    """Read a driver.

    Parameters
    ----------
    driver
        An object, or one of ``"random"``, ``"herded"``, ``"quasi"``, ``"greedy"``.

    Returns
    -------
    Driver
        The driver.
    """
    if isinstance(driver, Driver):
        return driver
    if isinstance(driver, str) and driver in _BY_NAME:
        return _BY_NAME[driver]()
    raise ValueError(
        "The 'driver' parameter must be 'auto', 'random', 'herded', 'quasi', 'greedy' or a Driver. "
        f"Got {driver!r} instead."
    )
