"""The exponential of every lane of a vector, with the bits of `functions.exponential`.

Cost: some forty instructions, for eight lanes as for one.
"""

from typing import Any

from llvmlite import ir

from stream_rank.engine.functions import (
    _LARGEST,
    _LN2_HIGH,
    _LN2_LOW,
    _LOG2_E,
    _SMALLEST,
    _TAYLOR,
)
from stream_rank.engine.jit import inlined, intrinsic
from stream_rank.engine.lanes import spread, where

__all__ = ["exponential_each", "logistic_each"]


@intrinsic
def _floor(typingctx: Any, vector: Any) -> Any:
    """The largest whole number up to each lane."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, name = args[0].type, f"llvm.floor.v{vector.lanes}f{vector.element.bitwidth}"
        known = builder.module.globals.get(name)
        function = known or ir.Function(builder.module, ir.FunctionType(kind, [kind]), name)
        return builder.call(function, args)

    return vector(vector), build


@intrinsic
def _power_of_two(typingctx: Any, vector: Any) -> Any:
    """Two to the power of each lane, which is a whole number from -1022 to 1023."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def all_of(width: int, number: int) -> Any:
            kind = ir.VectorType(ir.IntType(width), vector.lanes)
            return ir.Constant(kind, [number] * vector.lanes)

        # as 32 bits first: every processor makes those of doubles at once
        power = builder.fptosi(args[0], all_of(32, 0).type)
        power = builder.zext(builder.add(power, all_of(32, 1023)), all_of(64, 0).type)
        return builder.bitcast(builder.shl(power, all_of(64, 52)), args[0].type)

    return vector(vector), build


@inlined
def exponential_each(x):
    """`e**x` of every lane, as `functions.exponential` has it."""
    x = where(x < spread(_SMALLEST), spread(_SMALLEST), x)
    x = where(spread(_LARGEST) < x, spread(_LARGEST), x)
    k = _floor(x * spread(_LOG2_E) + spread(0.5))
    r = (x - k * spread(_LN2_HIGH)) - k * spread(_LN2_LOW)
    series = spread(_TAYLOR[0])
    for coefficient in _TAYLOR[1:]:
        series = spread(coefficient) + r * series
    return series * _power_of_two(k)


@inlined
def logistic_each(x):
    """`1 / (1 + exp(-x))` of every lane."""
    negative, one = x < spread(0.0), spread(1.0)
    tail = exponential_each(where(negative, x, spread(0.0) - x))
    return where(negative, tail, one) / (one + tail)
