"""Typed pointers into arrays for compiled code.

Numba counts references of arrays, which costs more than a short dot product. Whoever makes a pointer keeps
its array alive and stays within its length.
"""

from typing import Any

from llvmlite import ir
from numba import types

from stream_rank.engine.jit import intrinsic

__all__ = ["as_element", "get", "pointer", "prefetch", "put", "shift"]


@intrinsic
def pointer(typingctx: Any, memory: Any, offset: Any, kind: Any) -> Any:
    """A pointer to numbers of `kind` (a dtype), `offset` bytes into an array."""
    result = types.CPointer(kind.dtype)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(start, [args[1]]), context.get_value_type(result))

    return result(memory, types.int64, kind), build


@intrinsic
def shift(typingctx: Any, base: Any, count: Any) -> Any:
    """The pointer `count` numbers further on."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return base(base, types.int64), build


@intrinsic
def get(typingctx: Any, base: Any, index: Any) -> Any:
    """The number at `index`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.gep(args[0], [args[1]]))

    return base.dtype(base, types.int64), build


@intrinsic
def prefetch(typingctx: Any, base: Any, index: Any) -> Any:
    """Have the number at `index` brought into the cache, without waiting for it."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        place = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        builder.call(
            fetch, [place, *(word(number) for number in (0, 3, 1))]
        )  # to read, often, data
        return context.get_dummy_value()

    return types.void(base, types.int64), build


@intrinsic
def put(typingctx: Any, base: Any, index: Any, value: Any) -> Any:
    """Store `value` at `index`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(base, types.int64, base.dtype), build


@intrinsic
def as_element(typingctx: Any, base: Any, number: Any) -> Any:
    """`number` (a double) in the type that a pointer points to."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.cast(builder, args[1], types.float64, base.dtype)

    return base.dtype(base, types.float64), build
