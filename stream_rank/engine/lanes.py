"""Vectors of numbers and masks for compiled code.

The vectors are values of Numba's: `load(p, i) * load(q, i)` stays in a register. What they are loaded
from is as long as whole vectors.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, overload, register_model

from stream_rank.engine.jit import intrinsic

__all__ = [
    "WIDTH_BYTES",
    "Vector",
    "but_not",
    "count",
    "fused",
    "list_bits",
    "load",
    "moved_up",
    "ramp",
    "root",
    "running",
    "scalar",
    "spread",
    "store",
    "total",
    "total_each",
    "totals",
    "where",
]

WIDTH_BYTES = 64
"""One cache line, and one register of AVX-512; narrower machines use several registers."""

_INT32, _INT64 = ir.IntType(32), ir.IntType(64)


class Vector(types.Type):
    """As many numbers of one type as 64 bytes hold."""

    def __init__(self, element: types.Float) -> None:
        self.element = element
        self.lanes = WIDTH_BYTES * 8 // element.bitwidth
        super().__init__(f"vector({self.lanes} x {element})")


class Mask(types.Type):
    """One bit for each lane of a vector."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(f"mask({lanes})")


def scalar(element: types.Float) -> ir.Type:
    """LLVM's type of a number."""
    return ir.FloatType() if element is types.float32 else ir.DoubleType()


def _vector(kind: Vector) -> ir.Type:
    return ir.VectorType(scalar(kind.element), kind.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, _vector(kind))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Mask) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.lanes))


@intrinsic
def load(typingctx: Any, base: Any, index: Any, like: Any) -> Any:
    """A vector of the type of the number `like`, from `index` on; single precision is widened to double."""
    kind = Vector(like)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored = ir.VectorType(scalar(base.dtype), kind.lanes)
        place = builder.bitcast(builder.gep(args[0], [args[1]]), stored.as_pointer())
        loaded = builder.load(place, align=base.dtype.bitwidth // 8)
        return loaded if base.dtype is like else builder.fpext(loaded, _vector(kind))

    return kind(base, types.int64, like), build


@intrinsic
def store(typingctx: Any, base: Any, index: Any, vector: Any) -> Any:
    """Write a vector to `index` on."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.bitcast(builder.gep(args[0], [args[1]]), _vector(vector).as_pointer())
        builder.store(args[2], place, align=base.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(base, types.int64, vector), build


def _everywhere(builder: Any, number: Any, kind: Vector) -> Any:
    unset = ir.Constant(_vector(kind), ir.Undefined)
    first = builder.insert_element(unset, number, ir.Constant(_INT32, 0))
    pattern = ir.Constant(ir.VectorType(_INT32, kind.lanes), None)
    return builder.shuffle_vector(first, unset, pattern)


@intrinsic
def spread(typingctx: Any, number: Any) -> Any:
    """A vector of nothing but `number`."""
    kind = Vector(number)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _everywhere(builder, args[0], kind)

    return kind(number), build


def _fold(builder: Any, vector: Any, lanes: int) -> Any:
    """Add the upper half of the lanes to the lower half until one is left."""
    unset = ir.Constant(vector.type, ir.Undefined)
    while lanes > 1:
        lanes //= 2
        lower, upper = (
            ir.Constant(ir.VectorType(_INT32, lanes), list(range(first, first + lanes)))
            for first in (0, lanes)
        )
        vector = builder.fadd(
            builder.shuffle_vector(vector, unset, lower),
            builder.shuffle_vector(vector, unset, upper),
        )
        unset = ir.Constant(vector.type, ir.Undefined)
    return builder.extract_element(vector, ir.Constant(_INT32, 0))


@intrinsic
def total(typingctx: Any, vector: Any) -> Any:
    """The sum of a vector's lanes, halves onto halves."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], vector.lanes)

    return vector.element(vector), build


def _moved_up(builder: Any, vector: Any, distance: int) -> Any:
    """The lanes of a vector moved up, and zeros coming in."""
    lanes = vector.type.count
    pattern = ir.Constant(
        ir.VectorType(_INT32, lanes), [lanes - distance + i for i in range(lanes)]
    )
    return builder.shuffle_vector(ir.Constant(vector.type, None), vector, pattern)


@intrinsic
def moved_up(typingctx: Any, vector: Any) -> Any:
    """The lanes of a vector, each one place higher; the first is zero."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _moved_up(builder, args[0], 1)

    return vector(vector), build


@intrinsic
def running(typingctx: Any, vector: Any) -> Any:
    """The sums of a vector's first lane, its first two, ... all of them."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (sums,) = args
        for step in range(vector.lanes.bit_length() - 1):
            sums = builder.fadd(sums, _moved_up(builder, sums, 1 << step))
        return sums

    return vector(vector), build


def _totals_of(builder: Any, parts: list[Any], run: int) -> Any:
    """The totals of eight vectors of `run` lanes, as a vector: half onto half, as each would be alone."""
    n_rows = len(parts)

    def chosen(a: Any, b: Any, lanes: list[int]) -> Any:
        pattern = ir.Constant(ir.VectorType(_INT32, len(lanes)), lanes)
        return builder.shuffle_vector(a, b, pattern)

    while run > 1:  # every part holds runs of this many lanes, a run a row
        width, run = parts[0].type.count, run // 2
        low = [first + i for first in range(0, width, 2 * run) for i in range(run)]
        pairs = [(part, part) for part in parts]
        if width == n_rows and len(parts) > 1:
            pairs = list(zip(parts[::2], parts[1::2], strict=True))
            low += [width + i for i in low]
        high = [run + i for i in low]
        parts = [builder.fadd(chosen(a, b, low), chosen(a, b, high)) for a, b in pairs]
    return parts[0]


@intrinsic
def total_each(
    typingctx: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any
) -> Any:
    """The totals of eight vectors of doubles, as a vector."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _totals_of(builder, list(args), a.lanes)

    return a(a, b, c, d, e, f, g, h), build


@intrinsic
def totals(typingctx: Any, base: Any, stride: Any, rows: Any, factors: Any) -> Any:
    """The totals of `load(base, rows[i] * stride) * factors` for 8 rows, as a vector of doubles.

    Each is summed as `total` does; eight at a time need a third of the instructions.
    """
    result, n_rows, element = Vector(types.float64), 8, factors.element

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start, step, which, x = args

        parts = []
        for i in range(n_rows):
            row = builder.zext(builder.load(builder.gep(which, [_INT64(i)])), _INT64)
            place = builder.gep(start, [builder.mul(step, row)])
            place = builder.bitcast(place, _vector(factors).as_pointer())
            parts.append(builder.fmul(builder.load(place, align=element.bitwidth // 8), x))
        sums = _totals_of(builder, parts, factors.lanes)
        return sums if element is types.float64 else builder.fpext(sums, _vector(result))

    return result(base, types.int64, rows, factors), build


def _operator(
    symbol: Any, emit: Callable[[Any, Any, Any], Any], operands: Any, result: Any
) -> None:
    """Give vectors or masks the operator `symbol`."""

    @intrinsic
    def apply(typingctx: Any, left: Any, right: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, args[0], args[1])

        return result(left)(left, right), build

    @overload(symbol, inline="always")
    def choose(left, right):
        if isinstance(left, operands) and left == right:
            return lambda left, right: apply(left, right)
        return None


_operator(operator.add, lambda b, x, y: b.fadd(x, y), Vector, lambda kind: kind)
_operator(operator.sub, lambda b, x, y: b.fsub(x, y), Vector, lambda kind: kind)
_operator(operator.mul, lambda b, x, y: b.fmul(x, y), Vector, lambda kind: kind)
_operator(operator.truediv, lambda b, x, y: b.fdiv(x, y), Vector, lambda kind: kind)
_operator(operator.lt, lambda b, x, y: b.fcmp_ordered("<", x, y), Vector, lambda k: Mask(k.lanes))
_operator(operator.le, lambda b, x, y: b.fcmp_ordered("<=", x, y), Vector, lambda k: Mask(k.lanes))
_operator(operator.and_, lambda b, x, y: b.and_(x, y), Mask, lambda kind: kind)


@intrinsic
def fused(typingctx: Any, left: Any, right: Any, more: Any) -> Any:
    """`left * right + more` of vectors, rounded once: one instruction, and where a processor has none the same bits, slowly."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, name = _vector(left), f"llvm.fma.v{left.lanes}f{left.element.bitwidth}"
        known = builder.module.globals.get(name)
        function = known or ir.Function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, args)

    return left(left, right, more), build


@intrinsic
def root(typingctx: Any, vector: Any) -> Any:
    """The square root of every lane, which IEEE 754 defines to the bit."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, name = _vector(vector), f"llvm.sqrt.v{vector.lanes}f{vector.element.bitwidth}"
        known = builder.module.globals.get(name)
        function = known or ir.Function(builder.module, ir.FunctionType(kind, [kind]), name)
        return builder.call(function, args)

    return vector(vector), build


@intrinsic
def ramp(typingctx: Any, first: Any) -> Any:
    """The vector `first, first + 1, ...`."""
    kind = Vector(first)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        steps = ir.Constant(_vector(kind), [float(i) for i in range(kind.lanes)])
        return builder.fadd(_everywhere(builder, args[0], kind), steps)

    return kind(first), build


@intrinsic
def count(typingctx: Any, mask: Any) -> Any:
    """How many lanes of a mask are set."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.IntType(mask.lanes)
        return builder.zext(builder.ctpop(builder.bitcast(args[0], bits)), _INT64)

    return types.int64(mask), build


@intrinsic
def list_bits(typingctx: Any, base: Any, first: Any, table: Any, byte: Any) -> Any:
    """Write the places of the bits of a byte, plus `first`, to a list of 32-bit numbers; return how many.

    Eight numbers are written, whatever their number: no branch, hence none to mispredict.
    `table[byte]` holds the places as 8 bytes of a word.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, offset, places, bits = args
        eight = ir.VectorType(_INT32, 8)
        word = builder.load(builder.gep(places, [bits]))
        numbers = builder.zext(builder.bitcast(word, ir.VectorType(ir.IntType(8), 8)), eight)
        unset = ir.Constant(eight, ir.Undefined)
        offset = builder.insert_element(
            unset, builder.trunc(offset, _INT32), ir.Constant(_INT32, 0)
        )
        offset = builder.shuffle_vector(offset, unset, ir.Constant(eight, None))
        place = builder.bitcast(to, eight.as_pointer())
        builder.store(builder.add(numbers, offset), place, align=4)
        return builder.ctpop(bits)

    return types.int64(base, types.int64, table, types.int64), build


@intrinsic
def but_not(typingctx: Any, left: Any, right: Any) -> Any:
    """The lanes of one mask that are not in another."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.and_(args[0], builder.not_(args[1]))

    return left(left, right), build


@intrinsic
def where(typingctx: Any, mask: Any, vector: Any, other: Any) -> Any:
    """The lanes of `vector` that are in the mask, the rest from `other`."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return vector(mask, vector, vector), build
