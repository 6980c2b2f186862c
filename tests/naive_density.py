"""The moves on a log density again, slow and obvious: Python floats, one state at a time.

Nothing is shared with the package but the words of `naive.philox_words`.
"""

import math

from naive import philox_words

MOST_STEPS = 64

# Wichura's AS 241, highest powers first.
_CENTRE = (
    [
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
        4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
        1.3314166789178437745e2, 3.3871328727963666080,
    ],
    [
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
        2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
        4.2313330701600911252e1, 1.0,
    ],
)  # fmt: skip
_MIDDLE = (
    [
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
        1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
        4.63033784615654529590, 1.42343711074968357734,
    ],
    [
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
        2.05319162663775882187, 1.0,
    ],
)  # fmt: skip


def horner(coefficients, r):
    """Evaluate a polynomial."""
    value = coefficients[0]
    for c in coefficients[1:]:
        value = value * r + c
    return value


def quantile(p):
    """Return the standard normal quantile (beyond 5 standard deviations is left out)."""
    q = p - 0.5
    r = 0.180625 - q * q
    if r >= 0.0:
        return q * horner(_CENTRE[0], r) / horner(_CENTRE[1], r)
    r = math.sqrt(-math.log(p if q < 0 else 1.0 - p)) - 1.6
    assert r <= 3.4
    value = horner(_MIDDLE[0], r) / horner(_MIDDLE[1], r)
    return -value if q < 0 else value


class Numbers:
    """Numbers in (0, 1) of one pass of one lane: 52 bits and a half each."""

    def __init__(self, seed, pass_number, lane):
        self.words = philox_words(seed, pass_number, 0, lane, 256)
        self.seed, self.pass_number, self.lane, self.taken = seed, pass_number, lane, 0

    def uniform(self):
        """Take the next number."""
        group, at = divmod(self.taken, 16)
        self.taken += 1
        counter = 8 * group + at % 8
        start = 256 * (counter // 64) + counter % 64
        if start + 192 >= len(self.words):
            more = 2 * len(self.words)
            self.words = philox_words(self.seed, self.pass_number, 0, self.lane, more)
        w = [self.words[start + 64 * j] for j in range(4)][at // 8 * 2 :]
        return (((w[0] >> 6 << 26) | w[1] >> 6) + 0.5) * 2.0**-52

    def normal(self):
        """Take the next number as a standard normal one."""
        return quantile(self.uniform())


class Chain:
    """One chain on a log density."""

    def __init__(self, logp, x, seed, lane, beta=1.0):
        self.logp, self.x, self.beta = logp, [float(v) for v in x], beta
        self.seed, self.lane = seed, lane
        self.score = logp(self.x)
        self.passes = self.accepted = self.evaluations = 0
        self.sums = [0.0] * len(self.x)
        self.first = list(self.x)

    def value(self, y):
        """Evaluate the log density."""
        self.evaluations += 1
        return self.logp(y)

    def advance(self, move, passes):
        """Make passes of a move: a method of this class with its arguments."""
        for _ in range(passes):
            self.numbers = Numbers(self.seed, self.passes, self.lane)
            move(self)
            self.passes += 1
            self.sums = [s + (v - f) for s, v, f in zip(self.sums, self.x, self.first, strict=True)]

    def decide(self, y, value, gain, u):
        """Take y or stay."""
        if math.log(u) < gain:
            self.x, self.score = y, value
            self.accepted += 1

    def walk(self, steps):
        """Propose a Gaussian step of all variables."""
        u = self.numbers.uniform()
        y = [v + s * self.numbers.normal() for v, s in zip(self.x, steps, strict=True)]
        value = self.value(y)
        self.decide(y, value, self.beta * (value - self.score), u)

    def propose(self, mean, root):
        """Propose mean + root z from anywhere."""
        u = self.numbers.uniform()
        d = len(mean)
        ratio, z = 0.0, [0.0] * d
        for j in range(d):
            rest = self.x[j] - mean[j]
            for k in range(j):
                rest -= root[j][k] * z[k]
            z[j] = rest / root[j][j]
            ratio -= 0.5 * z[j] * z[j]
        y = list(self.x)
        for j in range(d):
            z[j] = self.numbers.normal()
            ratio += 0.5 * z[j] * z[j]
            y[j] = mean[j]
            for k in range(j + 1):
                y[j] += root[j][k] * z[k]
        value = self.value(y)
        self.decide(y, value, self.beta * (value - self.score) + ratio, u)

    def slices(self, widths):
        """Update every variable by a slice."""
        for i, width in enumerate(widths):
            old = self.x[i]
            level = self.beta * self.score + math.log(self.numbers.uniform())
            low = old - width * self.numbers.uniform()
            high = low + width
            left = int(MOST_STEPS * self.numbers.uniform())
            right = MOST_STEPS - 1 - left
            while left > 0 and self.above(i, low, level) is not None:
                low, left = low - width, left - 1
            while right > 0 and self.above(i, high, level) is not None:
                high, right = high + width, right - 1
            while True:
                new = low + (high - low) * self.numbers.uniform()
                if new == old:
                    break
                value = self.above(i, new, level)
                if value is not None:
                    self.x = [*self.x[:i], new, *self.x[i + 1 :]]
                    self.score = value
                    break
                if new < old:
                    low = new
                else:
                    high = new

    def above(self, i, at, level):
        """Give the log density at x with x_i = at if it is above the level, else None."""
        value = self.value([*self.x[:i], at, *self.x[i + 1 :]])
        return value if self.beta * value >= level else None

    def flip(self, counts):
        """Propose another value of each discrete variable."""
        for i, count in counts.items():
            u, v = self.numbers.uniform(), self.numbers.uniform()
            if count > 1:
                others = [float(k) for k in range(count) if k != self.x[i]]
                y = [*self.x[:i], others[int(u * (count - 1))], *self.x[i + 1 :]]
                value = self.value(y)
                self.decide(y, value, self.beta * (value - self.score), v)

    def gibbs(self, counts):
        """Draw each discrete variable from its conditional."""
        for i, count in counts.items():
            weights = []
            for v in range(count):
                own = v == self.x[i]
                y = [*self.x[:i], float(v), *self.x[i + 1 :]]
                weights.append(self.score if own else self.value(y))
            top = max(weights)
            p = [math.exp(self.beta * (w - top)) for w in weights]
            total = 0.0
            for q in p:
                total += q
            target, below, new = total * self.numbers.uniform(), p[0], 0
            while below <= target and new < count - 1:
                new += 1
                below += p[new]
            self.x = [*self.x[:i], float(new), *self.x[i + 1 :]]
            self.score = weights[new]
