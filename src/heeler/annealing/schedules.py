"""Temperatures, one a pass: the usual ways down, and where to begin and end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.model import Model
from heeler.model.gaps import temperature_range
from heeler.run.settings import as_temperature

SCHEDULES = ("linear", "geometric", "logarithmic")


def linear(hot: float, cold: float, passes: int) -> NDArray[np.float64]:
    """Fall by the same amount every pass.

    Parameters
    ----------
    hot, cold : float
        The first and the last temperature.
    passes : int
        How many.

    Returns
    -------
    ndarray
        float64 (passes,).
    """
    return np.linspace(hot, cold, passes)


def geometric(hot: float, cold: float, passes: int) -> NDArray[np.float64]:
    """Fall by the same factor every pass.

    Parameters
    ----------
    hot, cold : float
        The first and the last temperature.
    passes : int
        How many.

    Returns
    -------
    ndarray
        float64 (passes,).
    """
    return np.geomspace(hot, cold, passes)


def logarithmic(hot: float, cold: float, passes: int) -> NDArray[np.float64]:
    """Fall like c / log(a + t), the schedule of the convergence theorems, from hot to cold.

    Parameters
    ----------
    hot, cold : float
        The first and the last temperature.
    passes : int
        How many.

    Returns
    -------
    ndarray
        float64 (passes,).
    """
    if passes == 1 or hot == cold:
        return np.full(passes, cold if passes == 1 else hot)
    # c / log(a) = hot and c / log(a + passes - 1) = cold: solve for log(a), which is at most
    # log(passes) / (hot / cold - 1) and positive.
    ratio = hot / cold
    low, high = 1e-12, math.log(passes) / (ratio - 1.0) + 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if math.log(math.exp(middle) + passes - 1) > ratio * middle:
            low = middle
        else:
            high = middle
    result = hot * high / np.log(math.exp(high) + np.arange(passes))
    result[-1] = cold
    return result


_BY_NAME: dict[str, Callable[[float, float, int], NDArray[np.float64]]] = {
    "linear": linear,
    "geometric": geometric,
    "logarithmic": logarithmic,
}


def as_schedule(
    schedule: Any, hot: float | None, cold: float | None, passes: int, model: Model, seed: int
) -> NDArray[np.float64]:
    """Read a schedule.

    Parameters
    ----------
    schedule
        A name, temperatures, or a function from the number of a pass to its temperature.
    hot, cold
        The ends of a schedule given by name; None looks at the model.
    passes
        How many temperatures; those of a given sequence are spread over them.
    model
        The model.
    seed
        Of the states that are looked at.

    Returns
    -------
    ndarray
        float64 (passes,).
    """
    if isinstance(schedule, str):
        if schedule not in _BY_NAME:
            raise ValueError(
                f"The 'schedule' parameter must be one of {', '.join(map(repr, SCHEDULES))}, a "
                f"sequence of temperatures or a function of the pass. Got {schedule!r} instead."
            )
        hot, cold = _ends(model, hot, cold, seed)
        return _BY_NAME[schedule](hot, cold, passes)
    if hot is not None or cold is not None:
        raise ValueError(
            "The 'hot' and 'cold' parameters are for schedules given by name; this one has its own."
        )
    try:
        given = as_temperature(schedule, passes)
    except ValueError:
        raise ValueError(
            "The 'schedule' parameter must give positive temperatures: one of "
            f"{', '.join(map(repr, SCHEDULES))}, a sequence of them, or a function of the pass. "
            f"Got {schedule!r:.80} instead."
        ) from None
    values = np.atleast_1d(np.asarray(given, np.float64))
    if len(values) == passes:
        return values
    # Fewer or more temperatures than passes: each is held for its share of them.
    return values[np.arange(passes) * len(values) // passes]


def _ends(model: Model, hot: float | None, cold: float | None, seed: int) -> tuple[float, float]:
    """Check the given ends, and choose the others."""
    for name, value in (("hot", hot), ("cold", cold)):
        if value is not None:
            try:
                fine = isinstance(as_temperature(value, None), float)
            except ValueError:
                fine = False
            if not fine:
                raise ValueError(
                    f"The '{name}' parameter must be a positive number. Got {value!r} instead."
                )
    if hot is None or cold is None:
        found_hot, found_cold = temperature_range(model, seed)
        hot = max(found_hot, cold or 0.0) if hot is None else hot
        cold = min(found_cold, hot) if cold is None else cold
    if hot < cold:
        raise ValueError(
            f"The 'hot' parameter must be at least the 'cold' one. Got {hot} and {cold} instead."
        )
    return float(hot), float(cold)


def checked_sequence(values: Sequence[float] | NDArray[Any], name: str) -> NDArray[np.float64]:
    """Check numbers from 0 to 1 that rise.

    Parameters
    ----------
    values
        Inverse temperatures.
    name
        The parameter's name.

    Returns
    -------
    ndarray
        float64.
    """
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 1 or array.size < 2 or array[0] != 0 or array[-1] != 1:
        raise ValueError(
            f"The '{name}' parameter must rise from 0 to 1. Got {values!r:.80} instead."
        )
    if not (np.diff(array) > 0).all():
        raise ValueError(
            f"The '{name}' parameter must rise from 0 to 1 at every step. Got {values!r:.80} "
            "instead."
        )
    return array
