"""Annealed importance sampling, forward and in reverse: log Z from below and from above.

Forward, chains begin with uniform states and are cooled to the distribution; the log weights
w = sum of (step of the inverse temperature) * (log score) give E[exp(w)] = Z / Z0, so the log of
their mean is below log Z on average. In reverse they begin with states of the distribution and are
heated; E[exp(-w)] = Z0 / Z, so that estimate is above. With the order of the updates reversed too,
the two are tied by Crooks' relation, and Bennett's acceptance ratio combines them best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.annealing.soften import softened
from heeler.annealing.walk import make_engine, seeds_of, work_of
from heeler.model import Model
from heeler.model.gaps import uniform_states
from heeler.scan import Reversed

_PILOT = 64  # passes, at least, of the run that shows where the temperature has to fall slowly
_EVEN = 0.2  # share of the schedule that is spread evenly, whatever the pilot has seen


@dataclass(frozen=True, eq=False)
class Works:
    """Log weights of both directions, and the thermodynamic integral that comes for nothing.

    Attributes
    ----------
    forward, reverse : ndarray
        (chains,): log weights relative to the uniform distribution; -inf forward where a chain
        ended at an impossible state.
    log_z0 : float
        Log of the number of states.
    integral : float
        Trapezoids under the mean log score of both directions: lies near log Z.
    betas : ndarray
        The inverse temperatures, from 0 to 1.
    alive : float
        Share of forward chains that ended at possible states.
    """

    forward: NDArray[np.float64]
    reverse: NDArray[np.float64]
    log_z0: float
    integral: float
    betas: NDArray[np.float64]
    alive: float


def log_states(model: Model) -> float:
    """Count the states of the free variables, as a natural log.

    Parameters
    ----------
    model
        The model.

    Returns
    -------
    float
        Sum of the logs of their numbers of values.
    """
    return float(np.log(np.asarray(model.cardinalities, np.float64)[model.free]).sum())


def anneal_both(
    model: Model,
    sweeps: int,
    chains: int,
    betas: NDArray[np.float64] | None,
    seed: int,
    threads: int,
) -> Works:
    """Run annealed importance sampling forward and in reverse.

    Parameters
    ----------
    model
        The model.
    sweeps
        Passes of each direction.
    chains
        Chains of each direction.
    betas
        Inverse temperatures from 0 to 1; None looks for good ones.
    seed
        Of everything random.
    threads
        Threads to use.

    Returns
    -------
    Works
        The log weights.
    """
    soft = softened(model)
    seeds = seeds_of(seed, 8)
    if betas is None:
        betas = pilot_betas(soft, sweeps, chains, seeds[:2], threads)
    steps = np.diff(betas)
    # Forward.
    states = uniform_states(soft, seeds[2], chains)
    engine = make_engine(soft, _temperatures(betas[1:-1]), states, seeds[3])
    forward, cold_mean, _ = work_of(engine, _scores(soft, states), steps, threads)
    final = engine.states()
    possible = np.isfinite(_scores(model, final)) if model.has_zeros else np.ones(chains, bool)
    # In reverse: from chains of their own, cooled to temperature 1 and then left there as long.
    states = _equilibrated(soft, betas, seeds[4:7], chains, threads)
    if model.has_zeros:
        states = _kept(model, states, chains)
    engine = make_engine(soft, _temperatures(betas[-2:0:-1]), states, seeds[7], Reversed())
    reverse, hot_mean, _ = work_of(engine, _scores(soft, states), steps[::-1], threads)
    integral = 0.5 * float(steps @ cold_mean + steps[::-1] @ hot_mean)
    log_z0 = log_states(soft)
    return Works(
        np.where(possible, forward, -np.inf),
        reverse if len(states) else np.empty(0),
        log_z0,
        log_z0 + integral,
        betas,
        float(possible.mean()),
    )


def _temperatures(betas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give a pass's temperatures; one number at least, where there is no pass."""
    return 1.0 / betas if betas.size else np.ones(1)


def _scores(model: Model, states: NDArray[Any]) -> NDArray[np.float64]:
    """Compute log scores of states."""
    return np.atleast_1d(np.asarray(model.log_score(states), np.float64))


def _equilibrated(
    soft: Model, betas: NDArray[np.float64], seeds: list[int], chains: int, threads: int
) -> NDArray[Any]:
    """Make states of the distribution, as far as cooling and as many passes again make them."""
    temperatures = np.concatenate([_temperatures(betas[1:]), np.ones(len(betas))])
    engine = make_engine(soft, temperatures, uniform_states(soft, seeds[0], chains), seeds[1])
    for passes in (len(betas) - 1, len(betas)):
        engine.advance(passes, np.empty((passes, chains)), threads)
    return engine.states().copy()


def _kept(model: Model, states: NDArray[Any], chains: int) -> NDArray[Any]:
    """Take possible states only, again and again until there are enough; perhaps none."""
    found = states[np.isfinite(_scores(model, states))]
    if not len(found):
        from heeler.model import first_state

        return first_state(model, 0, chains)
    return found[np.arange(chains) % len(found)]


def pilot_betas(
    soft: Model, sweeps: int, chains: int, seeds: list[int], threads: int
) -> NDArray[np.float64]:
    """Choose inverse temperatures by a short run.

    Parameters
    ----------
    soft
        A positive model.
    sweeps
        Passes wanted.
    chains
        Chains.
    seeds
        Two seeds.
    threads
        Threads to use.

    Returns
    -------
    ndarray
        float64 (sweeps + 1,), from 0 to 1.
    """
    along, trial, _ = pilot(soft, sweeps, chains, seeds, threads)
    return evenly(along, trial, sweeps)


def evenly(
    along: NDArray[np.float64], betas: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    """Cut the way from 0 to 1 into equal steps.

    Parameters
    ----------
    along, betas
        As `pilot` gives them.
    steps
        How many.

    Returns
    -------
    ndarray
        float64 (steps + 1,): inverse temperatures.
    """
    result = np.interp(np.linspace(0.0, 1.0, steps + 1), along, betas)
    result[0], result[-1] = 0.0, 1.0  # whatever rounding made of the ends
    return result


def pilot(
    soft: Model, sweeps: int, chains: int, seeds: list[int], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Look where the log score varies much: schedules are to be dense there.

    With so many steps the variance of the weights is least when each step adds as much to it, so
    the density is the standard deviation of the log score.

    Parameters
    ----------
    soft
        A positive model.
    sweeps
        Passes wanted.
    chains
        Chains.
    seeds
        Two seeds.
    threads
        Threads to use.

    Returns
    -------
    along, betas : ndarray
        How much of the way, from 0 to 1, lies before each inverse temperature.
    length : float
        The whole way: the integral of the standard deviation of the log score.
    """
    count = min(max(_PILOT, sweeps // 10), 1000)
    # Even in the square root: scores vary most, and over orders of magnitude, near 0.
    trial = np.linspace(0.0, 1.0, count + 1) ** 2
    states = uniform_states(soft, seeds[0], chains)
    engine = make_engine(soft, _temperatures(trial[1:-1]), states, seeds[1])
    _, _, variance = work_of(engine, _scores(soft, states), np.diff(trial), threads)
    spread = np.sqrt(np.convolve(variance, np.ones(5) / 5, mode="same"))
    way = spread * np.diff(trial)
    length = float(way.sum())
    if not np.isfinite(length) or length <= 0:
        return trial, trial, 0.0
    along = np.concatenate([[0.0], np.cumsum(way) / length])
    return (1 - _EVEN) * along + _EVEN * np.linspace(0.0, 1.0, count + 1), trial, length


def log_mean_exp(values: NDArray[np.float64]) -> float:
    """Compute the log of the mean of exponentials.

    Parameters
    ----------
    values
        Logs.

    Returns
    -------
    float
        -inf where all are.
    """
    top = values.max(initial=-np.inf)
    if not np.isfinite(top):
        return float(top)
    return float(top + np.log(np.mean(np.exp(values - top))))


def log_error(values: NDArray[np.float64]) -> float:
    """Estimate the standard error of `log_mean_exp` by leaving each value out.

    Parameters
    ----------
    values
        Logs.

    Returns
    -------
    float
        Infinity for fewer than two values.
    """
    n = len(values)
    top = values.max(initial=-np.inf)
    if n < 2 or not np.isfinite(top):
        return math.inf
    weights = np.exp(values - top)
    rest = (weights.sum() - weights) / (n - 1)
    if (rest <= 0).any():
        return math.inf
    without = np.log(rest)
    return float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))


def effective(values: NDArray[np.float64]) -> float:
    """Compute how many equal weights the weights are worth.

    Parameters
    ----------
    values
        Their logs.

    Returns
    -------
    float
        From 1 to their number; 0 where all are zero.
    """
    top = values.max(initial=-np.inf)
    if not np.isfinite(top):
        return 0.0
    weights = np.exp(values - top)
    return float(weights.sum() ** 2 / (weights**2).sum())


def bennett(forward: NDArray[np.float64], reverse: NDArray[np.float64]) -> tuple[float, float]:
    """Combine the log weights of both directions (Bennett's acceptance ratio).

    Parameters
    ----------
    forward, reverse
        Log weights.

    Returns
    -------
    value : float
        Estimate of log(Z / Z0).
    error : float
        Its standard error, for independent weights.
    """
    shift = math.log(len(reverse) / len(forward))  # of the prior odds of the two directions
    finite = np.concatenate([forward[np.isfinite(forward)], reverse])
    low, high = float(finite.min()) - 40.0, float(finite.max()) + 40.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        # Falls with the middle: forward weights say "more", reverse ones "less".
        more = _sigmoid(forward - middle + shift).sum() - _sigmoid(middle - reverse - shift).sum()
        low, high = (middle, high) if more > 0 else (low, middle)
    value = 0.5 * (low + high)
    total = 0.0
    for part in (_sigmoid(forward - value + shift), _sigmoid(value - reverse - shift)):
        mean = part.mean()
        if mean <= 0:
            return value, math.inf
        total += part.var(ddof=1) / (len(part) * mean**2) if len(part) > 1 else math.inf
    return value, math.sqrt(total)


def crooks_mismatch(forward: NDArray[np.float64], reverse: NDArray[np.float64]) -> float:
    """Measure how far the log weights of both directions are from Crooks' relation.

    Forward log weights, weighted by their exponentials, have the distribution of the reverse ones,
    and the other way round. Chains that are stuck in different places break that even where both
    estimates happen to agree.

    Parameters
    ----------
    forward, reverse
        Log weights.

    Returns
    -------
    float
        The larger difference of means, in standard errors.
    """
    return max(_difference(forward, reverse, 1.0), _difference(reverse, forward, -1.0))


def _difference(some: NDArray[np.float64], others: NDArray[np.float64], sign: float) -> float:
    """Compare the weighted mean of some log weights with the plain mean of the others."""
    finite = some[np.isfinite(some)]
    plain = others[np.isfinite(others)]
    if len(finite) < 2 or len(plain) < 2:
        return math.inf
    weights = np.exp(sign * finite - (sign * finite).max())
    weights /= weights.sum()
    mean = float(weights @ finite)
    error = math.hypot(
        math.sqrt(float(weights**2 @ (finite - mean) ** 2)),
        float(plain.std(ddof=1)) / math.sqrt(len(plain)),
    )
    gap = abs(mean - float(plain.mean()))
    return gap / error if error > 0 else (0.0 if gap < 1e-9 else math.inf)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute 1 / (1 + exp(-x))."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))
