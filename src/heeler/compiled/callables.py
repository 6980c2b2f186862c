"""Users' functions as addresses: what a compiled loop can call without being compiled for them.

A log density is called as f(x, status) -> float64: x is the address of the variables, status that
of an int64 that becomes 1 where the function raised. So the loops are compiled once and cached, and
a user's function costs the compilation of itself and of a thin wrapper.
"""

import ctypes

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

_DOUBLE, _WORD = ir.DoubleType(), ir.IntType(64)
_SIGNATURE = types.float64(types.CPointer(types.float64), types.CPointer(types.int64))
_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64)
)


@intrinsic
def call_density(typingctx, address, x, at, status):
    """Call the log density at an address with the variables x[at:]."""

    def codegen(context, builder, signature, args):
        address, x, at, status = args
        kinds = signature.args
        data = context.make_array(kinds[1])(context, builder, x).data
        flag = context.make_array(kinds[3])(context, builder, status).data
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE.as_pointer(), _WORD.as_pointer()])
        function = builder.inttoptr(address, kind.as_pointer())
        return builder.call(function, [builder.gep(data, [at]), flag])

    return types.float64(types.int64, x, types.int64, status), codegen


def is_compiled(function):
    """Say whether a function is one of Numba's."""
    return hasattr(function, "py_func") and hasattr(function, "signatures")


class CompiledDensity:
    """A Numba-compiled log density of an array of float64, behind an address.

    `address` stays valid as long as this object lives.
    """

    threads = True

    def __init__(self, function, dim):
        @njit
        def guarded(x, status):
            try:
                return np.float64(function(x))
            except Exception:  # noqa: BLE001 (whatever it is, `failure` raises it again)
                status[0] = 1
            return np.nan

        def wrapper(x, status):
            return guarded(carray(x, (dim,)), carray(status, (1,)))

        self._kept = cfunc(_SIGNATURE)(wrapper)
        self.address = self._kept.address
        self._function = function

    def failure(self, x):
        """Raise what the function raises at x."""
        self._function(x)


class PlainDensity:
    """A plain Python log density, behind an address; it may only be called by one thread."""

    threads = False

    def __init__(self, function, dim):
        views = {}
        self.error = None

        def wrapper(x, status):
            place = ctypes.addressof(x.contents)
            if place not in views:
                # Few places: rows of the state and of working memory. A view shows what is there.
                views[place] = np.ctypeslib.as_array(x, (dim,))
            try:
                return float(function(views[place].copy()))  # a copy: the function may keep it
            except BaseException as error:  # noqa: BLE001 (`failure` raises it again)
                self.error = error
                status[0] = 1
                return 0.0

        self._kept = _PROTOTYPE(wrapper)
        self.address = ctypes.cast(self._kept, ctypes.c_void_p).value

    def failure(self, x):
        """Raise what the function raised."""
        error, self.error = self.error, None
        if error is not None:
            raise error


def density_of(function, dim):
    """Put a function of float64 (dim,) behind an address."""
    return (CompiledDensity if is_compiled(function) else PlainDensity)(function, dim)
