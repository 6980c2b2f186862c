"""`heeler.log_z`: the log of the normaliser, with error bars and an honest word about them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heeler.annealing.ais import (
    anneal_both,
    bennett,
    crooks_mismatch,
    effective,
    log_error,
    log_mean_exp,
)
from heeler.annealing.schedules import checked_sequence
from heeler.model import Model
from heeler.run.sample import whole

METHODS = ("ais", "exact", "tempering", "ti")
_NINETY = 1.6448536269514722  # the standard normal distribution's 95th percentile
_STUDENT = 2.0  # of Student's distribution with 5 to 7 degrees of freedom: errors of 8 chains
_GAP = 1.0  # nats between the two directions above which neither is to be trusted
# Standard errors between what the two directions say of each other's weights, above which chains
# cannot have been where they should. 2 of 90 sound runs were above it.
_MISMATCH = 3.5
_LEAST_WEIGHTS = 5.0  # effective number of weights below which a mean of exponentials is a few


@dataclass(frozen=True)
class LogZ:
    """An estimate of log Z; made by `heeler.log_z`.

    Attributes
    ----------
    value : float
        The estimate, a natural log.
    error : float
        Its standard error; 0 for exact answers.
    low, high : float
        A 90 % interval. By annealed importance sampling: from the forward estimate, which is low on
        average, to the reverse one, which is high, each with its own error.
    reliable : bool
        Whether nothing speaks against the interval.
    reasons : tuple of str
        What speaks against it.
    method : str
        ``"ais"``, ``"exact"``, ``"tempering"`` or ``"ti"``.
    details : dict
        What else the method knows: ``forward`` and ``reverse`` estimates with errors, ``integral``
        (thermodynamic integration) and so on.
    """

    value: float
    error: float
    low: float
    high: float
    reliable: bool = True
    reasons: tuple[str, ...] = ()
    method: str = "ais"
    details: dict[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        """Give the value."""
        return self.value

    def __repr__(self) -> str:
        """Show value, interval and verdict."""
        if self.method == "exact":
            return f"LogZ({self.value:.10g}, exact)"
        verdict = "" if self.reliable else f"; UNRELIABLE: {'; '.join(self.reasons)}"
        return (
            f"LogZ({self.value:.6g} +- {self.error:.2g}, 90 % from {self.low:.6g} to "
            f"{self.high:.6g}, {self.method}{verdict})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values.

        Returns
        -------
        dict
            Ready for JSON but for infinities.
        """
        return {
            "value": self.value,
            "error": self.error,
            "low": self.low,
            "high": self.high,
            "reliable": self.reliable,
            "reasons": list(self.reasons),
            "method": self.method,
            "details": dict(self.details),
        }


def log_z(
    model: Model,
    method: str = "ais",
    *,
    sweeps: int = 1000,
    chains: int = 64,
    betas: Any = None,
    evidence: Any = None,
    seed: int = 0,
    threads: int | None = None,
    memory_limit: int = 1 << 30,
) -> LogZ:
    """Estimate the natural log of a model's normaliser Z, evidence clamped.

    Parameters
    ----------
    model : Model
        The model.
    method : str
        ``"ais"``: annealed importance sampling forward and in reverse; ``"exact"``: junction tree;
        ``"tempering"``: chains at a ladder of temperatures that swap states, Bennett's ratio from
        rung to rung; ``"ti"``: thermodynamic integration along the same ladder, a check.
    sweeps : int
        Passes of every chain, in each direction for ``"ais"``.
    chains : int
        Chains, in each direction; on a ladder an eighth of them, at least 4, at every rung.
    betas : sequence of float, optional
        Inverse temperatures from 0 to 1: one more than passes, or a ladder. By default they are
        chosen by a short run.
    evidence : mapping, optional
        Variable -> value.
    seed : int
        Same seed, same bits.
    threads : int, optional
        As in `heeler.sample`.
    memory_limit : int
        For ``"exact"``.

    Returns
    -------
    LogZ
        ``value``, ``error``, ``low``, ``high``, ``reliable``, ``reasons``.

    Examples
    --------
    >>> import heeler
    >>> model = heeler.lattice((4, 4), coupling=0.3)
    >>> found, truth = heeler.log_z(model, seed=1), heeler.exact.log_z(model)
    >>> found.low < truth < found.high
    True
    """
    if not isinstance(model, Model):
        raise TypeError(
            f"The 'model' parameter must be a heeler model. Got {type(model).__name__} instead."
        )
    if method not in METHODS:
        raise ValueError(
            f"The 'method' parameter must be one of {', '.join(map(repr, METHODS))}. "
            f"Got {method!r} instead."
        )
    model = model if evidence is None else model.given(evidence)
    passes, lanes = whole("sweeps", sweeps, 1), whole("chains", chains, 2)
    seed = whole("seed", seed, 0)
    given = None if betas is None else checked_sequence(betas, "betas")
    if given is not None and method == "ais" and len(given) != passes + 1:
        passes = len(given) - 1
    count = whole("threads", (os.cpu_count() or 1) if threads is None else threads, 1)
    if method == "exact":
        from heeler.exact import log_z as exact

        value = exact(model, memory_limit=memory_limit)
        return LogZ(value, 0.0, value, value, method="exact")
    if not len(model.free):
        return _settled(model, method)
    if method == "ais":
        return _by_ais(model, passes, lanes, given, seed, count)
    from heeler.annealing.ladder import estimate

    rung_chains = max(lanes // 8, 4)
    found = estimate(model, method, max(passes, 10), rung_chains, given, seed, count)
    wide = _STUDENT * found["error"]
    value, reasons = found["value"], found["reasons"]
    return LogZ(
        value, found["error"], value - wide, value + wide, not reasons, reasons, method,
        found["details"],
    )  # fmt: skip


def _settled(model: Model, method: str) -> LogZ:
    """Give the log score of the only state there is."""
    assert model.evidence is not None
    value = float(np.asarray(model.log_score(model.evidence)))
    if value == -math.inf:
        from heeler.exact import Contradiction

        raise Contradiction("the evidence clamps every variable, and to an impossible state")
    return LogZ(value, 0.0, value, value, method=method)


def _by_ais(model: Model, sweeps: int, chains: int, betas: Any, seed: int, threads: int) -> LogZ:
    """Anneal both ways and judge what comes of it."""
    works = anneal_both(model, sweeps, chains, betas, seed, threads)
    forward = works.log_z0 + log_mean_exp(works.forward)
    reverse = works.log_z0 - log_mean_exp(-works.reverse)
    forward_error, reverse_error = log_error(works.forward), log_error(-works.reverse)
    gap = reverse - forward
    worth = min(effective(works.forward), effective(-works.reverse))
    if math.isfinite(gap):
        value, error = bennett(works.forward, works.reverse)
        value += works.log_z0
        # Half of the gap is how far either direction is off; the combination is off by less.
        error = math.hypot(error, gap / 4)
    else:
        value, error = reverse, math.inf
    low = min(forward - _NINETY * forward_error, value - _NINETY * error)
    high = max(reverse + _NINETY * reverse_error, value + _NINETY * error)
    reasons = []
    if model.has_zeros:
        reasons.append(
            "the model has zeros, and chains may miss parts of its support "
            f"({works.alive:.0%} of the forward ones reached it)"
        )
    if not gap < _GAP:
        reasons.append(f"forward and reverse estimates differ by {gap:.3g}")
    noise = math.hypot(forward_error, reverse_error)
    if gap < -4 * noise:
        reasons.append(f"the reverse estimate is below the forward one by {-gap:.3g}")
    mismatch = crooks_mismatch(works.forward, works.reverse)
    if mismatch > _MISMATCH:
        reasons.append(
            f"the weights of the two directions contradict each other ({mismatch:.1f} standard "
            "errors): chains are stuck"
        )
    if worth < _LEAST_WEIGHTS:
        reasons.append(f"the weights of one direction are worth {worth:.1f} chains")
    details = {
        "forward": forward,
        "forward_error": forward_error,
        "reverse": reverse,
        "reverse_error": reverse_error,
        "gap": gap,
        "integral": works.integral,
        "effective_chains": worth,
        "mismatch": mismatch,
        "chains": chains,
        "sweeps": sweeps,
        "alive": works.alive,
    }
    return LogZ(value, error, low, high, not reasons, tuple(reasons), "ais", details)
