"""The general loop for any model again, slow and obvious: dictionaries, tuples and Python integers.

Weights are kept in a dictionary whose key says in plain words which context it is. Words and the
arithmetic of probabilities come from `naive`; nothing is shared with the package.
"""

import itertools
import math

import numpy as np

from naive import (
    DRAW_VALUE,
    DRAW_WEIGHT,
    exponential,
    philox_words,
    quantised_sigmoid,
    shuffled_order,
    weighted_order,
)

BINARY_ONE, KARY_ONE = 1 << 32, 1 << 30
GOLDEN = 0x9E3779B97F4A7C15
GAIN_RANGE = 2.0**30
MOST_CONTEXTS = 256  # of a variable, before it is keyed by bins


def logarithm(x):
    """Return log(x) in the documented arithmetic: an exponent and a series of the rest."""
    m, k = math.frexp(x)
    if m < float.fromhex("0x1.6a09e667f3bcdp-1"):  # the rest goes from sqrt(1/2) to sqrt(2)
        m, k = 2.0 * m, k - 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    w = z * z
    odd = z * (
        6.666666666666735130e-01
        + w
        * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    even = w * (
        3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01)
    )
    low = s * (odd + even) + k * 1.90821492927058770002e-10
    return k * 6.93147180369123816490e-01 + (2.0 * s + low)


def weights_of(log_weights, beta):
    """Return exp(beta * log weights), the largest 1."""
    top = max(log_weights)
    return [0.0 if w == -np.inf else exponential(beta * (w - top)) for w in log_weights]


def quantised_row(weights):
    """Quantise weights, normalised: integers with sum 2^30."""
    lanes = list(weights) if len(weights) > 8 else weights + [0.0] * (8 - len(weights))
    while 1 < len(lanes) <= 8:  # a vector is folded in half
        half = len(lanes) // 2
        lanes = [u + v for u, v in zip(lanes[:half], lanes[half:], strict=True)]
    factor = KARY_ONE / sum(lanes)
    row = [0 if w == 0 else max(int(w * factor + 0.5), 1) for w in weights]
    row[weights.index(max(weights))] += KARY_ONE - sum(row)
    return row


class Couplings:
    """An Ising model: log-odds summed over the neighbours in ascending order."""

    binary = True

    def __init__(self, model):
        pairs = (
            np.split(model.column, model.pointer[1:-1]),
            np.split(model.coupling, model.pointer[1:-1]),
        )
        self.near = [
            dict(zip(j.tolist(), w.tolist(), strict=True)) for j, w in zip(*pairs, strict=True)
        ]
        self.field = model.field.tolist()
        self.cards = [2] * len(self.field)
        self.blankets = [sorted(near) for near in self.near]
        most = [
            2.0 * sum([abs(w) for w in near.values()], abs(f))
            for near, f in zip(self.near, self.field, strict=True)
        ]
        self.scale = GAIN_RANGE / max(*most, 1e-290)

    def update(self, x, i, beta):
        """Return the integer probabilities of i's values and their fixed-point log weights."""
        log_odds = self.field[i]
        for j, w in self.near[i].items():
            log_odds += w * (2.0 * x[j] - 1.0)
        log_odds *= 2.0
        p = quantised_sigmoid(beta * log_odds)
        return [BINARY_ONE - p, p], [0, int(log_odds * self.scale)]


class Units:
    """A Boltzmann machine, bipartite or not: integer log-odds, summed afresh for every update."""

    binary = True

    def __init__(self, weights, bias):
        self.unit = max(np.abs(weights).max(), np.abs(bias).max()) / GAIN_RANGE
        self.weights = [[round(w / self.unit) for w in row] for row in weights.tolist()]
        self.bias = [round(b / self.unit) for b in bias.tolist()]
        self.cards = [2] * len(self.bias)
        self.blankets = [np.flatnonzero(row).tolist() for row in weights]
        self.scale = 1.0 / self.unit

    def update(self, x, i, beta):
        """Return the integer probabilities of i's values and their fixed-point log weights."""
        total = self.bias[i] + sum(w * v for w, v in zip(self.weights[i], x, strict=True))
        p = quantised_sigmoid(beta * (total * self.unit))
        return [BINARY_ONE - p, p], [0, total]


class Factors:
    """A factor graph: a row of each factor, multiplied at one temperature, else added in logs.

    `odds` says that two values are quantised as P(1), as tables of binary variables are.
    """

    def __init__(self, model, odds=False, varies=False):
        self.binary, self.varies = odds, varies
        self.cards = model.cardinalities.tolist()
        self.blankets = [model.blanket(i).tolist() for i in range(len(self.cards))]
        factors = list(model.to_factor_graph().factors)
        self.near = []  # for each variable: its own factors' sum, its pairs, its larger factors
        for i, k in enumerate(self.cards):
            own = np.zeros(k)
            for scope, table in factors:
                if list(scope) == [i]:
                    own = own + table
            beside = [(s, t - t.max()) for s, t in factors if i in s and len(s) > 1]
            beside.sort(key=lambda f: len(f[0]) > 2)
            self.near.append([([i], own - own.max()), *beside])
        self.spread = [
            sum((-t[np.isfinite(t)].min() for _, t in near[1:]), -lowest(near[0][1]))
            for near in self.near
        ]
        self.scale = GAIN_RANGE / max(*self.spread, 1e-290)

    def rows(self, x, i):
        """List each factor's log weights of i's values."""
        for scope, table in self.near[i]:
            yield [
                float(table[tuple(v if j == i else x[j] for j in scope)])
                for v in range(self.cards[i])
            ]

    def log_weights(self, x, i):
        """Add the factors of i for each of its values."""
        return [sum(column[1:], column[0]) for column in zip(*self.rows(x, i), strict=True)]

    def linear_weights(self, x, i, beta):
        """Multiply the factors of i for each of its values."""
        result = [1.0] * self.cards[i]
        for row in self.rows(x, i):
            for v, w in enumerate(row):
                result[v] *= 0.0 if w == -np.inf else exponential(beta * w)
        return result

    def update(self, x, i, beta):
        """Return the integer probabilities of i's values and their fixed-point log weights."""
        if self.binary:
            return self.odds(self.log_weights(x, i), beta)
        if self.varies or beta < 2.0**-10 or beta * self.spread[i] > 600.0:
            w = self.log_weights(x, i)
            weights = weights_of(w, beta) if max(w) > -np.inf else [0.0] * len(w)
            gains = [0 if u == -np.inf else int(u * self.scale) for u in w]
        else:
            weights = self.linear_weights(x, i, beta)
            # Rows of a table are compared with each other, weights of one update with the old one.
            tabled = all(rows_of(self, j) <= MOST_CONTEXTS for j in range(len(self.cards)))
            old = 1.0 if tabled else weights[x[i]]
            gains = [
                int(logarithm(u / old) * (self.scale / beta)) if u and old else 0 for u in weights
            ]
        if not any(weights):  # a context that no run can be in
            return [KARY_ONE] + [0] * (len(weights) - 1), gains
        return quantised_row(weights), gains

    def odds(self, w, beta):
        """Return the same of two values, quantised as P(1)."""
        if -np.inf in w:
            return ([BINARY_ONE, 0] if w[1] == -np.inf else [0, BINARY_ONE]), [0, 0]
        p = quantised_sigmoid(beta * (w[1] - w[0]))
        return [BINARY_ONE - p, p], [0, int((w[1] - w[0]) * self.scale)]


def lowest(values):
    """Return the smallest finite number."""
    return float(values[np.isfinite(values)].min())


class PottsOnTheFly(Factors):
    """A Potts model with many neighbours: fields and couplings of the neighbours, ascending."""

    def __init__(self, model):
        self.binary, self.varies = False, True
        self.cards = model.cardinalities.tolist()
        self.field = model.field.tolist()
        split = (
            np.split(model.column, model.pointer[1:-1]),
            np.split(model.coupling, model.pointer[1:-1]),
        )
        self.near = [
            list(zip(j.tolist(), w.tolist(), strict=True)) for j, w in zip(*split, strict=True)
        ]
        self.blankets = [[j for j, _ in near] for near in self.near]
        most = []
        for near, row in zip(self.near, self.field, strict=True):
            most.append(sum(abs(w) for _, w in near) + (max(row) - min(row)))
        self.scale = GAIN_RANGE / max(*most, 1e-290)

    def log_weights(self, x, i):
        """Add what the agreeing neighbours pay."""
        w = list(self.field[i])
        for j, coupling in self.near[i]:
            w[x[j]] += coupling
        return w


class Random:
    """Inversion of one word an update."""

    herds = False

    def __init__(self, seed):
        self.seed = seed

    def start_pass(self, t, lane, count):
        """Make the words of a pass."""
        self.words = philox_words(self.seed, t, DRAW_VALUE, lane, count)

    def choose(self, cond, lane, k, i, p, x):  # noqa: ARG002
        """Take the value whose interval holds the word."""
        if cond.binary:
            return int(self.words[k] < p[1])
        word, v = self.words[k] >> 2, 0
        while word >= p[v]:
            word -= p[v]
            v += 1
        return v


class Metropolis(Random):
    """Propose another value, each as likely; accept with probability min(1, p(new) / p(old))."""

    def choose(self, cond, lane, k, i, p, x):  # noqa: ARG002
        """Let one word propose and decide."""
        others = [v for v in range(len(p)) if v != x[i]]
        if not others:
            return x[i]
        proposal, fraction = divmod(self.words[k] * len(others), 1 << 32)
        new = others[proposal]
        return new if fraction * p[x[i]] < p[new] << 32 else x[i]


class Modified(Random):
    """Go to v with probability p(v) / (1 - min(p(v), p(old))): Liu's modified Gibbs sampler."""

    def choose(self, cond, lane, k, i, p, x):
        """Give each other value an interval, in order, and stay in what is left."""
        if cond.binary:
            return Metropolis.choose(self, cond, lane, k, i, p, x)
        word, old = self.words[k] >> 2, x[i]
        for v in range(len(p)):
            if v != old:
                share = int(p[v] / (KARY_ONE - min(p[v], p[old])) * KARY_ONE)
                if word < share:
                    return v
                word -= share
        return old


class Quasi(Random):
    """Words of a whole period of a Tausworthe generator, shifted by position and lane."""

    def __init__(self, seed, taps, order, sigma, stride, burn_in, zero):
        super().__init__(seed)
        bits = [1] + [0] * (order - 1)
        self.period = 2**order - 1
        while len(bits) < self.period + 31:
            bits.append(sum(bits[len(bits) - order + tap] for tap in taps) % 2)
        windows = [int("".join(map(str, bits[k : k + 32])), 2) for k in range(self.period)]
        self.sequence = [windows[k * sigma % self.period] for k in range(self.period)]
        self.stride, self.burn_in, self.zero = stride, burn_in, zero

    def start_pass(self, t, lane, count):
        """Make the words of a pass."""
        if t < self.burn_in:
            super().start_pass(t, lane, count)
            return
        self.words = philox_words(self.seed, 0, DRAW_WEIGHT, lane, count)
        t -= self.burn_in + self.zero
        if t >= 0:
            for k in range(count):
                self.words[k] ^= self.sequence[(t * self.stride + k) % self.period]


class Greedy:
    """The likeliest value; the present one, then the lowest, in a tie."""

    herds = False

    def start_pass(self, t, lane, count):
        """Do nothing: nothing is drawn."""

    def choose(self, cond, lane, k, i, p, x):  # noqa: ARG002
        """Compare the probabilities."""
        return x[i] if p[x[i]] == max(p) else p.index(max(p))


class Herded:
    """Weights in a dictionary; `key(cond, i, x, p)` names a context, `first` gives new weights."""

    herds = True

    def __init__(self, key, first=None, rule="argmax"):
        self.key, self.first, self.rule = key, first, rule
        self.weights = {}

    def start_pass(self, t, lane, count):
        """Do nothing: herding uses no words."""

    def choose(self, cond, lane, k, i, p, x):  # noqa: ARG002
        """Add the probabilities to the context's weights and let them decide."""
        name = (lane, *self.key(cond, i, x, p))
        if name not in self.weights:
            size = 1 if cond.binary else len(p)
            start = self.first(cond, name) if self.first else None
            half = BINARY_ONE // 2 if cond.binary else 0
            self.weights[name] = [half] * size if start is None else start
        w = self.weights[name]
        if cond.binary:
            value, w[0] = divmod(w[0] + p[1], BINARY_ONE)
            return value
        possible = [v for v in range(len(p)) if p[v] > 0]
        after = [a + b for a, b in zip(w, p, strict=True)]
        if self.rule == "argmax":
            value = max(possible, key=lambda v: (after[v], -v))
        else:
            slack = KARY_ONE // (2 * len(p) - 2) if len(p) > 1 else 0
            claims = [v for v in possible if after[v] >= slack]
            # The earliest deadline, as an exact comparison of fractions.
            value = min(claims, key=lambda v: (_Fraction(KARY_ONE - slack - w[v], p[v]), v))
        w[:] = after
        w[value] -= KARY_ONE
        return value


class _Fraction:
    """A fraction that compares by cross-multiplication."""

    def __init__(self, top, bottom):
        self.top, self.bottom = top, bottom

    def __lt__(self, other):
        return self.top * other.bottom < other.top * self.bottom

    def __eq__(self, other):
        return self.top * other.bottom == other.top * self.bottom

    __hash__ = None  # only compared


def neighbours(cond, i, x, p):  # noqa: ARG001
    """Key by the blanket's assignment."""
    return i, tuple(x[j] for j in cond.blankets[i])


def shared(cond, i, x, p):  # noqa: ARG001
    """Key by the conditional itself."""
    return i, tuple(p)


def full(cond, i, x, p):  # noqa: ARG001
    """Key by all other variables."""
    return i, tuple(v for j, v in enumerate(x) if j != i)


def levels_of(bins, values):
    """Share the bins among the values that can be the likeliest; a binary variable has them all."""
    return max(bins // values, 1)


def binned(bins):
    """Key by a bin of P(1), or by the likeliest value and the level of its probability."""

    def key(cond, i, x, p):  # noqa: ARG001
        if cond.binary:
            return i, min(p[1] * bins // BINARY_ONE, bins - 1)
        top, levels = p.index(max(p)), levels_of(bins, len(p))
        return i, top, min(p[top] * levels // KARY_ONE, levels - 1)

    return key


def ball(cond, i, radius):
    """List the variables within a distance of i, without i."""
    seen = {i}
    for _ in range(radius):
        seen |= {k for j in seen for k in cond.blankets[j]}
    return sorted(seen - {i})


def within(radius):
    """Key by the assignment of a ball."""

    def key(cond, i, x, p):  # noqa: ARG001
        return i, tuple((j, x[j]) for j in ball(cond, i, radius))

    return key


def mix(z):
    """Scramble 64 bits: the finaliser of SplitMix64."""
    z %= 1 << 64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % (1 << 64)
    return z ^ (z >> 31)


def hashed_first(seed):
    """Give first weights of hashed contexts: one half in lane 0, else words of seed, lane, key."""

    def first(cond, name):
        lane, i, values = name
        if lane == 0:
            return None
        if values and isinstance(values[0], tuple):
            pairs = values
        else:
            others = [j for j in range(len(cond.cards)) if j != i]
            pairs = list(zip(others, values, strict=True))
        context = 0
        for j, v in pairs:
            context ^= mix(j * GOLDEN + (v << 40) + 1)
        key = mix(context + i * GOLDEN) | 1
        bits = 32 if cond.binary else 30
        start = mix(seed + lane) | 1
        return [
            mix(start ^ (key + e * GOLDEN) % (1 << 64)) >> (64 - bits)
            for e in range(1 if cond.binary else cond.cards[i])
        ]

    return first


def table_first(seed, place):
    """Give first weights of tables: one half in lane 0, then word `place(cond, i, context)`."""

    def first(cond, name):
        lane, i, *context = name
        if lane == 0:
            return None
        at = place(cond, i, *context)
        words = philox_words(seed, 0, DRAW_WEIGHT, lane, at + cond.cards[i])
        return words[at : at + 1] if cond.binary else [w >> 2 for w in words[at:]]

    return first


def rows_of(cond, i):
    """Count the assignments of a blanket."""
    return int(np.prod([cond.cards[j] for j in cond.blankets[i]], dtype=np.int64))


def entries_of(cond, i):
    """Count the weights of a variable keyed by its neighbours; none where they are too many."""
    rows = rows_of(cond, i)
    return 0 if rows > MOST_CONTEXTS else rows * (1 if cond.binary else cond.cards[i])


def before(cond, i):
    """List the variables whose contexts are numbered before those of i."""
    everything = getattr(cond, "numbering", range(len(cond.cards)))
    return itertools.takewhile(lambda j: j != i, everything)


def place_of_neighbours(cond, i, values):
    """Number a blanket's assignment: first neighbour fastest (binary), last one (K values)."""
    at = 0
    for j, v in zip(cond.blankets[i], values, strict=True) if not cond.binary else ():
        at = at * cond.cards[j] + v
    if cond.binary:
        at = sum(v << k for k, v in enumerate(values))
    width = 1 if cond.binary else cond.cards[i]
    return sum(entries_of(cond, j) for j in before(cond, i)) + at * width


def neighbours_or_bins(bins):
    """Key by the neighbours where they are few, by bins elsewhere."""

    def key(cond, i, x, p):
        return (neighbours if entries_of(cond, i) else binned(bins))(cond, i, x, p)

    return key


def place_of_neighbours_or_bins(bins):
    """Number the neighbours' assignments first, then the bins of the other variables."""

    def place(cond, i, *context):
        if entries_of(cond, i):
            return place_of_neighbours(cond, i, *context)
        binned_before = [j for j in before(cond, i) if not entries_of(cond, j)]
        start = sum(entries_of(cond, j) for j in range(len(cond.cards)))
        return (
            start
            + sum(size_of_bins(cond, bins, j) for j in binned_before)
            + inside_bins(cond, bins, i, *context)
        )

    return place


def size_of_bins(cond, bins, i):
    """Count the weights of a variable keyed by bins."""
    k = cond.cards[i]
    return bins if cond.binary else k * levels_of(bins, k) * k


def inside_bins(cond, bins, i, *context):
    """Number a variable's bins."""
    if cond.binary:
        return context[0]
    return (context[0] * levels_of(bins, cond.cards[i]) + context[1]) * cond.cards[i]


def place_of_bins(bins):
    """Number the bins."""

    def place(cond, i, *context):
        return sum(size_of_bins(cond, bins, j) for j in range(i)) + inside_bins(
            cond, bins, i, *context
        )

    return place


def place_of_shared(beta):
    """Number different conditionals, sorted by variable and probability."""

    def place(cond, i, row):
        rows = set()
        for j, k in enumerate(cond.cards):
            for values in itertools.product(*(range(cond.cards[b]) for b in cond.blankets[j])):
                x = [0] * len(cond.cards)
                for b, v in zip(cond.blankets[j], values, strict=True):
                    x[b] = v
                p = cond.update(x, j, beta)[0]
                rows.add((1 if cond.binary else k, j, tuple(p[1:]) if cond.binary else tuple(p)))
        wanted = (1 if cond.binary else cond.cards[i], i, row[1:] if cond.binary else row)
        return sum(r[0] for r in rows if r < wanted)

    return place


class Fixed:
    """The same sites every pass."""

    at_once = False

    def __init__(self, order):
        self.order = list(order)

    def sites(self, t):  # noqa: ARG002
        """List the sites of pass t."""
        return self.order


class Jacobi(Fixed):
    """All from the old state."""

    at_once = True


class Shuffled(Fixed):
    """A new order every pass."""

    def __init__(self, order, seed):
        super().__init__(order)
        self.seed = seed

    def sites(self, t):
        """List the sites of pass t."""
        return shuffled_order(self.order, self.seed, t)


class Weighted(Fixed):
    """Draws from an alias table."""

    def __init__(self, order, seed, accept, alias, steps):
        super().__init__(order)
        self.seed, self.accept, self.alias, self.steps = seed, accept, alias, steps

    def sites(self, t):
        """List the sites of pass t."""
        return weighted_order(self.order, self.accept, self.alias, self.seed, t, self.steps)


class Lane:
    """What one lane has seen."""

    def __init__(self, cond, x):
        self.x = [int(v) for v in x]
        self.sums = [[0] * k for k in cond.cards]
        self.score, self.best_score, self.best = 0, None, None
        self.scores, self.states = [], []


def run(cond, driver, scan, states, betas, restart=False):
    """Run all lanes for len(betas) passes and give what each has seen."""
    lanes = []
    for number, first in enumerate(states):
        lane = Lane(cond, first)
        for t, beta in enumerate(betas):
            one_pass(cond, driver, scan, lane, number, t, beta, first if restart else None)
        lanes.append(lane)
    return lanes


def one_pass(cond, driver, scan, lane, number, t, beta, first):
    """Update the sites of one pass."""
    if first is not None:
        lane.x, lane.score = [int(v) for v in first], 0
    sites = scan.sites(t)
    driver.start_pass(t, number, len(sites))
    old = list(lane.x)
    for k, i in enumerate(sites):
        p, gains = cond.update(old if scan.at_once else lane.x, i, beta)
        if scan.at_once:  # the score follows the state as it is
            gains = cond.update(lane.x, i, beta)[1]
        new = driver.choose(cond, number, k, i, p, old if scan.at_once else lane.x)
        if first is None:
            for v in range(len(p)):
                lane.sums[i][v] += p[v]
        lane.score += gains[new] - gains[lane.x[i]]
        lane.x[i] = new
    if first is not None:
        for i in set(scan.order):  # the others are as they were
            lane.sums[i][lane.x[i]] += 1
    lane.scores.append(lane.score)
    lane.states.append(list(lane.x))
    if lane.best_score is None or lane.score > lane.best_score:
        lane.best_score, lane.best = lane.score, list(lane.x)
