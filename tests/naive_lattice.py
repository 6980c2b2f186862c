"""The lattice kernels again, slow and obvious: one site at a time in plain Python."""

import math
from itertools import product

import numpy as np

STEPS = {
    (2, 4): [(-1, 0), (0, -1), (0, 1), (1, 0)],
    (2, 8): [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)],
    (3, 6): [(-1, 0, 0), (0, -1, 0), (0, 0, -1), (0, 0, 1), (0, 1, 0), (1, 0, 0)],
}


def adjacency(model):
    """Neighbours of every site, ascending."""
    shape = model.shape
    lists = []
    for site in product(*map(range, shape)):
        found = []
        for step in STEPS[len(shape), model.neighbours]:
            moved = [c + s for c, s in zip(site, step, strict=True)]
            if model.periodic:
                moved = [m % size for m, size in zip(moved, shape, strict=True)]
            if all(0 <= m < size for m, size in zip(moved, shape, strict=True)):
                found.append(int(np.ravel_multi_index(moved, shape)))
        lists.append(sorted(found))
    return lists


def order(model, scan):
    """Sites in the order of a pass."""
    sites = list(product(*map(range, model.shape)))
    if scan == "systematic":
        return list(range(len(sites)))
    if model.neighbours == 8:
        colour = [(r % 2) * 2 + c % 2 for r, c in sites]
    else:
        colour = [sum(site) % 2 for site in sites]
    return sorted(range(len(sites)), key=lambda i: colour[i])


def philox_words(key, pass_number, lane, count):
    """Words of the positions of a pass, as docs/design.md defines them, in plain integers."""
    out = []
    for t in range(count):
        counter = [64 * (t // 256) + t % 64, pass_number % 2**32, (pass_number >> 32) * 8, lane]
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
        out.append(counter[t % 256 // 64])
    return out


class NaiveLattice:
    """One lane of a lattice chain."""

    def __init__(
        self,
        model,
        state,
        *,
        driver,
        scan,
        context="shared",
        bits=32,
        key=0,
        lane=0,
        temperature=1.0,
        weights=None,
    ):
        self.model, self.driver, self.context, self.bits = model, driver, context, bits
        self.key, self.lane, self.temperature = key, lane, temperature
        self.near = adjacency(model)
        self.order = order(model, scan)
        self.x = [int(v) for v in state]
        self.n = len(self.x)
        self.field = np.broadcast_to(np.asarray(model.field, float).reshape(-1), (self.n,))
        contexts = [len(a) + 1 if context == "shared" else 1 << len(a) for a in self.near]
        self.base = np.concatenate([[0], np.cumsum(contexts)])
        size = int(self.base[-1])
        self.weights = [1 << (bits - 1)] * size if weights is None else [int(w) for w in weights]
        self.passes = 0
        self.sums = [0] * self.n
        self.history = [(self.score(), list(self.x))]

    def probability(self, i, ups):
        """P(x_i = 1) in units of 2^-bits."""
        from heeler.compiled.quantise import fill_binary_table

        odds = 2.0 * ((2 * ups - len(self.near[i])) * self.model.coupling + self.field[i])
        out = np.zeros(1, np.int64)
        fill_binary_table(np.array([odds]), 1.0 / self.temperature, out)
        p = int(out[0])
        if self.driver == "herded" and self.bits == 16:
            p = min(max((p + (1 << 15)) >> 16, 1), 65535)
        return p

    def score(self):
        """The log score, exactly rounded."""
        s = [2 * x - 1 for x in self.x]
        bonds = sum(s[i] * s[j] for i in range(self.n) for j in self.near[i] if i < j)
        return math.fsum([self.model.coupling * bonds, *(self.field * s)])

    def advance(self, passes):
        """Do passes; return the scores after each."""
        scores = []
        for _ in range(passes):
            words = (
                philox_words(self.key, self.passes, self.lane, self.n)
                if self.driver == "random"
                else None
            )
            for t, i in enumerate(self.order):
                ups = sum(self.x[j] for j in self.near[i])
                p = self.probability(i, ups)
                if self.driver == "random":
                    self.x[i] = int(words[t] < p)
                    self.sums[i] += p >> 8
                elif self.driver == "greedy":
                    self.x[i] = int(p > 2**31) if p != 2**31 else self.x[i]
                    self.sums[i] += p >> 8
                else:
                    if self.context == "neighbours":
                        ups = sum(self.x[j] << rank for rank, j in enumerate(self.near[i]))
                    at = self.base[i] + ups
                    total = self.weights[at] + p
                    self.x[i] = total >> self.bits
                    self.weights[at] = total % 2**self.bits
                    self.sums[i] += p
            self.passes += 1
            scores.append(self.score())
            self.history.append((scores[-1], list(self.x)))
        return scores
