"""Short-period generators whose whole period is evenly distributed in every dimension that counts.

Polynomials and steps are S. Harase's (A table of short-period Tausworthe generators for Markov
chain quasi-Monte Carlo, J. Comput. Appl. Math. 384, 2021). Other steps with the same polynomial can
be a disaster, so there is no choice.
"""

from functools import lru_cache
from math import gcd

import numpy as np
from numpy.typing import NDArray

# m -> (taps of the recurrence b[k + m] = XOR of b[k + tap], steps between outputs)
GENERATORS: dict[int, tuple[tuple[int, ...], int]] = {
    8: ((0, 2, 3, 4), 97),
    9: ((0, 3, 5, 6, 7, 8), 145),
    10: ((0, 6, 7, 9), 70),
    11: ((0, 1, 4, 7, 8, 10), 179),
    12: ((0, 1, 2, 3, 4, 7, 10, 11), 146),
    13: ((0, 1, 2, 4, 8, 10, 11, 12), 139),
    14: ((0, 2, 4, 5, 7, 8, 9, 10, 12, 13), 5192),
    15: ((0, 1, 3, 4, 7, 8, 9, 11, 13, 14), 1028),
    16: ((0, 1, 3, 5, 6, 7, 8, 9, 12, 15), 12749),
    17: ((0, 2, 3, 4, 9, 11, 12, 16), 20984),
    18: ((0, 1, 3, 5, 6, 8, 10, 14, 15, 17), 72349),
    19: ((0, 2, 3, 5, 6, 7, 8, 12, 13, 16), 92609),
    20: ((0, 1, 2, 4, 6, 8, 9, 10, 13, 14, 15, 18), 226826),
    21: ((0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 16, 17, 18), 1127911),
    22: ((0, 1, 4, 8, 9, 12, 14, 18, 19, 21), 629680),
    23: ((0, 1, 2, 5, 6, 9, 11, 13, 14, 17, 18, 19), 1796311),
    24: ((0, 1, 2, 3, 7, 8, 10, 12, 13, 17, 19, 20, 21, 22), 7017398),
}


@lru_cache(maxsize=2)
def period_of(m: int) -> NDArray[np.uint32]:
    """Compute the whole period of the generator of degree m, 32 bits a word.

    Parameters
    ----------
    m
        The degree, one of `GENERATORS`.

    Returns
    -------
    ndarray
        uint32 (2^m - 1,), read-only.
    """
    from heeler.compiled.tausworthe import fill_period

    taps, sigma = GENERATORS[m]
    period = (1 << m) - 1
    bits = np.zeros(period + 31, np.uint8)
    bits[0] = 1
    out = np.empty(period, np.uint32)
    fill_period(np.array([*taps, m]), sigma, bits, np.empty(period, np.uint32), out)
    out.setflags(write=False)
    return out


def degree_for(passes: int) -> tuple[int, bool]:
    """Find the generator whose period is a number of passes.

    Parameters
    ----------
    passes
        2^m - 1, or 2^m for the period with the zero point.

    Returns
    -------
    m : int
        The degree.
    with_zero : bool
        Whether the zero point comes first.
    """
    for m in GENERATORS:
        if passes in ((1 << m) - 1, 1 << m):
            return m, passes == 1 << m
    below = max((1 << m for m in GENERATORS if 1 << m <= max(passes, 256)), default=256)
    above = min((1 << m for m in GENERATORS if 1 << m >= passes), default=1 << max(GENERATORS))
    advice = f"sweeps={below}" if below == above else f"sweeps={below} or sweeps={above}"
    raise ValueError(
        "The quasi driver must run a generator's whole period, or its error is far worse than "
        "random: 'sweeps' must be 2**m or 2**m - 1 with m from "
        f"{min(GENERATORS)} to {max(GENERATORS)}. Got {passes}. Use {advice}."
    )


def stride_for(steps: int, period: int) -> int:
    """Choose how many words a pass takes: the smallest number >= steps coprime to the period."""
    stride = steps
    while gcd(stride, period) != 1:
        stride += 1
    return stride
