"""Doubles as the 64 bits that they are, and back."""

from typing import Any

from llvmlite import ir
from numba import types

from stream_rank.engine.jit import intrinsic

__all__ = ["as_bits", "as_double"]


@intrinsic
def as_bits(typingctx: Any, number: Any) -> Any:
    """The bits of a double."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), build


@intrinsic
def as_double(typingctx: Any, bits: Any) -> Any:
    """The double that has these bits."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), build
