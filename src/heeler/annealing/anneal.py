"""`heeler.anneal`: from hot to cold, to the best state or to the distribution itself."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.annealing.schedules import as_schedule
from heeler.annealing.walk import seeds_of
from heeler.model import Model
from heeler.run.result import Best
from heeler.run.sample import sample, whole

# The likeliest values, until nothing changes any more or so many passes are done.
_QUENCH_PASSES = 64
_FIRST_SWEEPS = 64  # of the first round, where only the seconds are given
_SHORTEST = 0.02  # a round's share of the seconds below which no further one is begun


class Annealed:
    """What annealing has found; made by `heeler.anneal`.

    Attributes
    ----------
    model : Model
        The model, evidence included.
    best : Best
        The best state of all chains and rounds: ``best.state``, ``best.log_score``,
        ``best.values``.
    states : ndarray
        (chains, n): the last states of the last round, before any quench: where the last
        temperature is 1, they are first states for `heeler.sample`.
    log_scores : ndarray
        (chains,): their log scores.
    temperatures : ndarray
        One a pass, of the last round.
    rounds : list of dict
        Of every round: ``sweeps``, ``seconds`` since the beginning, ``log_score`` of its best
        state.
    trace : ndarray
        (chains, points): log scores along the last round, as `heeler.sample` keeps them.
    settings, stats : dict
        What was run, and how much.
    """

    def __init__(self, **parts: Any) -> None:
        """Keep the parts."""
        self.model: Model = parts["model"]
        self.best: Best = parts["best"]
        self.states: NDArray[Any] = parts["states"]
        self.log_scores: NDArray[np.float64] = parts["log_scores"]
        self.temperatures: NDArray[np.float64] = parts["temperatures"]
        self.rounds: list[dict[str, float]] = parts["rounds"]
        self.trace: NDArray[np.float64] = parts["trace"]
        self.settings: dict[str, Any] = parts["settings"]
        self.stats: dict[str, Any] = parts["stats"]

    def __repr__(self) -> str:
        """Say what was found."""
        s = self.stats
        return (
            f"Annealed({self.model!r}: log score {self.best.log_score:.8g} in {s['sweeps']} sweeps "
            f"x {self.settings['chains']} chains, {s['seconds']:.3g} s)"
        )


def anneal(
    model: Model,
    schedule: Any = "geometric",
    *,
    sweeps: int | None = None,
    seconds: float | None = None,
    hot: float | None = None,
    cold: float | None = None,
    driver: Any = "random",
    scan: Any = "auto",
    chains: int = 32,
    quench: bool = True,
    target: float | None = None,
    evidence: Any = None,
    init: Any = None,
    seed: int = 0,
    threads: int | None = None,
) -> Annealed:
    """Anneal a model: cool it pass by pass, and keep the best state that was met.

    With ``cold=1.0`` the chains end at the distribution itself, and `Annealed.states` are better
    first states for `heeler.sample` than random ones.

    Parameters
    ----------
    model : Model
        The model.
    schedule : str, sequence or function
        ``"linear"``, ``"geometric"``, ``"logarithmic"``; temperatures, spread over the passes; or
        a function from a pass's number to its temperature.
    sweeps : int, optional
        Passes of a round; 1000 if neither sweeps nor seconds are given.
    seconds : float, optional
        Time to spend: rounds are begun until it is over, each with fresh random words. Without
        ``sweeps`` every round is twice as long as the one before.
    hot, cold : float, optional
        The first and the last temperature of a schedule given by name; by default one at which most
        changes happen, and one at which the smallest hardly does.
    driver, scan
        As in `heeler.sample`; ``"random"``, ``"herded"`` and ``"metropolis"`` are sensible.
    chains : int
        Chains side by side.
    quench : bool
        Whether greedy passes follow, to the nearest best state.
    target : float, optional
        A log score at which to stop after the round that reaches it.
    evidence : mapping, optional
        Variable -> value.
    init : ndarray, optional
        First state or states, as in `heeler.sample`.
    seed : int
        Same seed, same bits, where the seconds do not decide.
    threads : int, optional
        As in `heeler.sample`.

    Returns
    -------
    Annealed
        The best state, the last states, the temperatures.

    Examples
    --------
    >>> import heeler
    >>> model = heeler.ising([(0, 1, 1.0), (1, 2, -1.0), (0, 2, -1.0)])
    >>> found = heeler.anneal(model, sweeps=50, seed=1)
    >>> found.best.log_score
    3.0
    """
    if not isinstance(model, Model):
        raise TypeError(
            f"The 'model' parameter must be a heeler model. Got {type(model).__name__} instead."
        )
    model = model if evidence is None else model.given(evidence)
    growing = sweeps is None and seconds is not None
    passes = whole("sweeps", (_FIRST_SWEEPS if growing else 1000) if sweeps is None else sweeps, 1)
    _check(seconds, target)
    seed = whole("seed", seed, 0)
    options = {
        "driver": driver, "scan": scan, "chains": chains, "threads": threads, "progress": False,
    }  # fmt: skip
    begin = time.perf_counter()
    rounds: list[dict[str, float]] = []
    best, parts, seeds = None, {}, iter(seeds_of(seed, 4096))
    while True:
        began = time.perf_counter()
        temperatures = as_schedule(schedule, hot, cold, passes, model, seed)
        parts = _round(model, temperatures, options, init, next(seeds, seed), quench)
        found = parts.pop("best")
        if best is None or found.log_score > best.log_score:
            best = found
        now = time.perf_counter()
        rounds.append({"sweeps": passes, "seconds": now - begin, "log_score": found.log_score})
        if target is not None and best.log_score >= target:
            break
        passes = _next(passes, growing, seconds, now - began, now - begin)
        if not passes or len(rounds) == 4096 or not len(model.free):
            break
    return Annealed(
        model=model,
        best=best,
        temperatures=temperatures,
        rounds=rounds,
        stats={
            "rounds": len(rounds),
            "sweeps": sum(int(r["sweeps"]) for r in rounds),
            "seconds": time.perf_counter() - begin,
        },
        **parts,
    )


def _check(seconds: float | None, target: float | None) -> None:
    """Check the numbers that say when to stop."""
    for name, value, least in (("seconds", seconds, 0.0), ("target", target, -np.inf)):
        if value is None:
            continue
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not number or not np.isfinite(value) or value <= least:
            raise ValueError(
                f"The '{name}' parameter must be a finite number{' above 0' if not least else ''}. "
                f"Got {value!r} instead."
            )


def _next(passes: int, growing: bool, seconds: float | None, last: float, spent: float) -> int:
    """Choose the passes of the next round; 0 ends."""
    if seconds is None:
        return 0
    left = seconds - spent
    if left < _SHORTEST * seconds:
        return 0
    wanted = 2 * passes if growing else passes
    # A round that would not end in time is made as long as the time allows.
    most = int(passes * left / max(last, 1e-9))
    return min(wanted, most)


def _round(
    model: Model,
    temperatures: NDArray[np.float64],
    options: dict[str, Any],
    init: Any,
    seed: int,
    quench: bool,
) -> dict[str, Any]:
    """Cool once."""
    with warnings.catch_warnings():
        # Frozen chains have marginals of 0 and 1: here that is no warning sign.
        warnings.filterwarnings("ignore", message=".*came out as exactly 0 or 1")
        run = sample(
            model, sweeps=len(temperatures), temperature=temperatures, init=init, seed=seed,
            **options,
        )  # fmt: skip
    session = run._session
    states = np.atleast_2d(run.best.state) if session is None else session.engine.states().copy()
    best = run.best
    if quench and session is not None:
        lanes = len(states)
        # The best state met takes part: it may lie one greedy step below a better one.
        cold = sample(
            model, driver="greedy", sweeps=_QUENCH_PASSES, chains=lanes + 1, seed=seed,
            init=np.concatenate([states, best.state[None, :]]), progress=False,
            threads=options["threads"],
        )  # fmt: skip
        best = max(best, cold.best, key=lambda b: b.log_score)
    return {
        "best": best,
        "states": states,
        "log_scores": np.atleast_1d(np.asarray(model.log_score(states), np.float64)),
        "trace": run.log_scores,
        "settings": run.settings | {"quench": quench},
    }
