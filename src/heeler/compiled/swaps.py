"""Swaps: two variables exchange their values, accepted by the factors that hear of it."""

from typing import NamedTuple

import numpy as np

from heeler.compiled.jit import helper, kernel
from heeler.compiled.loop import watch_pass
from heeler.compiled.quantise import exponential
from heeler.compiled.words import BLOCK, DRAW_PROPOSAL, DRAW_SITE, DRAW_VALUE, fill_block


class Graph(NamedTuple):
    """A factor graph as `heeler.model.FactorGraph` stores it."""

    slot_pointer: np.ndarray  # int64 (n + 1): the factors of i are slots
    position: np.ndarray  # int64 (slots): a slot's place in scope
    factor: np.ndarray  # int64 (places): the factor that a place belongs to
    scope_pointer: np.ndarray  # int64 (factors + 1)
    scope: np.ndarray  # int32 (places)
    stride: np.ndarray  # int64 (places)
    table: np.ndarray  # int64 (factors): where the factor's table starts
    log_tables: np.ndarray  # float64


class Partners(NamedTuple):
    """Which pairs are proposed."""

    key: np.uint64
    first: np.ndarray  # int32: pairs, or variables that have a partner
    second: np.ndarray  # int32 beside first, or variables by their number of values
    start: np.ndarray  # int64 beside first: where its possible partners begin; empty for pairs
    count: np.ndarray  # int64 beside first: how many there are, itself included
    steps: int  # proposals of a pass


class SwapChain(NamedTuple):
    """The arrays of the running chains; rows are lanes."""

    x: np.ndarray  # uint8 or uint16 (lanes, n)
    score: np.ndarray  # float64 (lanes)
    best: np.ndarray  # like x
    best_score: np.ndarray  # float64 (lanes)
    sums: np.ndarray  # float64 (lanes, columns): counts of values after every pass
    start: np.ndarray  # int64 (n): first column of each variable
    binary: int  # 1: columns count value 1 only
    moves: np.ndarray  # int64 (lanes, 8): accepted proposals, proposals


@helper
def _change(graph, x, i, j):
    """Return what the log score gains if i and j exchange their values."""
    gain = 0.0
    for side in range(2):
        variable = i if side == 0 else j
        for slot in range(graph.slot_pointer[variable], graph.slot_pointer[variable + 1]):
            factor = graph.factor[graph.position[slot]]
            old = graph.table[factor]
            new = old
            both = False
            for place in range(graph.scope_pointer[factor], graph.scope_pointer[factor + 1]):
                v = graph.scope[place]
                stride = graph.stride[place]
                old += stride * np.int64(x[v])
                if v == i:
                    new += stride * np.int64(x[j])
                    both = both or side == 1
                elif v == j:
                    new += stride * np.int64(x[i])
                else:
                    new += stride * np.int64(x[v])
            if not both:  # a factor of both has been counted with i
                gain += graph.log_tables[new] - graph.log_tables[old]
    return gain


@helper
def _pair(partners, site, proposal):
    """Return the pair that two words stand for."""
    k = (np.int64(site) * partners.first.size) >> 32
    i = np.int64(partners.first[k])
    j = i
    if partners.start.size == 0:
        j = np.int64(partners.second[k])
    else:
        # One of the others: the last stands in for i itself.
        other = partners.start[k] + ((np.int64(proposal) * (partners.count[k] - 1)) >> 32)
        j = np.int64(partners.second[other])
        if j == i:
            j = np.int64(partners.second[partners.start[k] + partners.count[k] - 1])
    return i, j


@kernel
def advance_swaps(graph, partners, chain, watch, betas, first_pass, lanes, scores, words):
    """Advance some lanes by betas.size passes of swaps.

    Every pass leaves p invariant (up to the rounding of chances to 2^-32), in detailed balance; a
    proposal costs a look at the factors of two variables.
    """
    for lane in lanes:
        x = chain.x[lane]
        score = chain.score[lane]
        for t in range(betas.size):
            pass_number = first_pass + t
            for k in range(partners.steps):
                at = k % BLOCK
                if at == 0:
                    block = k // BLOCK
                    key = partners.key
                    fill_block(words[0], 0, key, pass_number, DRAW_VALUE, lane, block)
                    fill_block(words[1], 0, key, pass_number, DRAW_SITE, lane, block)
                    fill_block(words[2], 0, key, pass_number, DRAW_PROPOSAL, lane, block)
                i, j = _pair(partners, words[1, at], words[2, at])
                chain.moves[lane, 1] += 1
                if x[i] != x[j]:
                    gain = _change(graph, x, i, j)
                    chance = np.int64(1) << 32
                    if gain < 0.0:
                        chance = np.int64(exponential(betas[t] * gain) * 4294967296.0)
                    if np.int64(words[0, at]) < chance:
                        x[i], x[j] = x[j], x[i]
                        score += gain
                        chain.moves[lane, 0] += 1
            for i in range(x.size):
                if chain.binary == 1:
                    chain.sums[lane, i] += np.float64(x[i])
                else:
                    chain.sums[lane, chain.start[i] + np.int64(x[i])] += 1.0
            watch_pass(watch, lane, x)
            if score > chain.best_score[lane]:
                chain.best_score[lane] = score
                for i in range(x.size):
                    chain.best[lane, i] = x[i]
            scores[t, lane] = score
        chain.score[lane] = score
