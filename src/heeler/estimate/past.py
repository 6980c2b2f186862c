"""`heeler.exact_draws`: coupling from the past (Propp and Wilson, 1996)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.estimate.chains import Chains, coupled_settings
from heeler.estimate.monotone import NotMonotone, attractive_signs
from heeler.model.base import Model
from heeler.run.sample import whole

# The pass before time zero has this number less one: pass numbers count upwards to it.
ZERO = 1 << 40
# Values of a block of draws, all lanes together; and most draws of a block.
BLOCK_VALUES = 1 << 15
LEAST_LANES, MOST_LANES = 8, 4096


class NotCoalesced(RuntimeError):  # noqa: N818 (the public name says what happened)
    """The highest and the lowest chain did not meet within the sweeps allowed.

    Near and below a critical temperature the time to meet grows without bound. Nothing is
    returned, because keeping only the draws that met would bias them. Raise ``most_sweeps=``, or
    sample with `heeler.sample`.
    """


@dataclass(frozen=True)
class ExactDraws:
    """Independent draws from a model's distribution; made by `heeler.exact_draws`.

    Attributes
    ----------
    states : ndarray
        (draws, n), indices of values.
    sweeps : ndarray
        int64 (draws,): from how many sweeps in the past the draw's chains met.
    flipped : ndarray
        The variables that were flipped to make the model attractive.
    model : Model
        The model.
    """

    states: NDArray[Any]
    sweeps: NDArray[np.int64]
    flipped: NDArray[np.int64]
    model: Model

    def __len__(self) -> int:
        """Count the draws."""
        return len(self.states)

    def __repr__(self) -> str:
        """Show how many draws, and how far back they began."""
        back = f"{int(self.sweeps.min())} to {int(self.sweeps.max())}" if len(self) else "0"
        flips = f", {len(self.flipped)} variables flipped" if len(self.flipped) else ""
        return (
            f"ExactDraws({len(self)} independent states of {self.model!r}, from {back} sweeps in "
            f"the past{flips})"
        )


def exact_draws(
    model: Model,
    n: int = 1,
    *,
    seed: int = 0,
    scan: Any = "auto",
    temperature: float = 1.0,
    most_sweeps: int = 1 << 20,
    threads: int | None = None,
) -> ExactDraws:
    """Draw independent states exactly from an attractive binary model.

    Two chains, one from the highest and one from the lowest state, run from ever farther in the
    past to time zero with the same random words; where they meet, every chain would have ended, so
    that state has exactly the model's distribution (up to the rounding of the conditionals to
    2^-32, as everywhere). That the model is attractive, after flipping variables where its
    couplings allow it, is checked.

    Parameters
    ----------
    model
        A model whose free variables have two values and attract each other, after flips:
        ferromagnetic Ising models and lattices, bipartite ones of either sign, machines and factor
        graphs without frustrated cycles. Evidence is kept.
    n
        The number of draws.
    seed
        Whole number from 0 to 2^64 - 1. The first draws of a longer call are those of a shorter
        one.
    scan
        As in `heeler.sample`; the distribution is the same with every scan.
    temperature
        The distribution is p^(1/temperature).
    most_sweeps
        How far back to go at most.
    threads
        Threads to use; None stands for as many as there are processors.

    Returns
    -------
    ExactDraws
        The states, and how far back each began.

    Raises
    ------
    NotMonotone
        Where the model is not attractive, or that could not be told.
    NotCoalesced
        Where chains did not meet within ``most_sweeps``.

    References
    ----------
    Propp, Wilson: Exact sampling with coupled Markov chains and applications to statistical
    mechanics, Random Structures and Algorithms 9, 1996.
    """
    if not isinstance(model, Model):
        raise TypeError(f"The 'model' parameter must be a heeler model. Got {model!r} instead.")
    count = whole("n", n, 0)
    key = whole("seed", seed, 0)
    limit = whole("most_sweeps", most_sweeps, 1)
    workers = whole("threads", (os.cpu_count() or 1) if threads is None else threads, 1)
    signs = attractive_signs(model)
    high = np.where(signs > 0, 1, 0).astype(np.uint8)
    if not len(model.free):
        raise ValueError("All variables of the model are clamped: there is nothing to draw.")
    bounds = np.stack([1 - high, high])
    if model.evidence is not None:
        bounds = np.where(model.evidence >= 0, model.evidence, bounds).astype(np.uint8)
    if model.has_zeros and np.isneginf(model.log_score(bounds)).any():
        raise NotMonotone(
            "The highest or the lowest state of the model is impossible: chains cannot start there."
        )
    lanes = int(np.clip(BLOCK_VALUES // model.n_variables, LEAST_LANES, MOST_LANES))
    seeds = np.random.SeedSequence(key).generate_state(-(-count // lanes), np.uint64)
    states = np.empty((count, model.n_variables), np.uint8)
    sweeps = np.empty(count, np.int64)
    back = 1
    for block, word in enumerate(seeds.tolist()):
        first = block * lanes
        settings = coupled_settings(model, scan, temperature, lanes, word)
        drawn, met = _draw_block(model, settings, bounds, signs, back, limit, workers)
        # A later block may begin where half of this one's chains had met: any start will do.
        back = max(1, int(np.median(met)))
        last = min(count, first + lanes)
        states[first:last] = drawn[: last - first]
        sweeps[first:last] = met[: last - first]
    return ExactDraws(states, sweeps, np.flatnonzero(signs < 0), model)


def _draw_block(
    model: Model,
    settings: Any,
    bounds: NDArray[np.uint8],
    signs: NDArray[np.int8],
    back: int,
    limit: int,
    threads: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Double the start until the two chains of every lane have met at time zero."""
    lanes = settings.lanes
    back = min(back, limit)
    drawn = np.empty((lanes, model.n_variables), np.uint8)
    met = np.zeros(lanes, np.int64)
    while True:
        ends = []
        for start in bounds:
            chains = Chains(model, settings, np.repeat(start[None], lanes, axis=0), ZERO - back)
            chains.advance(back, threads)
            ends.append(np.array(chains.states()))
        low, high = ends
        if ((low != high) & ((low < high) != (signs > 0))).any():
            raise RuntimeError(
                "Chains of an attractive model left their order, which rounding alone can do: "
                "take another seed, and please report this model."
            )
        new = (met == 0) & (low == high).all(axis=1)
        drawn[new], met[new] = low[new], back
        if met.all():
            return drawn, met
        if back >= limit:
            raise NotCoalesced(
                f"{int((met == 0).sum())} of {lanes} pairs of chains had not met after {back} "
                "sweeps: raise most_sweeps, or sample at a higher temperature."
            )
        back = min(2 * back, limit)
