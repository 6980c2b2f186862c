"""Optimised scans: which variable to update when, for what is asked, with a guarantee."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.optimise import Goals
from heeler.scan.descent import Descent, Forward
from heeler.scan.optimised import Optimised
from heeler.scan.plan import Plan, as_plan, variables_of, whole
from heeler.scan.target import Target, as_target
from heeler.scan.variation import matrix_of, weighted_sum

# Iterating stops where a round gains less than this share, or after so many rounds.
LEAST_GAIN = 1e-9
MOST_ROUNDS = 200
# Doubling gives up at this length, or where the bound has not fallen for so many doublings.
MOST_LENGTH = 1 << 26
STALLED = 3


def optimise_scan(
    model_or_influence: Any,
    scan: Any = "systematic",
    target: Any = None,
    epsilon: float | None = None,
    *,
    length: int | None = None,
    passes: int | None = None,
    rounds: int | None = 1,
    asked: Iterable[int] | None = None,
    blocks: Any = None,
) -> Optimised:
    """Improve a scan for what is asked, step by step from the last to the first.

    Every step in turn is replaced by the best one given all others, which never raises the
    Dobrushin variation. Among equally good variables the given one is taken, else the first.

    Parameters
    ----------
    model_or_influence
        A model, or what `heeler.influence` gives, or a matrix of bounds.
    scan
        The scan to begin with, as in `heeler.coupling_bounds`. Scans that draw their variables are
        improved too; the result is a sequence.
    target
        What the guarantee is for, as in `heeler.variation`; with ``asked`` a list of as many
        targets.
    epsilon
        Stop as soon as the guarantee is at most this; the first steps then stay those of a
        deterministic scan. None improves all steps.
    length
        Steps; None stands for whole passes.
    passes
        Passes; None stands for one.
    rounds
        How often all steps are chosen; None iterates until nothing is gained. Most of the gain is
        the first round's.
    asked
        For targets asked in a row of one chain: after how many steps each is asked. The sum of
        their variations is lowered.
    blocks
        Update blocks of variables that do not touch instead of single ones: ``"chromatic"`` for
        colour classes, or a list of blocks. The scan then must go block by block (``"chromatic"``,
        or a sequence of block numbers), and length counts blocks.

    Returns
    -------
    Optimised
        A scan for `heeler.sample` and everything that takes one, never worse than the one given.

    References
    ----------
    Mitliagkas and Mackey, "Improving Gibbs Sampler Scan Quality with DoGS", ICML 2017, Algorithm 2.
    """
    matrix = matrix_of(model_or_influence)
    stop = -np.inf if epsilon is None else as_epsilon(epsilon)
    most = MOST_ROUNDS if rounds is None else whole("rounds", rounds)
    if blocks is not None:
        from heeler.scan.blocks import optimise_blocks

        return optimise_blocks(matrix, scan, target, stop, length, passes, most, asked, blocks)
    plan = as_plan(scan, matrix, length, passes)
    if plan.any_order:
        raise ValueError(
            "The 'scan' parameter must be a scan whose steps are known. A shuffled scan has none "
            "before it is run: begin with scan='systematic'."
        )
    goals = as_goals(target, asked, plan.length, variables_of(matrix))
    return improved(matrix, plan, goals, stop, most)


def shortest_scan(
    model_or_influence: Any,
    epsilon: float,
    target: Any = None,
    scan: Any = "systematic",
    *,
    rounds: int | None = 1,
    most: int | None = None,
) -> Optimised:
    """Find a short scan with a given guarantee: double the length, then halve the interval.

    Parameters
    ----------
    model_or_influence
        A model, or what `heeler.influence` gives, or a matrix of bounds.
    epsilon
        The guarantee wanted: the Dobrushin variation of one pass of the scan.
    target
        What it is for, as in `heeler.variation`.
    scan
        The scan whose first steps each trial begins with.
    rounds
        Rounds of `optimise_scan` in each trial.
    most
        The largest length tried; None stands for 2^26.

    Returns
    -------
    Optimised
        The scan; one step fewer does not reach epsilon in the same way.

    Raises
    ------
    ValueError
        Where no scan so long reaches it, as happens where the influence is too large.
    """
    matrix = matrix_of(model_or_influence)
    limit = as_epsilon(epsilon)
    longest = MOST_LENGTH if most is None else whole("most", most)
    turns = MOST_ROUNDS if rounds is None else whole("rounds", rounds)
    goal = as_target(target, variables_of(matrix))

    def trial(length: int) -> Optimised:
        plan = as_plan(scan, matrix, length)
        return improved(matrix, plan, [(plan.length, goal)], limit, turns)

    found = _double(trial, limit, longest, matrix)
    low, best = len(found) // 2, found  # `low` steps do not do
    while len(best) - low > 1:
        middle = trial((low + len(best)) // 2)
        if middle.guarantee <= limit:
            best = middle
        else:
            low = len(middle)
    return best


def _double(
    trial: Callable[[int], Optimised], limit: float, longest: int, matrix: Any
) -> Optimised:
    """Double the length until the guarantee is reached."""
    length, least, stalled = 1, np.inf, 0
    while True:
        made = trial(min(length, longest))
        if made.guarantee <= limit:
            return made
        # Short scans cannot reach everything; from one pass on the bound has to fall.
        passed = length >= 2 * matrix.n_variables
        stalled = stalled + 1 if passed and made.guarantee > 0.99 * least else 0
        least = min(least, made.guarantee)
        if length >= longest or (stalled >= STALLED and not matrix.contracts):
            break
        length *= 2
    why = "" if matrix.contracts else ": the norms of the influence are not below 1"
    raise ValueError(
        f"The 'epsilon' parameter cannot be reached by a scan of up to {min(length, longest)} "
        f"steps{why}. Got {limit:g}, reached {least:.4g}."
    )


def as_goals(
    target: Any, asked: Iterable[int] | None, length: int, variables: Any
) -> list[tuple[int, Target]]:
    """Read the targets and when they are asked.

    Parameters
    ----------
    target
        One target, or a list of them where ``asked`` is given.
    asked
        Steps after which they are asked.
    length
        Steps of the scan.
    variables
        The model, or what stands for it.

    Returns
    -------
    list
        Pairs of step and target, in the order given.
    """
    if asked is None:
        return [(length, as_target(target, variables))]
    times = [whole("asked", time) for time in asked]
    targets = list(target) if isinstance(target, Iterable) and not isinstance(target, str) else []
    if not times or len(targets) != len(times):
        raise ValueError(
            "The 'target' parameter must be a list of as many targets as 'asked' has steps. Got "
            f"{len(targets)} targets and {len(times)} steps."
        )
    if max(times) > length:
        raise ValueError(
            f"The 'asked' parameter must hold steps of the scan, from 1 to {length}. Got "
            f"{max(times)}."
        )
    goals = [as_target(wanted, variables) for wanted in targets]
    return list(zip(times, goals, strict=True))


def improved(
    matrix: Any, plan: Plan, goals: list[tuple[int, Target]], epsilon: float, rounds: int
) -> Optimised:
    """Improve a plan until epsilon is reached, the rounds are done or nothing is gained.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The scan to begin with.
    goals
        The targets and when they are asked.
    epsilon
        The guarantee at which to stop; -inf never stops.
    rounds
        How often at most.

    Returns
    -------
    Optimised
        The scan.
    """
    flat = flat_goals(goals)
    given = variations(matrix, plan, goals)
    # Steps that draw cannot be kept in a sequence: they are improved to the first one.
    best = (plan, given, plan.length) if plan.deterministic else None
    # The descent adds up roundings; only the forward recursion is a guarantee.
    wanted = epsilon - abs(epsilon) * 1e-9 if plan.deterministic else -np.inf
    done = 0
    while done < rounds and not (best is not None and sum(best[1]) <= epsilon):
        descent = Descent(matrix, plan, flat)
        left = descent.run(wanted)
        steps = descent.chosen
        steps[:left] = plan.steps()[:left]
        plan = sequence_plan(steps)
        found = variations(matrix, plan, goals)
        done += 1
        gain = sum(given if best is None else best[1]) - sum(found)
        if best is None or gain > 0:
            best = plan, found, left
        if gain <= LEAST_GAIN * sum(found):
            break
    assert best is not None
    plan, bounds, kept = best
    targets = [target for _, target in goals]
    return Optimised(
        plan.steps(),
        float(sum(bounds)),
        float(sum(given)),
        targets[0] if len(targets) == 1 else targets,
        done,
        kept,
        tuple(bounds),
    )


def sequence_plan(steps: NDArray[np.int32]) -> Plan:
    """Make the plan of a sequence of variables.

    Parameters
    ----------
    steps
        The variables, int32.

    Returns
    -------
    Plan
        One period of them.
    """
    return Plan(steps, len(steps), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))


def flat_goals(goals: list[tuple[int, Target]]) -> Goals:
    """Write goals as the arrays of compiled code, the last one first.

    Parameters
    ----------
    goals
        Pairs of step and target.

    Returns
    -------
    Goals
        The arrays.
    """
    falling = sorted(goals, key=lambda goal: -goal[0])
    sizes = [len(target.index) for _, target in falling]
    pointer = np.zeros(len(falling) + 1, np.int64)
    np.cumsum(sizes, out=pointer[1:])
    return Goals(
        np.array([time for time, _ in falling], np.int64),
        pointer,
        np.concatenate([target.index for _, target in falling]).astype(np.int32),
        np.concatenate([target.weight for _, target in falling]),
    )


def variations(matrix: Any, plan: Plan, goals: list[tuple[int, Target]]) -> tuple[float, ...]:
    """Compute the variation of every goal by the forward recursion.

    Parameters
    ----------
    matrix
        The `Influence`.
    plan
        The scan.
    goals
        The targets and when they are asked.

    Returns
    -------
    tuple of float
        The bounds, in the order of the goals.
    """
    forward = Forward(matrix, plan)
    done = 0
    found = [0.0] * len(goals)
    for place in sorted(range(len(goals)), key=lambda k: goals[k][0]):
        time, target = goals[place]
        forward.skip(done, time - done)
        done = time
        found[place] = weighted_sum(target.weight, forward.bounds(target.index))
    return tuple(found)


def as_epsilon(epsilon: Any) -> float:
    """Check an accuracy.

    Parameters
    ----------
    epsilon
        What came.

    Returns
    -------
    float
        The number, positive.
    """
    if (
        isinstance(epsilon, bool)
        or not isinstance(epsilon, int | float | np.number)
        or not np.isfinite(epsilon)
        or epsilon <= 0
    ):
        raise ValueError(
            f"The 'epsilon' parameter must be a positive number. Got {epsilon!r} instead."
        )
    return float(epsilon)
