"""Sums over herding weights, from which Rao-Blackwell sums follow for nothing."""

import numpy as np

from heeler.compiled.jit import kernel


@kernel
def sum_blocks(weights, start, stop, width, entry, out):
    """Add each variable's weights by value: out[entry + v] += sum(weights[start + v :: width])."""
    for i in range(start.size):
        k = start[i]
        while k < stop[i]:
            for v in range(width[i]):
                out[entry[i] + v] += np.int64(weights[k + v])
            k += width[i]
