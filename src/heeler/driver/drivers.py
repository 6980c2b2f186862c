"""The drivers as a user names them."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from heeler.driver.contexts import Context, as_context


@dataclass(frozen=True)
class Driver:
    """Which value an update takes.

    `chance` says what the spread of its runs means: ``"random"``, ``"quasi"``, ``"herded"`` or
    ``"greedy"``.
    """

    chance: ClassVar[str] = "random"

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

    chance: ClassVar[str] = "herded"
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

    chance: ClassVar[str] = "quasi"


@dataclass(frozen=True)
class Greedy(Driver):
    """The likeliest value every time: iterated conditional modes, for best states only."""

    chance: ClassVar[str] = "greedy"


@dataclass(frozen=True)
class Metropolis(Driver):
    """Another value, each as likely, taken with probability min(1, p(new) / p(present)).

    The Metropolis algorithm with single-site proposals: a binary variable is flipped or stays.
    Every update leaves p invariant, in detailed balance. Averages are of conditionals, as in Gibbs
    sampling. Where two values are equally likely a flip is certain, so a fixed order of updates can
    make variables without neighbours alternate for ever: their averages are right and joint
    statistics of them are not; ``scan="uniform"`` cures it.
    """


@dataclass(frozen=True)
class Modified(Driver):
    """The conditional without the present value, accepted so that p stays: Liu's modified Gibbs.

    The value y is taken with probability p(y) / (1 - min(p(x), p(y))): every other value is at
    least as likely as with Gibbs sampling, so averages over values are never worse (Peskun's
    order). With two values it is `Metropolis`.

    References
    ----------
    J. S. Liu, "Peskun's theorem and a modified discrete-state Gibbs sampler",
    Biometrika 83, 1996.
    """


_BY_NAME: dict[str, type[Driver]] = {
    "random": Random,
    "gibbs": Random,
    "herded": Herded,
    "quasi": Quasi,
    "greedy": Greedy,
    "metropolis": Metropolis,
    "modified": Modified,
}


def as_driver(driver: Any) -> Driver:
    """Read a driver.

    Parameters
    ----------
    driver
        An object, or one of ``"random"`` (or ``"gibbs"``), ``"herded"``, ``"quasi"``,
        ``"greedy"``, ``"metropolis"``, ``"modified"``.

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
        "The 'driver' parameter must be 'auto', 'random', 'herded', 'quasi', 'greedy', "
        f"'metropolis', 'modified' or a Driver. Got {driver!r} instead."
    )
