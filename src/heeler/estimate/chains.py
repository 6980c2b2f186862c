"""Chains that share their random words: engines set to a place in time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Metropolis, Modified, Random, as_driver
from heeler.model.base import Model
from heeler.run.auto import choose
from heeler.run.build import build_engine
from heeler.run.settings import NOTHING_MORE, Settings, as_temperature
from heeler.scan import Jacobi

# Drivers whose every choice is a function of the state and of a random word.
COUPLED = (Random, Metropolis, Modified)


def coupled_settings(
    model: Model, scan: Any, temperature: Any, lanes: int, seed: int, driver: Any = "random"
) -> Settings:
    """Resolve what random chains are run with.

    Parameters
    ----------
    model
        The model.
    scan
        As in `heeler.sample`; the Jacobi scan is refused.
    temperature
        One temperature.
    lanes
        Chains.
    seed
        Key of the random words.
    driver
        One that draws: random, Metropolis or modified.

    Returns
    -------
    Settings
        Driver and scan, and the rest.
    """
    heat = as_temperature(temperature, None)
    if isinstance(heat, np.ndarray):
        raise ValueError(  # noqa: TRY004 (the value is wrong: one number a pass)
            "The 'temperature' parameter must be one positive number here. "
            f"Got {temperature!r} instead."
        )
    mover = as_driver(driver)
    if not isinstance(mover, COUPLED):
        raise ValueError(  # noqa: TRY004 (a driver, but one without words)
            "The 'driver' parameter must be 'random', 'metropolis' or 'modified': other chains "
            f"share no random words. Got {mover.name!r} instead."
        )
    options = {"driver": mover, "scan": scan, "context": "auto"}
    mover, order, _, _ = choose(model, options, NOTHING_MORE, heat)
    if isinstance(order, Jacobi):
        raise ValueError(  # noqa: TRY004 (the scan is one, but not for this)
            "The 'scan' parameter must not be 'jacobi': that scan does not leave the distribution "
            "invariant, so chains that meet say nothing about it."
        )
    return Settings(mover, order, None, lanes, seed, temperature=heat)


class Chains:
    """Chains whose words are those of given passes: two such sets with one seed are coupled.

    Lane k of two sets with the same settings draws from the same words in the same pass, so two
    lanes in the same state at the same pass stay together.

    Parameters
    ----------
    model, settings
        What is run.
    states
        First states (lanes, n).
    first_pass
        The number of the pass that comes first.
    """

    def __init__(
        self, model: Model, settings: Settings, states: NDArray[Any], first_pass: int = 0
    ) -> None:
        """Make the engine."""
        self.engine = build_engine(model, settings, states, None)
        self.engine.passes = first_pass
        self._lanes = len(states)

    def advance(self, passes: int, threads: int = 1) -> None:
        """Run passes.

        Parameters
        ----------
        passes
            How many.
        threads
            Threads to use.
        """
        # In pieces, so that the scores nobody asks for stay small.
        piece = max(1, (1 << 20) // self._lanes)
        while passes > 0:
            now = min(passes, piece)
            self.engine.advance(now, np.empty((now, self._lanes)), threads)
            passes -= now

    def states(self) -> NDArray[Any]:
        """Give the present states.

        Returns
        -------
        ndarray
            (lanes, n); it may change when the chains go on.
        """
        return self.engine.states()
