"""First states of chains: inside the support, also where tables have zeros."""

from collections.abc import Callable
from operator import index as as_integer
from random import Random
from threading import local

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model
from heeler.model.bayes_net import BayesNet
from heeler.model.check import shown
from heeler.model.search import OutOfEffortError, Search

# Revisions of a factor, a few microseconds each: the search gives up after some seconds.
EFFORT = 1_000_000
# Ancestral states that contradict the evidence are drawn again so often before a search.
_ANCESTRAL_TRIES = 8
# One source of random numbers a thread, moved to where it is needed.
_OWN = local()


class NoStateFound(ValueError):  # noqa: N818 (the name is public and says what happened)
    """No state of positive probability was found.

    Either the message says that there is none: evidence and zeros of the tables contradict each
    other, so check the evidence. Or the search was given up: give a first state yourself, or
    soften some zeros.
    """


def first_state(model: Model, seed: int, lanes: int = 1) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Draw first states inside the support.

    Lane k depends on the seed and on k only. Without zeros the values are uniform and
    independent; a Bayesian network is sampled from parents to children; where that fails and in
    other models with zeros, a search with bounded effort begins.

    Parameters
    ----------
    model
        The model; its evidence is respected.
    seed
        0 to 2^64 - 1.
    lanes
        How many states.

    Returns
    -------
    ndarray
        Shape (lanes, n); uint8, or uint16 where a variable has more than 256 values.

    Raises
    ------
    NoStateFound
        When there is no state in the support, or none was found.
    """
    seed, lanes = _natural(seed, "seed", 2**64), _natural(lanes, "lanes", 2**32)
    if isinstance(model, BayesNet):
        return _ancestral(model, seed, lanes)
    states = _uniform(model, seed, lanes)
    return _searched(model, seed, states, np.arange(lanes)) if model.has_zeros else states


def _natural(value: int, name: str, end: int) -> int:
    """Check a non-negative integer."""
    try:
        number = as_integer(value)
    except TypeError:
        raise TypeError(
            f"The {name!r} parameter must be an integer. Got {shown(value)} instead."
        ) from None
    if not 0 <= number < end:
        raise ValueError(
            f"The {name!r} parameter must be from 0 to {end - 1}. Got {number} instead."
        )
    return number


def lane_generators(seed: int) -> Callable[[int, int], np.random.Generator]:
    """Make the function (lane, stream) -> generator of random numbers.

    One bit generator is moved from place to place, as making one costs more than a small model:
    only the generator given last may be used.

    Parameters
    ----------
    seed
        0 to 2^64 - 1: with the lane, the key of Philox4x64.
    """
    if not hasattr(_OWN, "source"):
        _OWN.source = np.random.Philox(key=0)
        _OWN.state = _OWN.source.state
    source, state = _OWN.source, _OWN.state
    generator = np.random.Generator(source)

    def at(lane: int, stream: int = 0) -> np.random.Generator:
        state["state"]["key"][:] = seed, lane
        # The highest word of the counter: streams do not meet.
        state["state"]["counter"][:] = 0, 0, 0, stream
        state["buffer_pos"] = 4
        state["has_uint32"] = 0
        source.state = state
        return generator

    return at


def _state_type(model: Model) -> type[np.uint8] | type[np.uint16]:
    """Choose the narrowest type for the model's values."""
    return np.uint8 if int(model.cardinalities.max()) <= 256 else np.uint16


def _uniform(model: Model, seed: int, lanes: int) -> NDArray:
    """Draw values uniformly and put the evidence in."""
    counts = model.cardinalities
    low, high = int(counts.min()), int(counts.max())
    states = np.empty((lanes, model.n_variables), _state_type(model))
    generator = lane_generators(seed)
    for lane in range(lanes):
        random = generator(lane, 0)
        if low == high:
            states[lane] = random.integers(0, high, model.n_variables, dtype=states.dtype)
        else:
            states[lane] = random.random(model.n_variables) * counts
    if model.evidence is not None:
        clamped = np.flatnonzero(model.evidence >= 0)
        states[:, clamped] = model.evidence[clamped]
    return states


def _ancestral(model: BayesNet, seed: int, lanes: int) -> NDArray:
    """Draw parents before children; lanes that contradict the evidence again, then by search."""
    states = np.zeros((lanes, model.n_variables), _state_type(model))
    generator = lane_generators(seed)
    left = np.arange(lanes)
    for attempt in range(_ANCESTRAL_TRIES):
        uniforms = np.array(
            [generator(lane, attempt).random(model.n_variables) for lane in left.tolist()]
        )
        states[left] = _forward(model, uniforms.reshape(-1, model.n_variables), states.dtype)
        left = left[np.isneginf(model.log_score(states[left]))] if len(left) else left
        if not len(left):
            return states
    return _searched(model, seed, states, left)


def _forward(model: BayesNet, uniforms: NDArray[np.float64], dtype: np.dtype) -> NDArray:
    """Sample every lane from parents to children by inverting the conditional distributions."""
    states = np.zeros(uniforms.shape, dtype)
    for child, parents, table in model.cpts:
        if model.evidence is not None and model.evidence[child] >= 0:
            states[:, child] = model.evidence[child]
            continue
        rows = table[tuple(states[:, parent] for parent in parents)] if parents else table[None]
        ladder = rows.cumsum(axis=1)
        aim = uniforms[:, child, None] * ladder[:, -1:]
        # Rounding may lift the aim to the last rung: stay on the last possible value.
        last = table.shape[-1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)
        states[:, child] = np.minimum((ladder <= aim).sum(axis=1), last)
    return states


def _searched(model: Model, seed: int, states: NDArray, lanes: NDArray) -> NDArray:
    """Replace, in some lanes, the values of the variables that zeros concern."""
    search = Search(model.to_factor_graph())
    generator = lane_generators(seed)
    effort, found = EFFORT, None
    for lane in lanes.tolist():
        random = Random(int(generator(lane, _ANCESTRAL_TRIES).integers(2**63)))  # noqa: S311
        try:
            values = search.solve(random, effort)
        except OutOfEffortError:
            if found is None:
                raise NoStateFound(
                    f"No state of positive probability was found for {model!r} within the effort "
                    "allowed. There may be one: give it as the first state."
                ) from None
            values = found  # a later lane may start where another does
        if values is None:
            raise NoStateFound(
                f"{model!r} has no state of positive probability: "
                "the zeros of its tables and the evidence exclude every one."
            )
        if found is None:
            # Lanes after the first may take a few times as long as it did, and not the whole.
            effort = min(EFFORT, 4 * (effort - search.effort) + 1000)
        found = values
        states[lane, list(values)] = list(values.values())
    return states
