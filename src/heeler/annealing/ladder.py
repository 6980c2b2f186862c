"""log Z along a ladder of temperatures: by Bennett's ratio from rung to rung, or by integration."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.annealing.ais import bennett, evenly, log_states, pilot
from heeler.annealing.soften import softened
from heeler.annealing.walk import seeds_of
from heeler.driver import Random
from heeler.model import Model
from heeler.model.gaps import uniform_states
from heeler.run.kernels.tempering import Tempering
from heeler.run.settings import Settings
from heeler.scan import Systematic

_LEAST_RUNGS, _MOST_RUNGS = 4, 64
# Neighbouring rungs overlap well where the log score's spread fits into a step twice.
_RUNGS_A_SPREAD = 2.0
_MOST_POINTS = 4096  # rounds whose scores are kept: a longer run keeps every second, fourth, ...
_LEAST_SWAPS = 0.02  # rate of swaps below which rungs are not connected


class Ladder:
    """Scores of chains at a ladder of inverse temperatures.

    Parameters
    ----------
    model
        A positive model.
    betas
        From 0, where states are uniform, to 1.
    chains
        Chains at every rung.
    seed
        Of everything random.
    """

    def __init__(self, model: Model, betas: NDArray[np.float64], chains: int, seed: int) -> None:
        """Make the chains."""
        self.betas = betas
        self.chains = chains
        seeds = seeds_of(seed, 3)
        self._free = model, seeds[0]
        settings = Settings(Random(), Systematic(), None, chains, seeds[1])
        kernel = Tempering(tuple((1.0 / betas[:0:-1]).tolist()))
        settings = replace(settings, kernel=kernel)
        self.engine = kernel.engine(model, settings, uniform_states(model, seeds[2], chains))

    def run(self, sweeps: int, threads: int) -> NDArray[np.float64]:
        """Run, forget the first fifth, and collect the scores.

        Parameters
        ----------
        sweeps
            Passes.
        threads
            Threads to use.

        Returns
        -------
        ndarray
            (rungs, chains, points): log scores, the first rung those of uniform states.
        """
        burn_in = sweeps // 5
        self.engine.advance(burn_in, np.empty((burn_in, self.chains)), threads)
        self.engine.reset_sums()
        left = sweeps - burn_in
        stride = -(-left // _MOST_POINTS)
        points = []
        for _ in range(max(left // stride, 1)):
            self.engine.advance(stride, np.empty((stride, self.chains)), threads)
            points.append(self.engine.rung_scores[::-1].copy())
        scores = np.stack(points, axis=2)
        model, seed = self._free
        count = scores.shape[2]
        uniform = np.asarray(
            model.log_score(uniform_states(model, seed, self.chains * count)), np.float64
        )
        return np.concatenate([uniform.reshape(1, self.chains, count), scores])


def ladder_betas(model: Model, chains: int, seed: int, threads: int) -> NDArray[np.float64]:
    """Choose a ladder: rungs at equal steps of the way that a short run measures.

    Parameters
    ----------
    model
        A positive model.
    chains
        Chains of the short run.
    seed
        Its seed.
    threads
        Threads to use.

    Returns
    -------
    ndarray
        float64, from 0 to 1.
    """
    along, trial, length = pilot(model, 640, max(chains, 16), seeds_of(seed, 2), threads)
    rungs = int(np.clip(math.ceil(_RUNGS_A_SPREAD * length), _LEAST_RUNGS, _MOST_RUNGS))
    return evenly(along, trial, rungs)


def steps_by_bennett(betas: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """Add up the logs of the ratios of neighbouring normalisers.

    Parameters
    ----------
    betas
        The inverse temperatures.
    scores
        (rungs, points): log scores at each.

    Returns
    -------
    float
        log(Z / Z0).
    """
    steps = np.diff(betas)
    return float(sum(bennett(d * scores[k], d * scores[k + 1])[0] for k, d in enumerate(steps)))


def integrated(betas: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """Integrate the mean log score over the inverse temperature.

    Its derivative is the variance, which is known too: cubic pieces, an error of fourth order.

    Parameters
    ----------
    betas
        The inverse temperatures.
    scores
        (rungs, points): log scores at each.

    Returns
    -------
    float
        log(Z / Z0).
    """
    mean, slope, h = scores.mean(axis=1), scores.var(axis=1), np.diff(betas)
    pieces = h * (mean[:-1] + mean[1:]) / 2 + h**2 * (slope[:-1] - slope[1:]) / 12
    return float(pieces.sum())


def estimate(
    model: Model,
    method: str,
    sweeps: int,
    chains: int,
    betas: NDArray[np.float64] | None,
    seed: int,
    threads: int,
) -> dict[str, Any]:
    """Run a ladder and estimate log Z with an error across its chains.

    Parameters
    ----------
    model
        The model.
    method
        ``"tempering"`` (Bennett's ratio) or ``"ti"`` (thermodynamic integration).
    sweeps
        Passes at every rung.
    chains
        Independent chains at every rung.
    betas
        The ladder, or None.
    seed
        Of everything random.
    threads
        Threads to use.

    Returns
    -------
    dict
        ``value``, ``error``, ``reasons`` and ``details``.
    """
    soft = softened(model)
    if betas is None:
        betas = ladder_betas(soft, chains, seed, threads)
    ladder = Ladder(soft, betas, chains, seed)
    scores = ladder.run(sweeps, threads)
    log_z0 = log_states(soft)
    one = steps_by_bennett if method == "tempering" else integrated
    flat = scores.reshape(len(betas), -1)
    value = log_z0 + one(betas, flat)
    each = np.array([one(betas, scores[:, k]) for k in range(chains)])
    error = float(each.std(ddof=1) / math.sqrt(chains))
    reasons = []
    statistics = ladder.engine.statistics()
    rates = statistics["swap_rates"]
    if rates and min(rates) < _LEAST_SWAPS:
        reasons.append(f"two rungs hardly swap (rate {min(rates):.2g}): give more betas")
    if statistics["round_trips"] < chains:
        reasons.append(f"only {statistics['round_trips']} round trips in {chains} chains")
    coarse = log_z0 + one(betas[::2], flat[::2]) if len(betas) % 2 else math.nan
    if method == "ti" and math.isfinite(coarse):
        # An error of fourth order: twice the steps make it sixteen times as large.
        error = math.hypot(error, (value - coarse) / 15)
    if model.has_zeros:
        fraction = _possible(model, ladder.engine.states())
        reasons.append(f"the model has zeros ({fraction:.0%} of the last states are possible)")
        value += math.log(fraction) if fraction > 0 else -math.inf
    other = integrated if method == "tempering" else steps_by_bennett
    details = {
        "rungs": len(betas),
        "betas": betas.tolist(),
        "swap_rates": rates,
        "round_trips": statistics["round_trips"],
        "integral" if method == "tempering" else "bennett": log_z0 + other(betas, flat),
        "chains": chains,
        "sweeps": sweeps,
    }
    return {"value": value, "error": error, "reasons": tuple(reasons), "details": details}


def _possible(model: Model, states: NDArray[Any]) -> float:
    """Give the share of states that the model itself allows."""
    return float(np.isfinite(np.atleast_1d(np.asarray(model.log_score(states)))).mean())
