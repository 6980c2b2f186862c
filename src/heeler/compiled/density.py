"""Chains on a user's log density: random walk, independent proposals, slices, discrete updates.

One loop for all of these moves, as a user's function is called by its address: nothing here is
compiled for a particular function. A lane goes through all passes of a call before the next lane,
and everything is a function of (pass, lane), so calls may be cut anywhere.
"""

from typing import NamedTuple

import numpy as np

from heeler.compiled.callables import call_density
from heeler.compiled.jit import helper, kernel, part
from heeler.compiled.normal import Stream, normal, restart, uniform

WALK, GLOBAL, SLICE, FLIP, GIBBS = range(5)
RAISED, NOT_A_NUMBER, INFINITE = 1, 2, 3
MOST_STEPS = 64  # of stepping out, for a slice: the interval grows to so many widths at most
FIRST_SCALING = 64  # passes of burn-in before the first look at the variables' spreads
SLICE_WIDTH = 2.5  # standard deviations: few steps out and few shrinkages on a Gaussian


class Move(NamedTuple):
    """What happens in a pass."""

    kind: int
    key: np.uint64
    variables: np.ndarray  # int64: which variables move
    step: np.ndarray  # float64 (lanes, variables): scales of the walk, widths of the slices
    centre: np.ndarray  # float64 (variables): mean of global proposals
    root: np.ndarray  # float64 (variables, variables): lower Cholesky factor of their covariance
    values: np.ndarray  # int64 (dim): numbers of values, 0 for a continuous variable
    adapting: np.ndarray  # int64 (1): whether steps are adapted, during burn-in only
    learned: np.ndarray  # float64 (lanes, 3 + 3 variables): log step, passes, passes since the
    # last scaling; scales, means and sums of squares of the variables
    target: float  # acceptance rate that is aimed at


class DensityChain(NamedTuple):
    """The arrays of the running chains; rows are lanes."""

    x: np.ndarray  # float64 (lanes, dim)
    score: np.ndarray  # float64 (lanes): log density of x
    sums: np.ndarray  # float64 (lanes, columns)
    best: np.ndarray  # like x
    best_score: np.ndarray  # float64 (lanes)
    reference: np.ndarray  # float64 (dim): sums are of differences from it, so digits are not lost
    column: np.ndarray  # int64 (dim): first of a variable's columns: x, x^2, then one a value
    moves: np.ndarray  # int64 (lanes, 8): accepted proposals, proposals, evaluations
    failed: np.ndarray  # int64 (lanes): what was wrong with the log density, or 0
    failed_at: np.ndarray  # float64 (lanes, dim): and where


class DensityScratch(NamedTuple):
    """Working memory of one thread."""

    y: np.ndarray  # float64 (dim)
    z: np.ndarray  # float64 (dim)
    weights: np.ndarray  # float64 (most values)
    status: np.ndarray  # int64 (1)
    stream: Stream


@helper
def _evaluate(address, chain, lane, scratch):
    """Call the log density at y; a NaN after a failure, which is noted."""
    value = call_density(address, scratch.y, 0, scratch.status)
    chain.moves[lane, 2] += 1
    code = 0
    if scratch.status[0] != 0:
        code = RAISED
    elif np.isnan(value):
        code = NOT_A_NUMBER
    elif value == np.inf:
        code = INFINITE
    if code != 0:
        chain.failed[lane] = code
        for i in range(scratch.y.size):
            chain.failed_at[lane, i] = scratch.y[i]
        value = np.nan
    return value


@helper
def _decide(chain, lane, scratch, gain, value, u):
    """Take y with probability min(1, e^gain); return that probability."""
    chain.moves[lane, 1] += 1
    if np.log(u) < gain:
        chain.moves[lane, 0] += 1
        chain.score[lane] = value
        for i in range(scratch.y.size):
            chain.x[lane, i] = scratch.y[i]
    return np.exp(min(gain, 0.0))


@helper
def _copy_to(scratch, chain, lane):
    for i in range(scratch.y.size):
        scratch.y[i] = chain.x[lane, i]


@part
def _walk(address, move, chain, pass_number, lane, beta, scratch):
    _copy_to(scratch, chain, lane)
    stream = scratch.stream
    u = uniform(stream, move.key, pass_number, lane)
    for j in range(move.variables.size):
        z = normal(stream, move.key, pass_number, lane)
        scratch.y[move.variables[j]] += move.step[lane, j] * z
    value = _evaluate(address, chain, lane, scratch)
    if np.isnan(value):
        return 0.0
    return _decide(chain, lane, scratch, beta * (value - chain.score[lane]), value, u)


@part
def _global(address, move, chain, pass_number, lane, beta, scratch):
    _copy_to(scratch, chain, lane)
    stream, z = scratch.stream, scratch.z
    u = uniform(stream, move.key, pass_number, lane)
    ratio = 0.0  # log q(x) - log q(y)
    for j in range(move.variables.size):
        rest = chain.x[lane, move.variables[j]] - move.centre[j]
        for k in range(j):
            rest -= move.root[j, k] * z[k]
        z[j] = rest / move.root[j, j]
        ratio -= 0.5 * z[j] * z[j]
    for j in range(move.variables.size):
        z[j] = normal(stream, move.key, pass_number, lane)
        ratio += 0.5 * z[j] * z[j]
        y = move.centre[j]
        for k in range(j + 1):
            y += move.root[j, k] * z[k]
        scratch.y[move.variables[j]] = y
    value = _evaluate(address, chain, lane, scratch)
    if np.isnan(value):
        return 0.0
    return _decide(chain, lane, scratch, beta * (value - chain.score[lane]) + ratio, value, u)


@helper
def _inside(address, chain, lane, beta, scratch, i, at, level):
    """Say whether the density at x with x_i = at lies above the level: 1, 0, or -1 for an error."""
    scratch.y[i] = at
    value = _evaluate(address, chain, lane, scratch)
    answer = -1
    if not np.isnan(value):
        answer = 1 if beta * value >= level else 0
        scratch.weights[0] = value
    return answer


@part
def _slice(address, move, chain, pass_number, lane, beta, scratch):
    stream, y = scratch.stream, scratch.y
    _copy_to(scratch, chain, lane)
    for j in range(move.variables.size):
        i = move.variables[j]
        width = move.step[lane, j]
        old = chain.x[lane, i]
        level = beta * chain.score[lane] + np.log(uniform(stream, move.key, pass_number, lane))
        low = old - width * uniform(stream, move.key, pass_number, lane)
        high = low + width
        left = np.int64(MOST_STEPS * uniform(stream, move.key, pass_number, lane))
        right = MOST_STEPS - 1 - left
        while left > 0:
            inside = _inside(address, chain, lane, beta, scratch, i, low, level)
            if inside < 0:
                return 0.0
            if inside == 0:
                break
            low -= width
            left -= 1
        while right > 0:
            inside = _inside(address, chain, lane, beta, scratch, i, high, level)
            if inside < 0:
                return 0.0
            if inside == 0:
                break
            high += width
            right -= 1
        while True:
            new = low + (high - low) * uniform(stream, move.key, pass_number, lane)
            if new == old:  # the interval has shrunk to the present value, which is inside
                y[i] = old
                break
            inside = _inside(address, chain, lane, beta, scratch, i, new, level)
            if inside < 0:
                return 0.0
            if inside == 1:
                chain.x[lane, i] = new
                chain.score[lane] = scratch.weights[0]
                break
            if new < old:
                low = new
            else:
                high = new
        chain.moves[lane, 1] += 1
    return 1.0


@part
def _flip(address, move, chain, pass_number, lane, beta, scratch):
    stream = scratch.stream
    _copy_to(scratch, chain, lane)
    for j in range(move.variables.size):
        i = move.variables[j]
        count = move.values[i]
        u = uniform(stream, move.key, pass_number, lane)
        v = uniform(stream, move.key, pass_number, lane)
        if count > 1:
            old = chain.x[lane, i]
            new = np.floor(u * (count - 1))
            new = new + 1.0 if new >= old else new
            scratch.y[i] = new
            value = _evaluate(address, chain, lane, scratch)
            if np.isnan(value):
                return 0.0
            _decide(chain, lane, scratch, beta * (value - chain.score[lane]), value, v)
            scratch.y[i] = chain.x[lane, i]
    return 1.0


@part
def _gibbs(address, move, chain, pass_number, lane, beta, scratch):
    stream, weights = scratch.stream, scratch.weights
    _copy_to(scratch, chain, lane)
    for j in range(move.variables.size):
        i = move.variables[j]
        count = move.values[i]
        old = np.int64(chain.x[lane, i])
        top = chain.score[lane]
        for v in range(count):
            weights[v] = chain.score[lane]
            if v != old:
                scratch.y[i] = v
                weights[v] = _evaluate(address, chain, lane, scratch)
                if np.isnan(weights[v]):
                    return 0.0
                top = max(top, weights[v])
        total = 0.0
        for v in range(count):
            total += np.exp(beta * (weights[v] - top))
        target = total * uniform(stream, move.key, pass_number, lane)
        new = np.int64(0)
        below = np.exp(beta * (weights[0] - top))
        while below <= target and new < count - 1:
            new += 1
            below += np.exp(beta * (weights[new] - top))
        while weights[new] == -np.inf:  # rounding at the very end of the sum
            new -= 1
        chain.x[lane, i] = new
        chain.score[lane] = weights[new]
        scratch.y[i] = new
        chain.moves[lane, 1] += 1
    return 1.0


@part
def _adapt(move, x, lane, accepted):
    """Learn steps from one pass of the burn-in: acceptance, and the variables' spreads."""
    count = move.variables.size
    learned = move.learned[lane]
    learned[1] += 1.0
    learned[2] += 1.0
    if move.kind == WALK:
        learned[0] += (accepted - move.target) / learned[2] ** 0.6
    for j in range(count):  # Welford's sums
        value = x[move.variables[j]]
        change = value - learned[3 + count + j]
        learned[3 + count + j] += change / learned[2]
        learned[3 + 2 * count + j] += change * (value - learned[3 + count + j])
    passes = np.int64(learned[1])
    if passes >= FIRST_SCALING and passes & (passes - 1) == 0:
        # At 64, 128, 256, ... passes: what the later half of the burn-in so far has shown.
        for j in range(count):
            spread = np.sqrt(learned[3 + 2 * count + j] / learned[2])
            if 0.0 < spread < np.inf:
                learned[3 + j] = spread
            learned[3 + count + j] = 0.0
            learned[3 + 2 * count + j] = 0.0
        learned[0] = np.log(2.38 / np.sqrt(np.float64(count)) if move.kind == WALK else SLICE_WIDTH)
        learned[2] = 0.0
    for j in range(count):
        move.step[lane, j] = np.exp(learned[0]) * learned[3 + j]


@helper
def _count(move, chain, lane):
    """Add the state after a pass to the sums."""
    for i in range(chain.reference.size):
        at = chain.column[i]
        off = chain.x[lane, i] - chain.reference[i]
        chain.sums[lane, at] += off
        chain.sums[lane, at + 1] += off * off
        if move.values[i] > 0:
            chain.sums[lane, at + 2 + np.int64(chain.x[lane, i])] += 1.0
    if chain.score[lane] > chain.best_score[lane]:
        chain.best_score[lane] = chain.score[lane]
        for i in range(chain.reference.size):
            chain.best[lane, i] = chain.x[lane, i]


@kernel
def advance_density(address, move, chain, betas, first_pass, lanes, scores, scratch):
    """Advance some lanes by betas.size passes; stop at the first failure of the log density.

    Every pass leaves exp(beta log density) invariant once steps are no longer adapted. A pass of
    the walk and of global proposals costs one evaluation, of slices about five a variable, of
    discrete variables one a value other than the present one (or one proposal).
    """
    for lane in lanes:
        for t in range(betas.size):
            pass_number = first_pass + t
            restart(scratch.stream)
            scratch.status[0] = 0
            accepted = 0.0
            if move.kind == WALK:
                accepted = _walk(address, move, chain, pass_number, lane, betas[t], scratch)
            elif move.kind == GLOBAL:
                accepted = _global(address, move, chain, pass_number, lane, betas[t], scratch)
            elif move.kind == SLICE:
                accepted = _slice(address, move, chain, pass_number, lane, betas[t], scratch)
            elif move.kind == FLIP:
                accepted = _flip(address, move, chain, pass_number, lane, betas[t], scratch)
            else:
                accepted = _gibbs(address, move, chain, pass_number, lane, betas[t], scratch)
            if chain.failed[lane] != 0:
                return
            if move.adapting[0] != 0 and move.kind in (WALK, SLICE):
                _adapt(move, chain.x[lane], lane, accepted)
            _count(move, chain, lane)
            scores[t, lane] = chain.score[lane]
