"""Uniform and normal numbers in double precision, as a function of where they are used.

Number k of a (seed, lane; pass) comes from Philox counter k // 2, so any count of numbers may be
taken and none depends on how many were taken elsewhere.
"""

from typing import NamedTuple

import numpy as np

from heeler.compiled.jit import helper, part
from heeler.compiled.words import philox

GROUP = 8  # counters made at once: one vector of 512 bits holds their words


class Stream(NamedTuple):
    """The numbers of one pass of one lane."""

    numbers: np.ndarray  # float64 (16): the present group
    state: np.ndarray  # int64 (1): how many were taken


def stream() -> Stream:
    """Return an empty stream: `restart` it before use."""
    return Stream(np.zeros(2 * GROUP), np.zeros(1, np.int64))


@part
def _fill(numbers, group, key, pass_number, lane):
    k0 = np.uint32(key)
    k1 = np.uint32(key >> np.uint64(32))
    c1 = np.uint32(pass_number)
    c2 = np.uint32((pass_number >> 32) << 3)
    for q in range(GROUP):
        w0, w1, w2, w3 = philox(np.uint32(group * GROUP + q), c1, c2, np.uint32(lane), k0, k1)
        # 52 bits and a half: never 0, never 1, nothing rounded.
        first = np.int64(w0 >> np.uint32(6)) << 26 | np.int64(w1 >> np.uint32(6))
        second = np.int64(w2 >> np.uint32(6)) << 26 | np.int64(w3 >> np.uint32(6))
        numbers[q] = (np.float64(first) + 0.5) * 2.0**-52
        numbers[GROUP + q] = (np.float64(second) + 0.5) * 2.0**-52


@helper
def restart(stream):
    """Begin the numbers of another pass or lane."""
    stream.state[0] = 0


@helper
def uniform(stream, key, pass_number, lane):
    """Return the next number, uniform in (0, 1)."""
    k = stream.state[0]
    stream.state[0] = k + 1
    at = k & (2 * GROUP - 1)
    if at == 0:
        _fill(stream.numbers, k // (2 * GROUP), key, pass_number, lane)
    return stream.numbers[at]


@part
def _tail(p):
    r = np.sqrt(-np.log(p))
    if r <= 5.0:
        r -= 1.6
        top = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
        top = (top * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258
        top = (top * r + 3.64784832476320460504) * r + 5.76949722146069140550
        top = (top * r + 4.63033784615654529590) * r + 1.42343711074968357734
        low = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
        low = (low * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1
        low = (low * r + 6.89767334985100004550e-1) * r + 1.67638483018380384940
        low = (low * r + 2.05319162663775882187) * r + 1.0
        return top / low
    r -= 5.0
    top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
    top = (top * r + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2
    top = (top * r + 2.96560571828504891230e-1) * r + 1.78482653991729133580
    top = (top * r + 5.46378491116411436990) * r + 6.65790464350110377720
    low = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
    low = (low * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4
    low = (low * r + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1
    low = (low * r + 5.99832206555887937690e-1) * r + 1.0
    return top / low


@helper
def normal_quantile(p):
    """Return the standard normal quantile, to about 1e-16 (Wichura's AS 241, PPND16)."""
    q = p - 0.5
    r = 0.180625 - q * q
    top = 2.5090809287301226727e3 * r + 3.3430575583588128105e4
    top = (top * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4
    top = (top * r + 1.3731693765509461125e4) * r + 1.9715909503065514427e3
    top = (top * r + 1.3314166789178437745e2) * r + 3.3871328727963666080
    low = 5.2264952788528545610e3 * r + 2.8729085735721942674e4
    low = (low * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4
    low = (low * r + 5.3941960214247511077e3) * r + 6.8718700749205790830e2
    low = (low * r + 4.2313330701600911252e1) * r + 1.0
    value = q * top / low
    if r < 0.0:
        value = -_tail(p) if q < 0.0 else _tail(1.0 - p)
    return value


@helper
def normal(stream, key, pass_number, lane):
    """Return the next number, standard normal."""
    return normal_quantile(uniform(stream, key, pass_number, lane))
