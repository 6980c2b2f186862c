"""First-fit colouring of a sparse graph."""

import numpy as np

from heeler.compiled.jit import kernel


@kernel
def first_fit(pointer, index, order, colours, taken):
    """Give the variables of `order`, in turn, the smallest free colour; return how many colours.

    colours (int32) starts at -1; taken (int64, largest degree + 2) is scratch filled with -1.
    """
    most = 0
    for k in range(order.size):
        i = order[k]
        for e in range(pointer[i], pointer[i + 1]):
            c = colours[index[e]]
            if c >= 0:
                taken[c] = i
        c = 0
        while taken[c] == i:
            c += 1
        colours[i] = c
        most = max(most, c + 1)
    return np.int64(most)
