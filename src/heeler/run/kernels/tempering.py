"""Parallel tempering as a kernel."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heeler.model.check import shown
from heeler.run.kernels.composite import part_seed
from heeler.run.settings import Keep, Settings
from heeler.run.step import Kernel

_MOST_RUNGS = 256
_LEAST_HOT = 2.0  # a ladder that is chosen reaches at least so far


@dataclass(frozen=True)
class Tempering(Kernel):
    """Parallel tempering: chains at several temperatures, which swap their states.

    Leaves the product of the distributions at all temperatures invariant, and so the model's own at
    the first rung, which is what a run reports. A pass costs one pass of the inner kernel at every
    temperature. The run's ``stats`` have ``temperatures``, ``swap_rates`` between neighbours and
    ``round_trips`` (from the cold end to the hot one and back).

    Parameters
    ----------
    temperatures
        A number of them, geometric from 1 to one at which most moves happen; or the temperatures
        themselves, from 1 up, relative to the run's own.
    kernel
        What moves the chains between swaps: a kernel or its name.
    every
        Passes from one round of swaps to the next.
    """

    name: ClassVar[str] = "tempering"
    temperatures: Any = 8
    kernel: Any = "gibbs"
    every: int = 1

    def __post_init__(self) -> None:
        """Check the ladder and the inner kernel."""
        from heeler.run.kernels.names import as_kernel
        from heeler.run.sample import whole

        inner = as_kernel(self.kernel)
        if inner.chance != "random" or isinstance(inner, Tempering):
            raise ValueError(
                "The 'kernel' of parallel tempering must be a random one that leaves the "
                f"distribution invariant. Got {shown(self.kernel)} instead."
            )
        object.__setattr__(self, "kernel", inner)
        whole("every", self.every, 1)
        given = self.temperatures
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
            if not 2 <= given <= _MOST_RUNGS:
                raise ValueError(
                    f"The 'temperatures' parameter must be a number from 2 to {_MOST_RUNGS}, or "
                    f"temperatures from 1 up. Got {given} instead."
                )
            return
        try:
            values = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        fine = values.ndim == 1 and 2 <= values.size <= _MOST_RUNGS and np.isfinite(values).all()
        if not fine or values[0] != 1.0 or not (np.diff(values) > 0).all():
            raise ValueError(
                f"The 'temperatures' parameter must be a number from 2 to {_MOST_RUNGS}, or 1 and "
                f"higher temperatures that rise. Got {shown(given)} instead."
            )
        object.__setattr__(self, "temperatures", tuple(values.tolist()))

    @property
    def has_code(self) -> bool:  # type: ignore[override]
        """Whether the inner kernel holds functions of the user's."""
        return self.kernel.has_code

    def ladder(self, model: Any) -> NDArray[np.float64]:
        """Give the temperatures on a model.

        Parameters
        ----------
        model
            The model.

        Returns
        -------
        ndarray
            float64, 1 first.
        """
        if isinstance(self.temperatures, tuple):
            return np.array(self.temperatures)
        from heeler.model.gaps import temperature_range

        hot = _LEAST_HOT
        if model.kind != "density":
            hot = max(temperature_range(model)[0], hot)
        return np.geomspace(1.0, hot, int(self.temperatures))

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
        from heeler.kernel.tempering import TemperingEngine

        ladder = self.ladder(model)
        engines = [
            self.kernel.engine(model, _rung(settings, k, float(t)), states)
            for k, t in enumerate(ladder)
        ]
        scores = np.atleast_1d(model.log_score(states))
        return TemperingEngine(
            engines, 1.0 / ladder, settings.betas, states, scores, self.every, settings.seed
        )

    def words(self) -> dict[str, Any]:
        """Describe the kernel in plain values."""
        given = self.temperatures
        return {
            "name": self.name,
            "temperatures": list(given) if isinstance(given, tuple) else int(given),
            "kernel": self.kernel.words(),
            "every": self.every,
            "code": self.has_code,
        }

    @staticmethod
    def from_words(words: dict[str, Any]) -> "Tempering":
        """Make a kernel again.

        Parameters
        ----------
        words
            What `words` gave.

        Returns
        -------
        Tempering
            The kernel.
        """
        from heeler.run.kernels.names import kernel_from

        return Tempering(words["temperatures"], kernel_from(words["kernel"]), words["every"])


def _rung(settings: Settings, rung: int, temperature: float) -> Settings:
    """Make the settings of one rung: only the first keeps what is asked for."""
    clock = settings.clock
    return replace(
        settings,
        seed=part_seed(settings.seed, rung),
        kernel=None,
        temperature=settings.temperature * temperature,
        clock=None if clock is None else lambda first, count: clock(first, count) / temperature,
        keep=settings.keep if rung == 0 else Keep(),
    )
