"""The general loop of binary variables again, slow and obvious: plain Python integers and floats.

Nothing here is shared with the package: words, probabilities, drivers and scans are written from
their definitions in docs/design.md.
"""

import math

ONE = 1 << 32
DRAW_VALUE, DRAW_SITE, DRAW_PROPOSAL, DRAW_WEIGHT = 0, 1, 2, 7
SCAN_LANE = 2**32 - 1


def philox_words(key, pass_number, draw, lane, count):
    """Words of positions 0 ... count - 1 of a pass."""
    words = []
    for t in range(count):
        counter = [
            64 * (t // 256) + t % 64,
            pass_number % 2**32,
            (pass_number >> 32) * 8 + draw,
            lane,
        ]
        k0, k1 = key % 2**32, key >> 32
        for _ in range(10):
            a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
            counter = [
                (b >> 32) ^ counter[1] ^ k0,
                b % 2**32,
                (a >> 32) ^ counter[3] ^ k1,
                a % 2**32,
            ]
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        words.append(counter[t % 256 // 64])
    return words


def exponential(x):
    """Return e^x in the documented arithmetic: 2^k times a polynomial in Estrin's order."""
    x = min(max(x, -700.0), 700.0)
    magic = 1.5 * 2.0**52
    k = (x * 1.4426950408889634 + magic) - magic
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    r2 = r * r
    low = (1.0 + r) + r2 * (0.5000000000000001 + r * 0.16666666666666669)
    middle = (0.04166666666662413 + r * 0.008333333333330062) + r2 * (
        0.0013888888917213717 + r * 0.00019841269863053618
    )
    high = (2.4801521295954376e-05 + r * 2.7557268459997064e-06) + r2 * (
        2.7620088445409746e-07 + r * 2.510038549551032e-08
    )
    return math.ldexp(low + (r2 * r2) * (middle + (r2 * r2) * high), int(k))


def quantised_sigmoid(log_odds):
    """Return P(value 1) in units of 2^-32."""
    p = 1.0 / (1.0 + exponential(-log_odds))
    return min(max(int(p * 4294967296.0 + 0.5), 1), ONE - 1)


def shuffled_order(order, key, pass_number):
    """Return the order of one pass by Fisher and Yates."""
    out = list(order)
    words = philox_words(key, pass_number, DRAW_SITE, SCAN_LANE, len(out))
    for k in range(len(out) - 1):
        j = k + (words[k] * (len(out) - k) >> 32)
        out[k], out[j] = out[j], out[k]
    return out


def weighted_order(order, accept, alias, key, pass_number, length):
    """Return the sites of one pass, drawn from an alias table."""
    columns = philox_words(key, pass_number, DRAW_SITE, SCAN_LANE, length)
    words = philox_words(key, pass_number, DRAW_PROPOSAL, SCAN_LANE, length)
    out = []
    for column, word in zip(columns, words, strict=True):
        c = column * len(order) >> 32
        out.append(order[c] if word < accept[c] else order[alias[c]])
    return out


class RandomWords:
    """The random driver: a value is 1 when its word is below p."""

    def __init__(self, key):
        self.key = key

    def start_pass(self, pass_number, lane, length):
        """Make the words of a pass."""
        self.words = philox_words(self.key, pass_number, DRAW_VALUE, lane, length)

    def draw(self, position, variable, p, context, old):  # noqa: ARG002
        """Return the new value and what it adds to the sum."""
        return int(self.words[position] < p), p


class QuasiWords(RandomWords):
    """A shifted sequence, after some random passes and perhaps a zero point."""

    def __init__(self, key, sequence, stride, first_pass, zero_passes):
        super().__init__(key)
        self.sequence, self.stride = sequence, stride
        self.first_pass, self.zero_passes = first_pass, zero_passes

    def start_pass(self, pass_number, lane, length):
        """Make the words of a pass."""
        if pass_number < self.first_pass:
            super().start_pass(pass_number, lane, length)
            return
        self.words = philox_words(self.key, 0, DRAW_WEIGHT, lane, length)
        at = pass_number - self.first_pass - self.zero_passes
        if at >= 0:
            for k in range(length):
                self.words[k] ^= self.sequence[(at * self.stride + k) % len(self.sequence)]


class HerdedWeights:
    """The herded driver: the weight gains p, its carry is the value."""

    def __init__(self, weights, key, bin_base, bins):
        self.weights, self.key = list(weights), list(key)
        self.bin_base, self.bins = bin_base, bins

    def start_pass(self, pass_number, lane, length):
        """Do nothing: herding uses no words."""

    def draw(self, position, variable, p, context, old):  # noqa: ARG002
        """Return the new value and what it adds to the sum."""
        slot = self.key[context] if self.key else context
        if self.bin_base[variable] >= 0:
            slot = self.bin_base[variable] + min(p * self.bins // ONE, self.bins - 1)
        total = self.weights[slot] + p
        self.weights[slot] = total % ONE
        return total // ONE, total // ONE


class LikelierValue:
    """The greedy driver: the present value in a tie."""

    def start_pass(self, pass_number, lane, length):
        """Do nothing: nothing is drawn."""

    def draw(self, position, variable, p, context, old):  # noqa: ARG002
        """Return the new value and what it adds to the sum."""
        return (old if 2 * p == ONE else int(2 * p > ONE)), p


class NaiveChain:
    """One lane of a binary model given by lists of neighbours and their couplings."""

    def __init__(self, neighbours, couplings, field, base, scale, state, lane=0):
        self.neighbours, self.couplings, self.field = neighbours, couplings, field
        self.base, self.scale, self.lane = base, scale, lane
        self.x = [int(v) for v in state]
        self.sums = [0] * len(field)
        self.score, self.best_score, self.best = 0, None, None

    def update(self, driver, position, i, beta):
        """Update one variable."""
        log_odds, pattern = self.field[i], 0
        for k, (j, w) in enumerate(zip(self.neighbours[i], self.couplings[i], strict=True)):
            log_odds += w if self.x[j] else -w
            pattern += self.x[j] << k
        log_odds *= 2.0
        p = quantised_sigmoid(beta * log_odds)
        context = self.base[i] + pattern if self.base[i] >= 0 else -1
        new, credit = driver.draw(position, i, p, context, self.x[i])
        self.score += (new - self.x[i]) * int(log_odds * self.scale)
        self.sums[i] += credit
        self.x[i] = new

    def advance(self, driver, orders, betas, first_pass):
        """Do one pass for every order; return the score after each."""
        scores = []
        for t, (order, beta) in enumerate(zip(orders, betas, strict=True)):
            driver.start_pass(first_pass + t, self.lane, len(order))
            for position, i in enumerate(order):
                self.update(driver, position, int(i), float(beta))
            scores.append(self.score)
            if self.best_score is None or self.score > self.best_score:
                self.best_score, self.best = self.score, list(self.x)
        return scores
