"""Where a driver's herding weights lie: by context, by equal conditionals, or by bins."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heeler.driver import Binned, Context, Neighbours, Shared
from heeler.kernel.lowered import Lowered

DEFAULT_BINS = 64


class WeightLayout(NamedTuple):
    """The places of all weights of a chain; a variable's weights are contiguous."""

    key_map: NDArray[np.int32]  # context -> weight, empty when they are the same
    bin_base: NDArray[np.int64]  # (n,): first of a variable's bins, -1 where contexts are used
    bins: int
    first: NDArray[np.int64]  # (n,): a variable's weights are first to last - 1
    last: NDArray[np.int64]
    width: NDArray[np.int64]  # (n,): weights of a context, one (binary) or one a value
    entry: NDArray[np.int64]  # (n,): a variable's column in the sums
    total: int
    has_bins: bool


def lay_out(lowered: Lowered, context: Context | None) -> WeightLayout:
    """Lay the weights out, once for all runs of a lowered model.

    Parameters
    ----------
    lowered
        The model.
    context
        The context, None for automatic: neighbours where they are few, elsewhere bins.

    Returns
    -------
    WeightLayout
        The places.
    """
    key = None if context is None else context.name
    if key not in lowered.layouts:
        lowered.layouts[key] = _make(lowered, context)
    return lowered.layouts[key]


def _make(lowered: Lowered, context: Context | None) -> WeightLayout:
    """Lay the weights out."""
    n = lowered.n
    if isinstance(context, (Neighbours, Shared)) and (lowered.base < 0).any():
        raise ValueError(
            f"The context {context.name!r} needs a table of each variable's contexts, and some "
            "variables have too many neighbours. Use context='binned(64)', 'radius(1)' or 'auto'."
        )
    by_context = lowered.base >= 0
    bins = DEFAULT_BINS
    if isinstance(context, Binned):
        by_context = np.zeros(n, bool)
        bins = context.bins
    width = np.ones(n, np.int64) if lowered.binary else lowered.cardinalities.astype(np.int64)
    key_map = np.empty(0, np.int32)
    first = np.where(by_context, lowered.base, 0)
    sizes = lowered.sizes * by_context
    total = lowered.contexts if by_context.any() else 0
    if isinstance(context, Shared):
        key_map, first, sizes, total = _share(lowered, width)
    # Binary: a word a bin. K values: K weights a bin, and the bins are shared out among the
    # likeliest values.
    bin_size = np.full(n, bins) if lowered.binary else np.maximum(bins // width, 1) * width * width
    bin_size[by_context] = 0
    bin_base = np.where(by_context, -1, total + np.cumsum(bin_size) - bin_size)
    first = np.where(by_context, first, bin_base)
    return WeightLayout(
        key_map,
        bin_base,
        bins,
        first,
        first + sizes + bin_size,
        width,
        np.cumsum(width) - width,
        total + int(bin_size.sum()),
        not by_context.all(),
    )


def _share(lowered: Lowered, width: NDArray[np.int64]) -> tuple[NDArray, NDArray, NDArray, int]:
    """Give equal conditionals of one variable one weight."""
    table = lowered.conditional.table
    if not table.size:
        raise ValueError(
            "The context 'shared' needs tabulated conditionals, so one temperature and few "
            "neighbours. Use context='binned(64)' or 'auto'."
        )
    if not lowered.binary:
        table = table[: 2 * lowered.contexts]  # the loop may read a little more
    key_map = np.zeros(lowered.contexts, np.int32)
    first = np.zeros(lowered.n, np.int64)
    sizes = np.zeros(lowered.n, np.int64)
    counts = lowered.sizes
    owner = np.repeat(np.arange(lowered.n), counts)
    for k in np.unique(width):  # rows of one length at a time
        mine = np.repeat(width == k, counts)
        probabilities = (
            table if lowered.binary else table[np.repeat(mine, 2)].reshape(-1, 2 * k)[:, :k]
        )
        rows = np.column_stack(
            [owner[mine].reshape(-1, k)[:, :1], probabilities.reshape(-1, k).astype(np.int64)]
        )
        _, at, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        key_map[np.flatnonzero(mine).reshape(-1, k)[:, 0]] = number.ravel() * k + sizes.sum()
        variables = rows[at, 0]
        sizes += np.bincount(variables, minlength=lowered.n) * k
    # Groups of one width are numbered together, sorted by variable: a variable's weights are
    # contiguous.
    start = 0
    for k in np.unique(width):
        members = np.flatnonzero(width == k)
        first[members] = start + np.cumsum(sizes[members]) - sizes[members]
        start += int(sizes[members].sum())
    return key_map, first, sizes, start
