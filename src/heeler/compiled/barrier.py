"""A barrier for threads that run the same kernel, cheap enough to be met twice in a millisecond.

An operating system's barrier costs 58 us, as long as a whole pass of a small lattice; this one
spins on an atomic counter and gives its core away only when it waits long (more threads than
cores).
"""

import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# About 20 us of spinning: longer than bands of equal work differ, shorter than a time slice.
_PATIENCE = 4096
_WORD = ir.IntType(64)


def _yield_processor(builder):
    if sys.platform == "win32":
        name = "SwitchToThread"
    else:
        name = "sched_yield"
    kind = ir.FunctionType(ir.IntType(32), [])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])


@intrinsic
def wait_for_all(typingctx, gate, parties):
    """Return when `parties` threads have called this with the same gate.

    The gate is an int64 array that starts at 0. gate[0] counts arrivals for ever: the arrival with
    ticket t may go on when the count reaches the next multiple of the number of parties, so the
    gate needs no reset and no sense reversal.
    """
    signature = types.void(gate, types.intp)

    def codegen(context, builder, sig, args):
        pointer = context.make_array(sig.args[0])(context, builder, args[0]).data
        parties = args[1]
        one = ir.Constant(_WORD, 1)
        ticket = builder.atomic_rmw("add", pointer, one, "acq_rel")
        round_number = builder.add(builder.sdiv(ticket, parties), one)
        target = builder.mul(round_number, parties)
        spins = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 0))
        check = builder.append_basic_block("gate.check")
        spin = builder.append_basic_block("gate.spin")
        rest = builder.append_basic_block("gate.rest")
        done = builder.append_basic_block("gate.done")
        builder.branch(check)
        builder.position_at_end(check)
        seen = builder.load_atomic(pointer, "acquire", 8)
        builder.cbranch(builder.icmp_signed(">=", seen, target), done, spin)
        builder.position_at_end(spin)
        count = builder.add(builder.load(spins), one)
        builder.store(count, spins)
        builder.cbranch(builder.icmp_signed(">", count, ir.Constant(_WORD, _PATIENCE)), rest, check)
        builder.position_at_end(rest)
        _yield_processor(builder)
        builder.branch(check)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return signature, codegen
