"""Checks of what users hand in: each error names the parameter, what was expected and what came."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# States are kept as uint8 or uint16, so no variable may have more values than this.
MAX_CARDINALITY = 65_536
# Indices of variables are int32 throughout.
MAX_VARIABLES = 2**31 - 1


def shown(value: object) -> str:
    """Show a value in an error message, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def frozen(array: NDArray) -> NDArray:
    """Set an array read-only and return it."""
    array.flags.writeable = False
    return array


def as_numbers(value: Any, name: str) -> NDArray[np.float64]:
    """Convert to a float64 array; the result may share memory with the input."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The {name!r} parameter must be a regular array of numbers. "
            f"Got {shown(value)} instead."
        ) from error
    if array.dtype == np.float64:
        return array
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"The {name!r} parameter must hold real numbers. "
            f"Got {shown(value)} (dtype {array.dtype}) instead."
        )
    return array.astype(np.float64)


def as_finite(value: Any, name: str) -> NDArray[np.float64]:
    """Convert to a float64 array in which NaN and infinities are refused."""
    array = as_numbers(value, name)
    if not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"The {name!r} parameter must be finite. Got {array[place]} at {place} instead."
        )
    return array


def as_log_weights(value: Any, name: str) -> NDArray[np.float64]:
    """Convert to a float64 array of log weights: -inf is a zero, NaN and +inf are refused."""
    array = as_numbers(value, name)
    bad = ~(array < np.inf)
    if bad.any():
        place = tuple(int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"The {name!r} parameter must hold log weights: finite, or -inf for a zero. "
            f"Got {array[place]} at {place} instead."
        )
    return array


def as_indices(value: Any, name: str) -> NDArray[np.int64]:
    """Convert to a one-dimensional int64 array of non-negative indices."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise ValueError(
            f"The {name!r} parameter must be a one-dimensional array of indices. "
            f"Got an array of shape {array.shape} instead."
        )
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(
            f"The {name!r} parameter must hold integers. "
            f"Got {shown(value)} (dtype {array.dtype}) instead."
        )
    if array.size and (array.min() < 0 or array.max() > MAX_VARIABLES):
        raise ValueError(
            f"The {name!r} parameter must hold indices from 0 to {MAX_VARIABLES}. "
            f"Got values from {array.min()} to {array.max()} instead."
        )
    return array.astype(np.int64)


def as_cardinalities(value: Iterable[int] | NDArray) -> NDArray[np.int32]:
    """Convert to a read-only int32 array of numbers of values, one per variable."""
    array = np.asarray(value if isinstance(value, np.ndarray) else list(value))
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            "The 'cardinalities' parameter must list the number of values of one variable or "
            f"more. Got an array of shape {array.shape} instead."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            "The 'cardinalities' parameter must hold integers. "
            f"Got {shown(value)} (dtype {array.dtype}) instead."
        )
    if array.min() < 1 or array.max() > MAX_CARDINALITY:
        wrong = int(np.flatnonzero((array < 1) | (array > MAX_CARDINALITY))[0])
        raise ValueError(
            f"The 'cardinalities' parameter must hold numbers from 1 to {MAX_CARDINALITY}. "
            f"Got {array[wrong]} for variable {wrong} instead."
        )
    return frozen(array.astype(np.int32))


def same_cardinalities(n_variables: int, cardinality: int) -> NDArray[np.int32]:
    """Give cardinalities that are all alike as a read-only array that stores one number."""
    if n_variables < 1:
        raise ValueError("A model must have one variable or more. Got no variable.")
    if n_variables > MAX_VARIABLES:
        raise ValueError(
            f"A model may have {MAX_VARIABLES} variables at most. Got {n_variables} instead."
        )
    if not 1 <= cardinality <= MAX_CARDINALITY:
        raise ValueError(
            f"The number of values must be from 1 to {MAX_CARDINALITY}. Got {cardinality} instead."
        )
    return repeated(cardinality, (n_variables,), np.int32)


def repeated(value: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray:
    """Give a read-only array that shows one value (or row) many times and stores it once."""
    return frozen(np.broadcast_to(np.array(value, dtype), shape))


def as_field(value: Any, n_variables: int, name: str) -> NDArray[np.float64]:
    """Convert a finite field, one number or one per variable, to a new array of shape (n,)."""
    array = as_finite(value, name)
    if array.ndim != 0 and array.shape != (n_variables,):
        raise ValueError(
            f"The {name!r} parameter must be one number or {n_variables} of them. "
            f"Got an array of shape {array.shape} instead."
        )
    result = np.empty(n_variables)
    result[:] = array
    return frozen(result)
