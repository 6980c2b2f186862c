"""Chains whose temperature changes from pass to pass: the loop under everything here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Random
from heeler.model import Model
from heeler.run.build import build_engine
from heeler.run.settings import Settings
from heeler.scan import Scan, Systematic

_MOST_SCORES = 1 << 20  # of one call: a chunk's scores take at most 8 MiB


def make_engine(
    model: Model,
    temperatures: Any,
    states: NDArray[Any],
    seed: int,
    scan: Scan | None = None,
) -> Any:
    """Make an engine of Gibbs sampling.

    Parameters
    ----------
    model
        The model.
    temperatures
        One, or one a pass.
    states
        First states (lanes, n).
    seed
        Of the random words.
    scan
        The scan; systematic if None.

    Returns
    -------
    engine
        See the engine's contract in the design page.
    """
    scan = Systematic() if scan is None else scan
    settings = Settings(Random(), scan, None, len(states), seed, temperature=temperatures)
    return build_engine(model, settings, states, None)


def seeds_of(seed: int, count: int) -> list[int]:
    """Give independent seeds.

    Parameters
    ----------
    seed
        The user's.
    count
        How many.

    Returns
    -------
    list of int
        64 bits each.
    """
    words = np.random.SeedSequence([seed, 0xA11EA1]).generate_state(count, np.uint64)
    return [int(word) for word in words]


def chunks(passes: int, lanes: int) -> list[int]:
    """Cut passes into calls.

    Parameters
    ----------
    passes, lanes
        How many.

    Returns
    -------
    list of int
        Passes of each call.
    """
    most = max(_MOST_SCORES // lanes, 1)
    return [min(most, passes - first) for first in range(0, passes, most)]


def work_of(
    engine: Any, first: NDArray[np.float64], steps: NDArray[np.float64], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Run one pass for every step but the first, and add up steps times the log scores.

    Parameters
    ----------
    engine
        The chains.
    first
        Their log scores now (lanes,).
    steps
        Differences of the inverse temperature: one for the first states, one after each pass.
    threads
        Threads to use.

    Returns
    -------
    work : ndarray
        (lanes,): the logs of the weights.
    mean, variance : ndarray
        Of the scores over the lanes, at every step.
    """
    lanes = len(first)
    work = steps[0] * first
    mean, variance = np.empty(len(steps)), np.empty(len(steps))
    mean[0], variance[0] = first.mean(), first.var()
    at = 1
    for passes in chunks(len(steps) - 1, lanes):
        scores = np.empty((passes, lanes))
        engine.advance(passes, scores, threads)
        work += steps[at : at + passes] @ scores
        mean[at : at + passes] = scores.mean(axis=1)
        variance[at : at + passes] = scores.var(axis=1)
        at += passes
    return work, mean, variance
