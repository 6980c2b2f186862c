"""Kernels made of kernels: mixtures and cycles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heeler.run.settings import Settings
from heeler.run.step import Kernel


class Composite(Kernel):
    """What mixtures and cycles have in common: parts, each with its own seed and memory."""

    kernels: Any

    @property
    def chance(self) -> str:  # type: ignore[override]
        """What the spread of chains means: "herded" as soon as one part is."""
        return "herded" if any(k.chance == "herded" for k in self.kernels) else "random"

    @property
    def has_code(self) -> bool:  # type: ignore[override]
        """Whether a part holds functions of the user's."""
        return any(kernel.has_code for kernel in self.kernels)

    @property
    def titles(self) -> list[str]:
        """The parts' names, for statistics."""
        return [kernel.title for kernel in self.kernels]

    def engine(
        self, model: Any, settings: Settings, states: NDArray[Any], sweeps: int | None = None
    ) -> Any:
        """Make running chains.

        Parameters
        ----------
        model
            The model, evidence included.
        settings
            Chains, seed, temperature, what is kept.
        states
            First states (lanes, n).
        sweeps
            Passes after burn-in, where known.

        Returns
        -------
        engine
            See the engine's contract in the design page.
        """
        del sweeps
        from heeler.kernel.composite import Clock

        clock = Clock(settings.betas)
        engines = [
            kernel.engine(
                model,
                replace(settings, seed=part_seed(settings.seed, k), kernel=None, clock=clock.betas),
                states,
            )
            for k, kernel in enumerate(self.kernels)
        ]
        scores = np.atleast_1d(model.log_score(states))
        return self._joined(engines, clock, states, scores, settings.seed)

    def _joined(
        self, engines: list[Any], clock: Any, states: NDArray[Any], scores: Any, seed: int
    ) -> Any:
        """Make one engine of the parts'."""
        raise NotImplementedError(f"{type(self).__name__} must define _joined")


def part_seed(seed: int, part: int) -> int:
    """Give a part of a kernel a seed of its own.

    Parameters
    ----------
    seed
        The whole's seed.
    part
        The part's number.

    Returns
    -------
    int
        0 to 2^64 - 1.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(part,))
    return int(sequence.generate_state(1, np.uint64)[0])


def _as_parts(kernels: Any, name: str) -> tuple[Kernel, ...]:
    """Check the parts of a kernel."""
    from heeler.run.kernels.names import as_kernel
    from heeler.run.kernels.single_site import PLAIN_TEMPERATURE, SingleSite

    if isinstance(kernels, (str, Kernel)) or not isinstance(kernels, Sequence) or not kernels:
        raise ValueError(
            f"The 'kernels' of a {name} must be a list of one kernel or more. Got {kernels!r} "
            "instead."
        )
    parts = tuple(as_kernel(kernel) for kernel in kernels)
    for part in parts:
        if part.chance in ("greedy", "quasi"):
            raise ValueError(
                f"The 'kernels' of a {name} must leave the distribution invariant pass by pass. "
                f"Got one that is {part.chance}."
            )
        if isinstance(part, SingleSite) and part.temperature is not PLAIN_TEMPERATURE:
            raise ValueError(
                f"The 'kernels' of a {name} share one temperature: give it to heeler.sample. "
                f"Got a part with temperature={part.temperature!r}."
            )
    return parts


@dataclass(frozen=True)
class Mixture(Composite):
    """In every pass one of several kernels, chosen at random: v K1 + (1 - v) K2.

    Leaves invariant what all parts leave invariant. The choice is a function of seed and pass,
    common to all chains, which are independent given the choices.

    Parameters
    ----------
    kernels
        Kernels or their names; mixtures and cycles may be among them.
    weights
        How often each is chosen: positive numbers, scaled to sum 1. None chooses them equally.
    """

    name: ClassVar[str] = "mixture"
    kernels: Any
    weights: Any = None

    def __post_init__(self) -> None:
        """Check kernels and weights."""
        parts = _as_parts(self.kernels, self.name)
        weights = self.weights
        try:
            array = np.ones(len(parts)) if weights is None else np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != (len(parts),) or not (array > 0).all() or not np.isfinite(array.sum()):
            raise ValueError(
                f"The 'weights' parameter must be {len(parts)} positive numbers, one a kernel. "
                f"Got {weights!r} instead."
            )
        object.__setattr__(self, "kernels", parts)
        object.__setattr__(self, "weights", tuple((array / array.sum()).tolist()))

    def _joined(
        self, engines: list[Any], clock: Any, states: NDArray[Any], scores: Any, seed: int
    ) -> Any:
        """Choose one of the parts' engines in every pass."""
        from heeler.kernel.composite import MixtureEngine

        return MixtureEngine(engines, clock, states, scores, self.titles, self.weights, seed)

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        return {
            "name": self.name,
            "kernels": [kernel.words() for kernel in self.kernels],
            "weights": list(self.weights),
            "code": self.has_code,
        }

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Mixture":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Mixture
            The kernel.
        """
        from heeler.run.kernels.names import kernel_from

        return Mixture([kernel_from(part) for part in words["kernels"]], words["weights"])


@dataclass(frozen=True)
class Cycle(Composite):
    """Several kernels one after the other in every pass: K1 K2 ... Kn.

    Leaves invariant what all parts leave invariant; detailed balance is lost in general, even where
    every part has it.

    Parameters
    ----------
    kernels
        Kernels or their names; mixtures and cycles may be among them.
    repeats
        How many passes each part makes in its turn: whole numbers. None stands for one each.
    """

    name: ClassVar[str] = "cycle"
    kernels: Any
    repeats: Any = None

    def __post_init__(self) -> None:
        """Check kernels and repeats."""
        from heeler.run.sample import whole

        parts = _as_parts(self.kernels, self.name)
        repeats = (1,) * len(parts) if self.repeats is None else self.repeats
        if (
            isinstance(repeats, str)
            or not hasattr(repeats, "__len__")
            or len(repeats) != len(parts)
        ):
            raise ValueError(
                f"The 'repeats' parameter must be {len(parts)} whole numbers, one a kernel. "
                f"Got {self.repeats!r} instead."
            )
        object.__setattr__(self, "kernels", parts)
        object.__setattr__(self, "repeats", tuple(whole("repeats", r, 1) for r in repeats))

    def _joined(
        self, engines: list[Any], clock: Any, states: NDArray[Any], scores: Any, seed: int
    ) -> Any:
        """Take the parts' engines in turn."""
        del seed
        from heeler.kernel.composite import CycleEngine

        return CycleEngine(engines, clock, states, scores, self.titles, self.repeats)

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        return {
            "name": self.name,
            "kernels": [kernel.words() for kernel in self.kernels],
            "repeats": list(self.repeats),
            "code": self.has_code,
        }

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Cycle":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Cycle
            The kernel.
        """
        from heeler.run.kernels.names import kernel_from

        return Cycle([kernel_from(part) for part in words["kernels"]], words["repeats"])
