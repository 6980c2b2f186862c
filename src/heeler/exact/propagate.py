"""Messages on a junction tree: sums, best states, beliefs, exact draws.

Upward, tables are logarithms, because a tiny entry of one table may be all that another leaves.
Downward they are probabilities: what underflows there has a posterior probability below 1e-300.
Nothing here recurses; a chain of 10^5 variables is a loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from heeler.exact.problem import Problem
from heeler.exact.tree import JunctionTree

Item = tuple[tuple[int, ...], np.ndarray]

# Rows compared at once while drawing: bounds the temporary to a few tens of megabytes.
DRAW_ENTRIES = 1 << 22


def combine(shape: tuple[int, ...], items: Sequence[Item]) -> np.ndarray:
    """Add tables over some axes each into one table over all axes.

    Many small tables are first added to each other over the trailing axes only, so that a clique
    with hundreds of factors costs a few passes over its table and not hundreds.
    """
    dims = len(shape)
    if len(items) < 3 or math.prod(shape) < 4096:
        table = np.zeros(shape)
        for axes, item in items:
            wide = [1] * dims
            for axis in axes:
                wide[axis] = shape[axis]
            table += item.reshape(wide)
        return table
    whole = np.zeros(())
    start = dims
    for axis in reversed(range(dims)):
        group = [item for item in items if item[0][0] == axis]
        if not group:
            continue
        group.sort(key=lambda item: item[0][1] if len(item[0]) > 1 else dims, reverse=True)
        part, reach = np.zeros(shape[axis]), dims
        for axes, item in group:
            begin = axes[1] if len(axes) > 1 else dims
            wide = [shape[a] if a in axes else 1 for a in range(begin, dims)]
            spread = (shape[axis],) + (1,) * (reach - begin) + part.shape[1:]
            part = part.reshape(spread) + item.reshape([shape[axis], *wide])
            reach = begin
        low = min(start, reach)
        part = part.reshape((shape[axis],) + (1,) * (reach - low) + part.shape[1:])
        whole = whole.reshape((1,) * (start - low) + whole.shape)
        whole = part.reshape(part.shape[:1] + (1,) * (low - axis - 1) + part.shape[1:]) + whole
        start = axis
    # Axes that only trailing tables know, or none: filled in by broadcasting.
    return np.array(np.broadcast_to(whole.reshape((1,) * (dims - whole.ndim) + whole.shape), shape))


def keep_axes(table: np.ndarray, kept: Sequence[int]) -> np.ndarray:
    """Sum a table over all axes but the given ones (ascending)."""
    shape = table.shape
    wanted = set(kept)
    runs: list[list[int]] = []  # [size, kept?] for maximal runs of axes that go the same way
    for axis, size in enumerate(shape):
        flag = int(axis in wanted)
        if runs and runs[-1][1] == flag:
            runs[-1][0] *= size
        else:
            runs.append([size, flag])
    result = table.reshape(-1)
    right = 1
    # From the back, so that the first, largest pass is over contiguous memory.
    for size, flag in reversed(runs):
        if flag:
            right *= size
        elif right == 1:
            result = result.reshape(-1, size).sum(axis=1)
        else:
            result = result.reshape(-1, size, right).sum(axis=1).reshape(-1)
    return result.reshape([shape[a] for a in kept])


def singles(table: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the sum over all other axes, for every axis, in about three passes over the table."""
    if table.ndim == 1:
        yield table
        return
    half = table.ndim // 2
    size = math.prod(table.shape[:half])
    matrix = table.reshape(size, -1)
    yield from singles(matrix.sum(axis=1).reshape(table.shape[:half]))
    yield from singles(matrix.sum(axis=0).reshape(table.shape[half:]))


class Propagation:
    """A problem put on its junction tree.

    Parameters
    ----------
    problem : Problem
    tree : JunctionTree
    """

    def __init__(self, problem: Problem, tree: JunctionTree) -> None:
        self.problem = problem
        self.tree = tree
        self.tables: list[np.ndarray] = []
        self.log_z = -np.inf
        self._children: list[list[int]] = [[] for _ in range(tree.count)]
        for clique, parent in enumerate(tree.parent):
            if parent >= 0:
                self._children[parent].append(clique)
        rank, home = tree.rank, tree.home
        self._factors: list[list[int]] = [[] for _ in range(tree.count)]
        for f, scope in enumerate(problem.scopes):
            self._factors[home[min(rank[v] for v in scope)]].append(f)

    def _items(self, clique: int, messages: list[np.ndarray | None]) -> list[Item]:
        tree, problem = self.tree, self.problem
        items: list[Item] = []
        for f in self._factors[clique]:
            scope, table = problem.scopes[f], problem.tables[f]
            ranks = [tree.rank[v] for v in scope]
            if len(ranks) > 1:
                arranged = sorted(range(len(ranks)), key=ranks.__getitem__)
                table = table.transpose(arranged)
                ranks = [ranks[i] for i in arranged]
            items.append((tree.axes(clique, ranks), table))
        for child in self._children[clique]:
            message = messages[child]
            assert message is not None
            items.append((tree.axes(clique, tree.separator(child)), message))
            messages[child] = None
        return items

    def _upward(self, best: bool, keep: bool) -> None:
        """Send all messages to the roots; keep conditionals, best choices, or nothing."""
        tree = self.tree
        messages: list[np.ndarray | None] = [None] * tree.count
        roots = [self.problem.constant]
        self.tables = []
        with np.errstate(divide="ignore"):
            for clique in range(tree.count):
                shape, split = tree.shapes[clique], tree.residual[clique]
                table = combine(shape, self._items(clique, messages))
                matrix = table.reshape(math.prod(shape[:split]), -1)
                if best:
                    choice = matrix.argmax(axis=0)
                    message = np.take_along_axis(matrix, choice[None], axis=0)[0]
                    self.tables.append(choice)
                else:
                    message = normalise_columns(matrix)
                    if keep:
                        self.tables.append(matrix)
                if tree.parent[clique] < 0:
                    roots.append(float(message[0]))
                else:
                    messages[clique] = message.reshape(shape[split:])
        # Sums of logs with -inf among them must not meet fsum's check for opposite infinities.
        self.log_z = -np.inf if -np.inf in roots else math.fsum(roots)

    def sum_out(self, keep: bool) -> float:
        """Compute log Z; with ``keep`` the conditionals P(residual | separator) stay as tables."""
        self._upward(best=False, keep=keep)
        return self.log_z

    def best_state(self) -> tuple[np.ndarray, float]:
        """Find a most probable state of the free variables (local numbers) and its log score."""
        self._upward(best=True, keep=True)
        tree = self.tree
        values = np.zeros(len(tree.order), dtype=np.int64)  # by rank
        for clique in reversed(range(tree.count)):
            members, split = tree.members[clique], tree.residual[clique]
            shape = tree.shapes[clique]
            column = flat_index(values, members[split:], shape[split:])
            chosen = int(self.tables[clique][column])
            for axis in reversed(range(split)):
                chosen, values[members[axis]] = divmod(chosen, shape[axis])
        state = np.empty_like(values)
        state[tree.order] = values
        return state, self.log_z

    def calibrate(self) -> list[np.ndarray]:
        """Turn the conditionals into beliefs in place; return every free variable's marginal."""
        tree = self.tree
        marginals: list[np.ndarray] = [np.empty(0)] * len(tree.order)
        above: list[np.ndarray | None] = [None] * tree.count
        for clique in reversed(range(tree.count)):
            shape, split = tree.shapes[clique], tree.residual[clique]
            table = self.tables[clique]
            separator = above[clique]
            if separator is not None:
                table *= separator.reshape(-1)
                above[clique] = None
            belief = table.reshape(shape)
            self.tables[clique] = belief
            for child in self._children[clique]:
                above[child] = keep_axes(belief, tree.axes(clique, tree.separator(child)))
            own = table.sum(axis=1).reshape(shape[:split])
            for r, single in zip(tree.members[clique][:split], singles(own), strict=True):
                total = single.sum()
                marginals[tree.order[r]] = single / total
        return marginals

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """Draw independent exact states of the free variables, (count, m), after ``sum_out``."""
        tree = self.tree
        values = np.zeros((len(tree.order), count), dtype=state_dtype(self.problem.sizes))
        for clique in reversed(range(tree.count)):
            members, split = tree.members[clique], tree.residual[clique]
            shape = tree.shapes[clique]
            matrix = self.tables[clique]
            column = flat_index(values, members[split:], shape[split:])
            uniform = generator.random(count)
            chosen = np.empty(count, dtype=np.int64)
            if not isinstance(column, np.ndarray):
                chosen[:] = invert_one(matrix[:, 0], uniform)
                column = np.empty(0, dtype=np.int64)
            chunk = max(1, DRAW_ENTRIES // matrix.shape[0])
            for begin in range(0, len(column), chunk):
                piece = slice(begin, begin + chunk)
                chosen[piece] = invert(matrix[:, column[piece]], uniform[piece])
            for axis in reversed(range(split)):
                chosen, values[members[axis]] = np.divmod(chosen, shape[axis])
        states = np.empty((count, len(tree.order)), dtype=values.dtype)
        states[:, tree.order] = values.T
        return states


def normalise_columns(matrix: np.ndarray) -> np.ndarray:
    """Replace log weights by probabilities per column, in place; return the columns' log sums.

    A column of zeros stays zero and sums to -inf.
    """
    top = matrix.max(axis=0)
    base = np.where(top == -np.inf, 0.0, top)
    matrix -= base
    np.exp(matrix, out=matrix)
    total = matrix.sum(axis=0)
    matrix /= np.where(total > 0, total, 1.0)
    return base + np.log(total)


def flat_index(values: np.ndarray, ranks: Sequence[int], shape: Sequence[int]) -> np.ndarray | int:
    """Number the configurations of some variables, last one fastest; 0 for no variable."""
    index: np.ndarray | int = 0
    for r, size in zip(ranks, shape, strict=True):
        index = index * size + values[r].astype(np.int64)
    return index


def invert_one(weight: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw an index per uniform number from one distribution.

    The threshold stays strictly below the total, and a value is chosen only where the cumulative
    sum rises above it: values of probability zero are never drawn.
    """
    cumulative = np.cumsum(weight)
    threshold = np.minimum(uniform * cumulative[-1], np.nextafter(cumulative[-1], 0.0))
    return np.searchsorted(cumulative, threshold, side="right")


def invert(columns: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw a row per uniform number, each from a column of its own, as :func:`invert_one` does."""
    cumulative = np.cumsum(columns, axis=0)
    threshold = np.minimum(uniform * cumulative[-1], np.nextafter(cumulative[-1], 0.0))
    return (cumulative <= threshold).sum(axis=0)


def state_dtype(sizes: Sequence[int]) -> type[np.unsignedinteger]:
    """Choose the dtype of stored states: one byte while it is enough."""
    return np.uint8 if max(sizes, default=1) <= 256 else np.uint16
