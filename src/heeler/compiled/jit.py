"""How every kernel is compiled, in one place."""

from numba import njit

# error_model "numpy": a division that may be by zero would otherwise hold a branch and stop SIMD.
# _nrt False: kernels allocate nothing and count no references. With counting on, every use of a
# tuple of arrays in the inner loop pays atomic increments (measured: 95 ns an update instead of 7).
OPTIONS = {"error_model": "numpy", "boundscheck": False, "_nrt": False}
# Parts of kernels must be inlined: a call would copy every array descriptor of their tuples.
INLINE = {**OPTIONS, "forceinline": True}


def kernel(function):
    """Compile an entry point: releases the interpreter lock, cached on disk between processes."""
    return njit(nogil=True, cache=True, **OPTIONS)(function)


def helper(function):
    """Compile a part of kernels: always inlined, so that it specialises with its caller."""
    return njit(inline="always", **OPTIONS)(function)


def part(function):
    """Compile a part of kernels that only few of them need, as a function of its own."""
    return njit(**OPTIONS)(function)
