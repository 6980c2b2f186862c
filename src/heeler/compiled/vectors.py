"""Whole vectors inside kernels: what the operations on blocks of sites are made of.

A compiler's own vectoriser turns some of these loops into scalar code, depending on their length
and its version. So each operation is written as the vector instructions themselves (LLVM's, which
every processor gets translated to what it has). A block is 64 sites for bytes, 16 for 32-bit and 32
for 16-bit numbers. All positions are element indices; nothing needs to be aligned.
"""

import inspect

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_LINE = 64


class Emitter:
    """Loads, stores and constants of vectors for one call of an intrinsic."""

    def __init__(self, context, builder):
        self.context = context
        self.builder = builder

    def pointer(self, array, index, kind):
        """Return a pointer to array[index] as one to the LLVM type `kind`."""
        array_type, value = array
        data = self.context.make_array(array_type)(self.context, self.builder, value).data
        return self.builder.bitcast(self.builder.gep(data, [index]), kind.as_pointer())

    def load(self, array, index, lanes):
        """Load the vector array[index:index + lanes]."""
        kind = ir.VectorType(self.context.get_value_type(array[0].dtype), lanes)
        return self.builder.load(self.pointer(array, index, kind), align=1)

    def store(self, value, array, index):
        """Store a vector, or an integer of any width, at array[index]."""
        self.builder.store(value, self.pointer(array, index, value.type), align=1)

    def splat(self, value, lanes):
        """Return a vector with the same scalar everywhere."""
        kind = ir.VectorType(value.type, lanes)
        first = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        return self.builder.shuffle_vector(first, first, zeros)

    def constant(self, element, lanes, value):
        """Return a constant vector; `value` is a number or a list of them."""
        values = value if isinstance(value, list) else [value] * lanes
        return ir.Constant(ir.VectorType(element, lanes), values)

    def byte(self, integer, lanes):
        """Return a vector of bytes that all hold an int64's lowest byte."""
        return self.splat(self.builder.trunc(integer, _BYTE), lanes)

    def variable(self, value):
        """Return a slot that holds a vector across the iterations of a loop."""
        return cgutils.alloca_once_value(self.builder, value)

    def repeat(self, count, body):
        """Emit a loop around body(index), index 0 ... count - 1."""
        with cgutils.for_range(self.builder, count) as loop:
            body(loop.index)

    def unrolled(self, count, body, common):
        """Emit body(numbers) where `numbers(step)` runs step(index) for 0 ... count - 1.

        The body is emitted once for each of the `common` counts, with its steps unrolled, and once
        with a loop.
        """
        b = self.builder
        if not common:
            body(lambda step: self.repeat(count, step))
            return
        with b.if_else(b.icmp_signed("==", count, _WORD(common[0]))) as (then, otherwise):
            with then:
                body(lambda step: [step(_WORD(index)) for index in range(common[0])])
            with otherwise:
                self.unrolled(count, body, common[1:])

    def sum_bytes(self, value):
        """Return the sum of a vector of bytes as an int64."""
        wide = self.builder.zext(value, ir.VectorType(ir.IntType(16), value.type.count))
        return self._reduce(wide)

    def _reduce(self, value):
        kind = value.type
        name = f"llvm.vector.reduce.add.v{kind.count}i{kind.element.width}"
        function = cgutils.get_or_insert_function(
            self.builder.module, ir.FunctionType(kind.element, [kind]), name
        )
        total = self.builder.call(function, [value])
        return self.builder.zext(total, _WORD) if kind.element.width < 64 else total

    def count_bits(self, value):
        """Return the number of ones in each byte of a vector."""
        kind = value.type
        name = f"llvm.ctpop.v{kind.count}i{kind.element.width}"
        function = cgutils.get_or_insert_function(
            self.builder.module, ir.FunctionType(kind, [kind]), name
        )
        return self.builder.call(function, [value])

    def sum_words(self, value):
        """Return the sum of a vector of int64."""
        return self._reduce(value)

    def below(self, count, lanes):
        """Return the mask of the first `count` lanes (an int64, any size)."""
        high = ir.Constant(_WORD, lanes)
        inside = self.builder.icmp_signed("<", count, high)
        numbers = self.constant(_BYTE, lanes, list(range(lanes)))
        return self.builder.icmp_unsigned(
            "<", numbers, self.byte(self.builder.select(inside, count, high), lanes)
        )


def vector_operation(returns):
    """Make an intrinsic of `emit(e, *arguments)`: arrays as (type, value), integers as int64."""

    def decorate(emit):
        def typed(typingctx, *given):
            kinds = [types.intp if isinstance(kind, types.Integer) else kind for kind in given]

            def codegen(context, builder, sig, args):
                e = Emitter(context, builder)
                parts = [
                    (kind, value) if isinstance(kind, types.Array) else value
                    for kind, value in zip(sig.args, args, strict=True)
                ]
                result = emit(e, *parts)
                return context.get_dummy_value() if returns == types.void else result

            return returns(*kinds), codegen

        # Numba binds arguments by name: take the names of `emit`, with the typing context for its
        # emitter.
        typed.__signature__ = inspect.signature(emit)
        typed.__name__ = emit.__name__
        typed.__doc__ = emit.__doc__
        return intrinsic(typed)

    return decorate


@vector_operation(types.void)
def fetch_ahead(e, array, first, last):
    """Ask for array[first:last] to be brought into the cache."""
    b = e.builder
    data = e.context.make_array(array[0])(e.context, b, array[1]).data
    size = _WORD(array[0].dtype.bitwidth // 8)
    byte = _BYTE.as_pointer()
    start = b.bitcast(b.gep(data, [first]), byte)
    lines = b.udiv(b.mul(b.sub(last, first), size), _WORD(_LINE))
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    prefetch = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch.p0")

    def line(number):
        # To be read (0), into the second-level cache (2), data (1).
        b.call(prefetch, [b.gep(start, [b.mul(number, _WORD(_LINE))]), flag(0), flag(2), flag(1)])

    e.repeat(lines, line)
