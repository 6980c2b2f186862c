"""`heeler.couple`: an estimate of how far chains are from their distribution (L-lag couplings)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Random, as_driver
from heeler.estimate.chains import Chains, coupled_settings
from heeler.estimate.pairs import MaximalPairs, UniformPairs
from heeler.estimate.target import Asked, asked_of
from heeler.model.base import Model
from heeler.run.sample import first_states, whole

PILOT_PAIRS = 16


class Distance(NamedTuple):
    """An estimated upper bound on a distance; an estimate, not a certificate."""

    value: float
    """The average over the pairs of chains; at most the largest possible distance."""
    error: float
    """Its standard error; never below the share of one pair, which is what so many can see."""


@dataclass(frozen=True)
class Coupled:
    """What pairs of coupled chains say about the distance from the target; an estimate.

    Chain X runs `lag` sweeps ahead of chain Y; from there on they share their random words, and
    once they meet they stay together. The distance after t sweeps is at most the expected number of
    j >= 0 for which X and Y, Y having made t + j lag sweeps, have not met (for all variables or for
    those of the target), and this expectation is estimated by the average over pairs. Made by
    `heeler.couple`.

    Attributes
    ----------
    model : Model
        The model.
    meetings : ndarray
        int64 (pairs,): the sweeps of chain Y until the pair met everywhere, -1 where it did not
        within the sweeps allowed.
    lag : int
        How many sweeps X is ahead.
    coupling : str
        ``"uniform"`` (common words) or ``"maximal"``.
    settings : dict
        Driver, scan, temperature and seed.

    References
    ----------
    Biswas, Jacob, Vanetti: Estimating convergence of Markov chains with L-lag couplings, 2019.
    """

    model: Model
    meetings: NDArray[np.int64]
    lag: int
    coupling: str
    settings: dict[str, Any]
    _sums: NDArray[np.float64]
    _target: Asked

    @property
    def pairs(self) -> int:
        """How many pairs of chains there were."""
        return len(self.meetings)

    @property
    def met(self) -> bool:
        """Whether all pairs met: otherwise nothing is estimated."""
        return bool((self.meetings >= 0).all())

    def distance(self, sweeps: int) -> Distance:
        """Estimate an upper bound on the distance after some sweeps.

        Parameters
        ----------
        sweeps
            Sweeps from the start that the chains were given.

        Returns
        -------
        Distance
            Value and standard error, both NaN where some pair did not meet.
        """
        at = whole("sweeps", sweeps, 0)
        most = self._target.total
        least_error = most / self.pairs
        if not self.met:
            return Distance(float("nan"), float("nan"))
        if at >= len(self._sums):
            return Distance(0.0, least_error)
        values = self._sums[at]
        spread = float(values.std(ddof=1)) / np.sqrt(self.pairs) if self.pairs > 1 else np.inf
        return Distance(min(most, float(values.mean())), max(float(spread), least_error))

    def sweeps(self, epsilon: float) -> int | None:
        """Estimate the sweeps after which the distance stays at most epsilon.

        Parameters
        ----------
        epsilon
            The distance wanted.

        Returns
        -------
        int or None
            The first number of sweeps from which value plus error are at most epsilon; None where
            some pair did not meet, or there are too few pairs to see so small a distance.
        """
        if not self.met or self._target.total / self.pairs > epsilon:
            return None
        wrong = [k for k in range(len(self._sums)) if sum(self.distance(k)) > epsilon]
        return wrong[-1] + 1 if wrong else 0

    def to_dict(self) -> dict[str, Any]:
        """Give the result by name.

        Returns
        -------
        dict
            Plain numbers and texts.
        """
        return {
            "kind": "estimate",
            "coupling": self.coupling,
            "lag": self.lag,
            "pairs": self.pairs,
            "met": int((self.meetings >= 0).sum()),
            "mean_meeting": float(self.meetings.mean()) if self.met else None,
            "longest_meeting": int(self.meetings.max()) if self.met else None,
            "target": self._target.text,
            "settings": self.settings,
        }

    def __repr__(self) -> str:
        """Show when pairs met, and what follows."""
        head = f"Coupled chains ({self.coupling}, lag {self.lag}, {self.pairs} pairs): "
        if not self.met:
            apart = int((self.meetings < 0).sum())
            return head + f"{apart} pairs did not meet, so there is no estimate"
        lines = [
            head + f"met after {self.meetings.mean():.3g} sweeps on average, "
            f"{int(self.meetings.max())} at most",
            f"  estimate (no certificate) of the distance, {self._target.text}:",
        ]
        for at in sorted({0, 1, *(int(self.meetings.max() * k / 4) for k in range(1, 5))}):
            value, error = self.distance(at)
            lines.append(f"    after {at} sweeps: {value:.3g} +- {error:.2g}")
        return "\n".join(lines)


def couple(
    model: Model,
    *,
    scan: Any = "auto",
    driver: Any = "random",
    target: Any = None,
    coupling: str = "auto",
    lag: int | None = None,
    pairs: int = 256,
    temperature: float = 1.0,
    init: Any = None,
    seed: int = 0,
    most_sweeps: int = 10_000,
    threads: int | None = None,
) -> Coupled:
    """Estimate how fast chains with the random driver forget their start, for any model.

    An estimate with an error, not a certificate: it holds for the start that is given, where the
    bound of a scan (`heeler.certify`) holds for every start but needs weak couplings.

    Parameters
    ----------
    model
        The model, evidence included.
    scan
        As in `heeler.sample`, but not ``"jacobi"``.
    driver
        ``"random"``, ``"metropolis"`` or ``"modified"``: those that draw.
    target
        What the distance is about, as in `heeler.variation`: None for all variables, a variable or
        several (their marginal distribution), or weights (weighted total variation).
    coupling
        ``"uniform"``: both chains read the same words. ``"maximal"``: values agree as often as they
        can; for two values that is the same, and for other drivers than random it is not known.
        ``"auto"``: maximal where there are more values and the driver is random.
    lag
        How many sweeps one chain is ahead. Longer lags give sharper bounds and cost as much more.
        None takes the longest of 16 meeting times that are measured first.
    pairs
        Pairs of chains; distances below about 1 / pairs cannot be seen.
    temperature
        The distribution is p^(1/temperature).
    init
        The first state (n,) of both chains; None gives each chain a random one of its own, as
        `heeler.sample` does.
    seed
        Whole number from 0 to 2^64 - 1.
    most_sweeps
        When to give pairs up that have not met.
    threads
        Threads to use; None stands for as many as there are processors.

    Returns
    -------
    Coupled
        Meeting times, and the distance after any number of sweeps.
    """
    if not isinstance(model, Model):
        raise TypeError(f"The 'model' parameter must be a heeler model. Got {model!r} instead.")
    if not len(model.free):
        raise ValueError("All variables of the model are clamped: there is nothing to couple.")
    if coupling not in ("auto", "uniform", "maximal"):
        raise ValueError(
            f"The 'coupling' parameter must be 'auto', 'uniform' or 'maximal'. Got {coupling!r}."
        )
    wanted = asked_of(target, model)
    binary = bool((np.asarray(model.cardinalities)[model.free] == 2).all())
    mover = as_driver(driver)
    plain = isinstance(mover, Random)
    if coupling == "maximal" and not plain:
        raise ValueError(
            f"The 'coupling' parameter must not be 'maximal' for the driver {mover.name!r}: "
            "use 'uniform'."
        )
    if coupling == "auto" or binary:  # with two values common words are the maximal coupling
        coupling = "maximal" if plain and not binary else "uniform"
    count, limit = whole("pairs", pairs, 2), whole("most_sweeps", most_sweeps, 1)
    ahead = None if lag is None else whole("lag", lag, 1)
    workers = whole("threads", (os.cpu_count() or 1) if threads is None else threads, 1)
    keys = np.random.SeedSequence(whole("seed", seed, 0)).generate_state(6, np.uint64).tolist()
    common = (model, scan, mover, temperature, coupling, init, limit, workers, wanted)
    if ahead is None:
        pilot, _ = _run(*common, 1, PILOT_PAIRS, keys[:3])
        ahead = max(1, int(pilot.max())) if (pilot >= 0).all() else 1
    meetings, apart = _run(*common, ahead, count, keys[3:])
    sums = apart
    for at in range(len(sums) - ahead - 1, -1, -1):
        sums[at] += sums[at + ahead]
    order = coupled_settings(model, scan, temperature, 1, 0, mover).scan
    settings = {"driver": mover.name, "scan": order.name, "temperature": float(temperature)}
    settings["seed"] = seed
    return Coupled(model, meetings, ahead, coupling, settings, sums, wanted)


def _run(
    model: Model,
    scan: Any,
    driver: Any,
    temperature: Any,
    coupling: str,
    init: Any,
    limit: int,
    threads: int,
    target: Asked,
    lag: int,
    pairs: int,
    keys: list[int],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Run pairs until all have met; their meeting times, and how far apart they were when."""
    starts = [
        first_states(model, init, coupled_settings(model, scan, temperature, pairs, key, driver))
        for key in keys[:2]
    ]
    settings = coupled_settings(model, scan, temperature, pairs, keys[2], driver)
    leader = Chains(model, settings, starts[0])
    leader.advance(lag, threads)
    kind = MaximalPairs if coupling == "maximal" else UniformPairs
    both = kind(model, settings, leader, starts[1], lag, target)
    meetings = np.full(pairs, -1)
    pieces = [both.apart()[None]]
    meetings[both.together()] = 0
    done = 0
    while (meetings < 0).any() and done < limit:
        now = min(both.piece, limit - done)
        apart, together = both.advance(now, threads)
        for t in np.flatnonzero(together.any(axis=1)).tolist():
            meetings[(meetings < 0) & together[t]] = done + t + 1
        pieces.append(apart)
        done += now
    return meetings, np.concatenate(pieces)
