"""Scans of blocks: variables that do not touch are updated together."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heeler.compiled.optimise import Blocks
from heeler.model.check import shown
from heeler.scan.descent import Descent
from heeler.scan.optimise import LEAST_GAIN, Optimised, as_goals, flat_goals, variations
from heeler.scan.order import order_of
from heeler.scan.plan import Plan, variables_of, whole
from heeler.scan.scans import Chromatic, as_scan


@dataclass(frozen=True, eq=False, repr=False)
class OptimisedBlocks(Optimised):
    """A scan of blocks with a guarantee: made by `optimise_scan`.

    Parameters
    ----------
    order, guarantee, before, target, rounds, kept, bounds
        As in `Optimised`; steps are counted in blocks.
    blocks
        The blocks, arrays of variables.
    sequence
        The number of the block that each step updates.
    """

    blocks: tuple[NDArray[np.int32], ...] = ()
    sequence: Any = None

    def __len__(self) -> int:
        """Count the updates of a pass, of single variables."""
        return len(self.order)


def optimise_blocks(
    matrix: Any,
    scan: Any,
    target: Any,
    epsilon: float,
    length: Any,
    passes: Any,
    rounds: int,
    asked: Iterable[int] | None,
    blocks: Any,
) -> OptimisedBlocks:
    """Improve a scan that updates a block a step; see `heeler.optimise_scan`.

    Parameters
    ----------
    matrix
        The `Influence`.
    scan
        ``"chromatic"`` or ``"systematic"`` for block after block, or a sequence of block numbers.
    target, asked
        As in `optimise_scan`.
    epsilon
        Where to stop; -inf never stops.
    length, passes
        Steps in blocks, or passes; one of them may be given.
    rounds
        How often at most.
    blocks
        What a step may update.

    Returns
    -------
    OptimisedBlocks
        The scan.
    """
    variables = variables_of(matrix)
    made = as_blocks(blocks, matrix, variables)
    count = len(made.pointer) - 1
    plan = _plan(scan, made, count, length, passes)
    goals = as_goals(target, asked, plan.length, variables)
    flat = flat_goals(goals)
    given = variations(matrix, plan, goals)
    best = plan, given, plan.length
    wanted = epsilon - abs(epsilon) * 1e-9
    done = 0
    while done < rounds and sum(best[1]) > epsilon:
        descent = Descent(matrix, plan, flat, made)
        left = descent.run(wanted)
        steps = -1 - descent.chosen
        steps[:left] = plan.steps()[:left]
        plan = Plan(steps, len(steps), *_rows(made))
        found = variations(matrix, plan, goals)
        done += 1
        gain = sum(best[1]) - sum(found)
        if gain > 0:
            best = plan, found, left
        if gain <= LEAST_GAIN * sum(found):
            break
    plan, bounds, kept = best
    sequence = -1 - plan.steps()
    members = np.split(made.member, made.pointer[1:-1])
    targets = [target for _, target in goals]
    return OptimisedBlocks(
        np.concatenate([members[block] for block in sequence.tolist()]),
        float(sum(bounds)),
        float(sum(given)),
        targets[0] if len(targets) == 1 else targets,
        done,
        kept,
        tuple(bounds),
        tuple(members),
        sequence,
    )


def as_blocks(blocks: Any, matrix: Any, variables: Any) -> Blocks:
    """Read blocks and check that their members have no influence on each other.

    Parameters
    ----------
    blocks
        ``"chromatic"`` for whole colour classes, ``"chromatic(64)"`` for pieces of at most 64
        variables of a class, or a list of blocks: lists of variables, each in one block at most.
    matrix
        The `Influence`.
    variables
        The model, or what stands for it.

    Returns
    -------
    Blocks
        The blocks.
    """
    if isinstance(blocks, str):
        lists = _coloured(blocks, variables)
    else:
        try:
            lists = [np.array([variables.index(v) for v in block], np.int64) for block in blocks]
        except TypeError:
            raise TypeError(
                "The 'blocks' parameter must be 'chromatic', 'chromatic(size)' or a list of lists "
                f"of variables. Got {shown(blocks)} instead."
            ) from None
    if not lists or min(map(len, lists)) == 0:
        raise ValueError("The 'blocks' parameter must have at least one block, none of them empty.")
    member = np.concatenate(lists)
    sizes = np.array([len(block) for block in lists])
    block_of = np.full(variables.n_variables, -1, np.int32)
    block_of[member] = np.repeat(np.arange(len(lists)), sizes)
    if (np.bincount(member) > 1).any():
        twice = variables.names[int(np.argmax(np.bincount(member) > 1))]
        raise ValueError(
            f"The 'blocks' parameter must hold each variable once at most. Got {twice!r} twice."
        )
    if variables.evidence is not None and (variables.evidence[member] >= 0).any():
        name = variables.names[int(member[np.argmax(variables.evidence[member] >= 0)])]
        raise ValueError(f"The 'blocks' parameter must not hold a clamped variable. Got {name!r}.")
    pointer, index, _ = matrix.flat()
    row = np.repeat(np.arange(variables.n_variables), np.diff(pointer))
    touch = (block_of[row] >= 0) & (block_of[row] == block_of[index])
    if touch.any():
        place = int(np.argmax(touch))
        raise ValueError(
            "The 'blocks' parameter must hold blocks whose variables do not touch. Got "
            f"{variables.names[int(row[place])]!r} and {variables.names[int(index[place])]!r} in "
            "one block."
        )
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return Blocks(ends.astype(np.int64), member.astype(np.int32), block_of)


def _coloured(word: str, variables: Any) -> list[NDArray[np.int64]]:
    """Cut the colour classes into pieces."""
    match = re.fullmatch(r"chromatic(?:\(([1-9]\d{0,9})\))?", word)
    if match is None:
        raise ValueError(
            "The 'blocks' parameter must be 'chromatic', 'chromatic(size)' or a list of lists of "
            f"variables. Got {word!r} instead."
        )
    order, ends = order_of(Chromatic(), variables)
    classes = np.split(order, ends[1:-1])
    if match[1] is None:
        return [members for members in classes if len(members)]
    size = int(match[1])
    return [c[k : k + size] for c in map(np.sort, classes) for k in range(0, len(c), size)]


def _rows(blocks: Blocks) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Write blocks as rows of steps: every member is updated for certain."""
    return blocks.pointer, blocks.member, np.ones(len(blocks.member))


def _plan(scan: Any, blocks: Blocks, count: int, length: Any, passes: Any) -> Plan:
    """Read the scan to begin with, in blocks."""
    if length is not None and passes is not None:
        raise ValueError("Give 'length' or 'passes', not both.")
    if isinstance(scan, str) or not isinstance(scan, Iterable):
        if as_scan(scan).name not in ("chromatic", "systematic"):
            raise ValueError(
                "The 'scan' parameter must be 'chromatic' or a sequence of block numbers where "
                f"'blocks' are given. Got {scan!r} instead."
            )
        steps = np.arange(count)
    else:
        steps = np.asarray(scan if isinstance(scan, np.ndarray) else list(scan))
        if (
            steps.dtype.kind not in "iu"
            or steps.ndim != 1
            or not steps.size
            or steps.min() < 0
            or steps.max() >= count
        ):
            raise ValueError(
                f"The 'scan' parameter must hold numbers of blocks from 0 to {count - 1}. "
                f"Got {shown(scan)} instead."
            )
    total = len(steps) * (1 if passes is None else whole("passes", passes))
    total = total if length is None else whole("length", length)
    return Plan((-1 - steps).astype(np.int32), total, *_rows(blocks))
