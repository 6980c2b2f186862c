"""Pairs of chains whose values agree as often as they can: the maximal coupling of updates.

Both chains update the same variable from one word. The word's place among the masses p and q is
read so: first come the common masses min(p_v, q_v), in the order of values, then what is left of
each. Below the common mass both take the same value; beyond it the word less that mass is uniform
over what is left of p and over what is left of q, so each chain keeps its own distribution exactly,
and the values differ with probability 1 - sum of min(p_v, q_v), the least there is.
"""

import numpy as np

from heeler.compiled.conditionals import kary_conditional
from heeler.compiled.jit import kernel, part
from heeler.compiled.scans import prepare, site
from heeler.compiled.words import BLOCK, DRAW_VALUE, fill_block


@part
def draw_pair(word, count, p):
    """Return the two values; p[0, :count] and p[1, :count] sum to 2^30 each."""
    target = np.int64(word) >> 2
    common = np.int64(0)
    for v in range(count):
        common += min(p[0, v], p[1, v])
    first = np.int64(-1)
    second = np.int64(-1)
    below = np.int64(0)
    if target < common:
        for v in range(count):
            below += min(p[0, v], p[1, v])
            if target < below and first < 0:
                first = np.int64(v)
        second = first
    else:
        target -= common
        above = np.int64(0)
        for v in range(count):
            share = min(p[0, v], p[1, v])
            below += p[0, v] - share
            above += p[1, v] - share
            if target < below and first < 0:
                first = np.int64(v)
            if target < above and second < 0:
                second = np.int64(v)
    return first, second


@part
def _conditional(conditional, lane, x, i, beta, scratch, out):
    """Store the probabilities of variable i and return how many; a function of its own."""
    # Inlined into the loop below it took a minute to compile.
    values, row, tabulated = kary_conditional(conditional, lane, x, i, beta, scratch)
    for v in range(values):
        out[v] = conditional.table[2 * row + v] if tabulated else scratch.p[v]
    return values


@part
def _agree(states, n):
    """Say whether two chains are in the same state."""
    same = True
    for i in range(n):
        same = same and states[0, i] == states[1, i]
    return same


@kernel
def advance_coupled(
    conditional, scan, key, states, beta, first_pass, passes, jobs, weights, apart, scratch, p
):
    """Advance pairs of chains, states[pair, 0] and [pair, 1], by maximally coupled updates.

    apart[t, k, pair] becomes the sum of row k of the weights over the variables that differ after
    pass t; it comes as zeros. Pairs that agree everywhere stay together, so they are left alone.
    Every pass leaves the distribution invariant in either chain; it costs two conditionals an
    update. scratch and p (int64, two rows of the most values) are working memory.
    """
    words = scratch.words
    n = weights.shape[1]
    for pair in jobs:
        both = states[pair]
        for t in range(passes):
            if _agree(both, n):
                break
            count = prepare(scan, scratch, 0, first_pass + t)
            for block in range((count + BLOCK - 1) // BLOCK):
                fill_block(words, 0, key, first_pass + t, DRAW_VALUE, pair, block)
                start = block * BLOCK
                for k in range(start, min(start + BLOCK, count)):
                    i = site(scan, scratch, 0, k)
                    values = np.int64(0)
                    for side in range(2):
                        values = _conditional(
                            conditional, pair, both[side], i, beta, scratch, p[side]
                        )
                    first, second = draw_pair(words[k - start], values, p)
                    both[0, i] = first
                    both[1, i] = second
            for i in range(n):
                if both[0, i] != both[1, i]:
                    for k in range(weights.shape[0]):
                        apart[t, k, pair] += weights[k, i]
