"""How much one update can change a model's log weight: what temperatures are chosen by."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model.base import Model

_PROBES = 8  # states in which changes are looked at
_PROBED = 32  # variables of each: a conditional takes some 50 us, the whole look some 10 ms
# At the first temperature the median change is as likely as exp(-log 2); at the last one the
# smallest is as likely as 1 / 200. On Max-Cut instances hotter starts and warmer ends gave smaller
# cuts in the same number of passes.
_HOT_SHARE = 2.0
_COLD_SHARE = 200.0


def temperature_range(model: Model, seed: int = 0) -> tuple[float, float]:
    """Choose a first temperature at which most moves happen, and a last one at which few do.

    Looks at the differences of log weights between values of a variable, in random states.

    Parameters
    ----------
    model
        The model.
    seed
        Of the states.

    Returns
    -------
    hot, cold : float
        Temperatures.
    """
    gaps = weight_gaps(model, seed)
    if not gaps.size:
        return 1.0, 1.0
    hot = float(np.median(gaps)) / math.log(_HOT_SHARE)
    # A continuum of weights has tiny gaps that need not be frozen: a low quantile is small enough.
    small = float(np.quantile(gaps, 0.01))
    return hot, min(small / math.log(_COLD_SHARE), hot)


def weight_gaps(model: Model, seed: int = 0) -> NDArray[np.float64]:
    """Collect differences of log weights that one update can make.

    Parameters
    ----------
    model
        The model.
    seed
        Of the states that are looked at.

    Returns
    -------
    ndarray
        float64, positive; those of zeros are left out.
    """
    random = np.random.Generator(np.random.Philox(seed))
    found: list[float] = []
    for state in possible_states(model, seed, _PROBES):
        some = model.free
        if len(some) > _PROBED:
            some = random.choice(some, _PROBED, replace=False)
        for i in some.tolist():
            with np.errstate(divide="ignore"):
                log_p = np.log(model.conditional(i, state))
            log_p = log_p[np.isfinite(log_p)]
            if log_p.size > 1:
                found += np.abs(log_p - log_p.max()).tolist()
    gaps = np.array(found)
    return gaps[gaps > 1e-9]


def possible_states(model: Model, seed: int, count: int) -> NDArray[Any]:
    """Give possible states, uniform where the model allows everything.

    Parameters
    ----------
    model
        The model.
    seed
        Of the states.
    count
        How many.

    Returns
    -------
    ndarray
        (count, n).
    """
    if not model.has_zeros:
        return uniform_states(model, seed, count)
    from heeler.model.start import first_state

    return first_state(model, seed, count)


def uniform_states(model: Model, seed: int, count: int) -> NDArray[Any]:
    """Draw uniform values of all free variables.

    Parameters
    ----------
    model
        The model.
    seed
        Of the generator.
    count
        How many states.

    Returns
    -------
    ndarray
        (count, n), uint8 or uint16.
    """
    cards = np.asarray(model.cardinalities, np.int64)
    random = np.random.Generator(np.random.Philox(seed))
    states = (random.random((count, len(cards))) * cards).astype(np.int64)
    if model.evidence is not None:
        states = np.where(model.evidence >= 0, model.evidence, states)
    return states.astype(np.uint8 if cards.max() <= 256 else np.uint16)
