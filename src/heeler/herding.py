"""Herding outside of Gibbs sampling: deterministic draws from a distribution or for moments."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Probabilities are integers that sum to 2^30, as in herded Gibbs with more than two values.
UNIT = 1 << 30
# Up to this many values a loop over Python integers beats numpy's cost per call.
FEW = 24
# Weights of moment herding are formed afresh from the integer counts after so many draws, so that
# rounding does not build up.
REFRESH = 1024
# Up to this many entries, inner products of all pairs of states are computed once.
GRAM_LIMIT = 1 << 22


class Herd(NamedTuple):
    """What herding for moments gives."""

    states: NDArray[np.int64]
    """(n,): the row of the features chosen at each step."""
    moments: NDArray[np.float64]
    """(d,): the average of the chosen rows."""


def herd(
    p_or_features: ArrayLike,
    moments: ArrayLike | None = None,
    n: int = 1000,
    *,
    rule: str = "argmax",
) -> Any:
    """Draw n states deterministically so that their averages approach given ones like 1 / n.

    With a vector p: herding of that distribution. In fixed point, w <- w + p and the value of the
    largest weight is chosen and pays 1; weights start at 0, the lowest value wins a tie, and a
    value with p = 0 is never chosen. With a matrix of features and ``moments``: x = argmax
    <w, phi(x)> and w <- w + moments - phi(x) (the paper's equation 1, which greedily minimises its
    equation 2 when all phi(x) have one length), starting from w = moments.

    Parameters
    ----------
    p_or_features
        A distribution, shape (K,), summing to 1; or features phi(x) of every state, shape
        (states, d).
    moments
        The averages of the features to match, shape (d,); needed for features only.
    n
        The number of draws.
    rule
        For a distribution: ``"argmax"``, or ``"tijdeman"``, the chairman assignment, which keeps
        every count within 1 - 1 / (2 K - 2) of t p after every t draws, K counting possible
        values. For features: ``"argmax"``.

    Returns
    -------
    ndarray or Herd
        For a distribution the draws, int64 (n,). For features ``Herd(states, moments)``.

    Notes
    -----
    p is rounded to multiples of 2^-30 (`quantised`), so errors below 1e-9 say nothing. By either
    rule no value is drawn more than 1 - 1/K times too often.

    References
    ----------
    Bornn, Chen, de Freitas, Eskelin, Fang, Welling: Herded Gibbs sampling, 2013, equations 1, 2.
    Tijdeman: The chairman assignment problem, Discrete Mathematics 32, 1980.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise TypeError(f"The 'n' parameter must be an integer. Got {n!r} instead.")
    if n < 0:
        raise ValueError(f"The 'n' parameter must not be negative. Got {n} instead.")
    if rule not in ("argmax", "tijdeman"):
        raise ValueError(f"The 'rule' parameter must be 'argmax' or 'tijdeman'. Got {rule!r}.")
    array = as_numbers(p_or_features, "p_or_features")
    if moments is not None:
        if rule != "argmax":
            raise ValueError(
                "The 'rule' parameter must be 'argmax' where moments are given: the chairman "
                f"assignment is for distributions. Got {rule!r} instead."
            )
        return herd_moments(array, as_numbers(moments, "moments"), int(n))
    if array.ndim != 1:
        raise ValueError(
            "The 'p_or_features' parameter must be a vector of probabilities where no moments "
            f"are given. Got an array of shape {array.shape} instead."
        )
    weights = quantised(array)
    possible = np.flatnonzero(weights)
    if rule == "tijdeman":
        chosen = chairman(weights[possible].tolist(), int(n))
    elif possible.size <= FEW:
        chosen = largest_of_few(weights[possible].tolist(), int(n))
    else:
        chosen = largest_of_many(weights[possible], int(n))
    return possible[chosen]


def as_numbers(value: Any, name: str) -> NDArray[np.float64]:
    """Convert to float64 and refuse what is not finite."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"The {name!r} parameter must be an array of numbers. Got {value!r:.80} instead."
        ) from None
    if not np.isfinite(array).all():
        raise ValueError(f"The {name!r} parameter must be finite. Got NaN or infinity in it.")
    return array


def quantised(probabilities: ArrayLike) -> NDArray[np.int64]:
    """Turn probabilities into integers that sum to exactly 2^30.

    A possible value gets at least 1, an impossible one 0; the largest takes the remainder.

    Parameters
    ----------
    probabilities
        Shape (K,), not negative, sum within 1e-6 of 1.
    """
    p = as_numbers(probabilities, "p_or_features")
    if p.size == 0 or (p < 0).any() or abs(p.sum() - 1.0) > 1e-6:
        raise ValueError(
            "The 'p_or_features' parameter must hold probabilities that sum to 1. "
            f"Got {p.size} numbers with sum {p.sum():.9g} and minimum {p.min(initial=0.0):.9g}."
        )
    whole = np.rint(p / p.sum() * UNIT).astype(np.int64)
    whole[(p > 0) & (whole == 0)] = 1
    largest = int(p.argmax())
    whole[largest] += UNIT - int(whole.sum())
    if whole[largest] <= 0:
        raise ValueError(
            f"The 'p_or_features' parameter has more possible values than 2^-30 can tell apart: "
            f"{np.count_nonzero(p)}."
        )
    return whole


def largest_of_few(weights: list[int], n: int) -> NDArray[np.int64]:
    """Choose the largest weight after adding, with Python integers."""
    state = [0] * len(weights)
    chosen = np.empty(n, dtype=np.int64)
    for t in range(n):
        state = [w + p for w, p in zip(state, weights, strict=True)]
        x = state.index(max(state))
        state[x] -= UNIT
        chosen[t] = x
    return chosen


def largest_of_many(weights: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Choose the largest weight after adding, with arrays; the same draws as with few."""
    state = np.zeros_like(weights)
    chosen = np.empty(n, dtype=np.int64)
    for t in range(n):
        state += weights
        x = int(state.argmax())
        state[x] -= UNIT
        chosen[t] = x
    return chosen


def chairman(weights: list[int], n: int) -> NDArray[np.int64]:
    """Choose by Tijdeman's rule: of the values that may be served, the earliest deadline.

    After adding p, with deficit d_v = t p_v - N_v, value v may be served once
    d_v >= 1 / (2 K - 2), and its deadline, in draws from now, is (1 - 1 / (2 K - 2) - d_v) / p_v.
    Everything is multiplied out to integers, so ties and bounds are exact.
    """
    count = len(weights)
    chosen = np.zeros(n, dtype=np.int64)
    if count == 1:
        return chosen
    scale = 2 * count - 2
    # Deficits and the two thresholds in units of 1 / (scale * 2^30).
    slack = (scale - 1) * UNIT
    steps = [scale * p for p in weights]
    deficit = [0] * count
    for t in range(n):
        best, best_gap, best_p = -1, 0, 1
        for v in range(count):
            d = deficit[v] = deficit[v] + steps[v]
            if d >= UNIT:
                gap = slack - d
                if best < 0 or gap * best_p < best_gap * weights[v]:
                    best, best_gap, best_p = v, gap, weights[v]
        deficit[best] -= scale * UNIT
        chosen[t] = best
    return chosen


def herd_moments(features: NDArray[np.float64], moments: NDArray[np.float64], n: int) -> Herd:
    """Run the paper's equation 1 over an explicit list of states."""
    if features.ndim != 2 or not features.size:
        raise ValueError(
            "The 'p_or_features' parameter must have shape (states, d) where moments are given. "
            f"Got {features.shape} instead."
        )
    if moments.shape != features.shape[1:]:
        raise ValueError(
            f"The 'moments' parameter must have shape {features.shape[1:]}. "
            f"Got {moments.shape} instead."
        )
    count = len(features)
    gram = features @ features.T if count * count <= GRAM_LIMIT else None
    gain = features @ moments
    counts = np.zeros(count, dtype=np.int64)
    chosen = np.empty(n, dtype=np.int64)
    score = np.zeros(count)
    for t in range(n):
        if t % REFRESH == 0:
            score = features @ (t * moments - counts @ features)
        score += gain
        x = int(score.argmax())
        score -= features @ features[x] if gram is None else gram[x]
        counts[x] += 1
        chosen[t] = x
    achieved = counts @ features / n if n else np.full(moments.shape, np.nan)
    return Herd(chosen, achieved)
