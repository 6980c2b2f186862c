"""Optimised scans: coordinate descent on the Dobrushin variation, from the last step to the first.

With b the coupling bounds before a step and d the weights that the later steps leave of the target,
updating variable k lowers the variation d'b by d_k r_k, r = b - C b. Only variables with a weight
can be worth a step, so everything else stays untouched: all working arrays start as zeros that the
operating system hands out page by page, and the cost depends on the steps and the blankets only.
"""

import math
from typing import NamedTuple

import numpy as np

from heeler.compiled.influence_spins import EPS
from heeler.compiled.jit import helper, kernel

# Gains that differ by less than this share of the variation are equal.
TIE = 1e-14


class Rows(NamedTuple):
    """A sparse matrix in compressed rows."""

    pointer: np.ndarray  # int64 (n + 1)
    index: np.ndarray  # int32
    value: np.ndarray  # float64


class Draws(NamedTuple):
    """The rows of probabilities of steps that draw, or the blocks of steps that update several."""

    pointer: np.ndarray  # int64
    index: np.ndarray  # int32
    probability: np.ndarray  # float64


class Blocks(NamedTuple):
    """What a step may be: sets of variables that do not touch. Empty: single variables."""

    pointer: np.ndarray  # int64 (blocks + 1)
    member: np.ndarray  # int32
    block_of: np.ndarray  # int32 (n,), -1 for none


class Goals(NamedTuple):
    """The targets, the last one first."""

    time: np.ndarray  # int64: steps after which a target is asked, falling
    pointer: np.ndarray  # int64 (targets + 1)
    index: np.ndarray  # int32
    weight: np.ndarray  # float64


class Work(NamedTuple):
    """The present state of the descent; all arrays start as zeros."""

    known: np.ndarray  # uint8 (n,): whether b is written; it is 1 elsewhere
    b: np.ndarray  # float64 (n,)
    d: np.ndarray  # float64 (n,)
    active: np.ndarray  # uint8 (n,): whether r and gain are kept; elsewhere d is 0
    r: np.ndarray  # float64 (n,)
    gain: np.ndarray  # float64 (n,): d r
    tree: np.ndarray  # float64 (2 * leaves): the largest gain below each node
    leaves: np.int64  # a power of two
    used: np.int64  # leaves that stand for something


@helper
def bound_of(work, j):
    """Return the coupling bound of variable j."""
    return work.b[j] if work.known[j] else 1.0


@helper
def row_times_bounds(rows, i, work):
    """Return (C b)_i, rounded up as in `variation.updated`."""
    total = 0.0
    for e in range(rows.pointer[i], rows.pointer[i + 1]):
        total += rows.value[e] * bound_of(work, rows.index[e])
    return total * (1.0 + (rows.pointer[i + 1] - rows.pointer[i] + 2) * EPS)


@kernel
def forward_history(rows, draws, step, begin, count, work, fresh, history):
    """Do `count` steps of a plan and write down the bounds that they replace; return how many."""
    place = begin
    written = np.int64(0)
    for _ in range(count):
        i = step[place]
        place = place + 1 if place + 1 < step.size else 0
        if i >= 0:
            new = row_times_bounds(rows, i, work)
            history[written] = bound_of(work, i)
            written += 1
            work.b[i] = new
            work.known[i] = 1
            continue
        first, last = draws.pointer[-1 - i], draws.pointer[-i]
        for k in range(first, last):
            j = draws.index[k]
            q = draws.probability[k]
            old = bound_of(work, j)
            drawn = row_times_bounds(rows, j, work)
            fresh[k - first] = ((1.0 - q) * old + q * drawn) * (1.0 + 4 * EPS)
            history[written] = old
            written += 1
        for k in range(first, last):
            work.b[draws.index[k]] = fresh[k - first]
            work.known[draws.index[k]] = 1
    return written


@helper
def below(work, node, first):
    """Return a node's largest gain; -inf where no leaf below it stands for anything."""
    return work.tree[node] if first < work.used else -math.inf


@helper
def set_leaf(work, leaf, gain):
    """Write a leaf and the nodes above it."""
    node = work.leaves + leaf
    work.tree[node] = gain
    width = np.int64(1)
    while node > 1:
        node >>= 1
        first = (leaf // (2 * width)) * 2 * width
        left = work.tree[2 * node]
        right = below(work, 2 * node + 1, first + width)
        width *= 2
        most = left if left >= right else right
        if work.tree[node] == most:
            break
        work.tree[node] = most


@helper
def best_leaf(work):
    """Find the leaf with the largest gain, the first of equals."""
    node = np.int64(1)
    width = work.leaves
    first = np.int64(0)
    while width > 1:
        width //= 2
        right = below(work, 2 * node + 1, first + width)
        node *= 2
        if not work.tree[node] >= right:
            node += 1
            first += width
    return node - work.leaves


@helper
def set_gain(work, blocks, j):
    """Write the gain of variable j where it is looked for."""
    gain = work.d[j] * work.r[j]
    if blocks.member.size == 0:
        work.gain[j] = gain
        set_leaf(work, j, gain)
    else:
        block = blocks.block_of[j]
        if block >= 0:
            set_leaf(work, block, work.tree[work.leaves + block] + (gain - work.gain[j]))
        work.gain[j] = gain


@helper
def add_weight(rows, work, blocks, j, weight):
    """Add to the weight of variable j."""
    work.d[j] += weight
    if not work.active[j]:
        work.active[j] = 1
        work.r[j] = bound_of(work, j) - row_times_bounds(rows, j, work)
    set_gain(work, blocks, j)


@helper
def restore(columns, work, blocks, i, old):
    """Take the bound of variable i back to what it was; return how much the variation changes."""
    change = old - work.b[i]
    if change == 0.0:
        return 0.0
    work.b[i] = old
    if work.active[i]:
        work.r[i] += change
        set_gain(work, blocks, i)
    for e in range(columns.pointer[i], columns.pointer[i + 1]):
        k = columns.index[e]
        if work.active[k]:
            work.r[k] -= columns.value[e] * change
            set_gain(work, blocks, k)
    return work.d[i] * change


@helper
def update(rows, work, blocks, k):
    """Let the present step update variable k: move its weight to its blanket; return the gain."""
    weight = work.d[k]
    if weight == 0.0:
        return 0.0
    gain = weight * work.r[k]
    work.d[k] = 0.0
    set_gain(work, blocks, k)
    work.active[k] = 0
    for e in range(rows.pointer[k], rows.pointer[k + 1]):
        add_weight(rows, work, blocks, rows.index[e], weight * rows.value[e])
    return gain


@kernel
def backward(
    rows, columns, draws, step, begin, count, work, blocks, goals, asked, history, written,
    epsilon, total, chosen,
):  # fmt: skip
    """Choose the last `count` steps before step `begin` + `count`, the last one first.

    The work holds the bounds after these steps; the first `asked` goals count already; history
    has `written` numbers; total is the variation. It stops where all goals are asked and the
    variation is at most epsilon. Return the number of steps left alone, the goals asked and the
    variation.
    """
    t = begin + count
    while t > begin:
        while asked < goals.time.size and goals.time[asked] == t:
            for k in range(goals.pointer[asked], goals.pointer[asked + 1]):
                total += goals.weight[k] * bound_of(work, goals.index[k])
                add_weight(rows, work, blocks, goals.index[k], goals.weight[k])
            asked += 1
        if asked == goals.time.size and total <= epsilon:
            break
        t -= 1
        i = step[t % step.size]
        if i >= 0:
            written -= 1
            total += restore(columns, work, blocks, i, history[written])
        else:
            for k in range(draws.pointer[-i] - 1, draws.pointer[-1 - i] - 1, -1):
                written -= 1
                total += restore(columns, work, blocks, draws.index[k], history[written])
        best = best_leaf(work)
        # Of equals the given step: a step that gains nothing yet moves its weight on, and the
        # steps before it gain by that.
        if i >= 0 or blocks.member.size > 0:
            own = i if i >= 0 else np.int64(-1 - i)
            gained, most = work.tree[work.leaves + own], work.tree[work.leaves + best]
            best = own if gained >= most - TIE * total else best
        chosen[t] = best
        if blocks.member.size == 0:
            total -= update(rows, work, blocks, best)
        else:
            for k in range(blocks.pointer[best], blocks.pointer[best + 1]):
                total -= update(rows, work, blocks, blocks.member[k])
    return t, asked, total
