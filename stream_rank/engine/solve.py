"""The weights that solve the equations of least squares with a ridge, in the engine's own order of sums.

A library of linear algebra chooses its loops by the processor, and its last bits with them. Here all sums are
those of `sums`, so the weights have the same bits everywhere.

Equal features are found first, and solved for as one feature that counts as often as there are: they
share their weight equally, to the bit. What is left is factored as `L L'`, always with the feature of which most is
left (Cholesky with complete pivoting). If something certain is left of every feature, the factor gives the weights.
Otherwise `L` has fewer columns than rows, and the solution of least norm is `Q R'**-1 R**-1 Q' b` for `L = Q R`. The same by
Cholesky of `L' L` was measured to lose three to eight times as much where the condition is 1e8 or 1e12, and breaks down
where rounding makes a pivot negative, which cannot happen to `R`. `Q` is made by the modified method of Gram and Schmidt,
a second time where a column lost most of itself.

Cost: d**3 / 3 products, and up to 2 d**3 more where features depend on each other; O(d**2) memory.

References: N. J. Higham. Analysis of the Cholesky decomposition of a semi-definite matrix. Reliable Numerical
Computation, 1990. L. Giraud, J. Langou, M. Rozloznik. The loss of orthogonality in the Gram-Schmidt
orthogonalization process. Computers & Mathematics with Applications, 2005.
"""

import numpy as np

from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled, dot

__all__ = ["solve_ridge"]

_DOUBTFUL = 1e-15
"""What is left of a pivot, for every feature of a matrix with a diagonal of ones, when rounding is all of it."""

_MOST = 0.5
"""Of the square of a column: with less left of it, what is left is made orthogonal once more."""


@inlined
def _whole(count):
    """`count` rounded up to whole vectors."""
    return (count + 7) & -8


@inlined
def _merge(matrix, right, first, times):
    """Find features that are equal: `first[i]` is the number of the one that stands for `i`, which is there `times`.

    The equations of those that stand for others move up; return how many there are.

    Features with the same squares are equal if their product is that square too (Cauchy and Schwarz); by rounding only
    they differ by less than what `_DOUBTFUL` leaves out.
    """
    n_features = first.size
    kept = np.empty(n_features, np.int64)
    squares = np.empty(n_features)
    count = 0
    for i in range(n_features):
        square = matrix[i, i]
        at = 0
        while at < count:
            j = kept[at]
            if squares[at] == square and matrix[i, j] == square and right[i] == right[j]:
                break
            at += 1
        first[i] = at
        if at == count:
            kept[at], squares[at], times[at] = i, square, 0.0
            count += 1
        times[at] += 1.0
    for at in range(count):
        right[at] = right[kept[at]]
        for other in range(count):
            matrix[at, other] = matrix[kept[at], kept[other]]
    return count


@inlined
def _scale(matrix, right, ridge, times, scales, count):
    """Bring features to a square of 1, those that are there more often to as much more; and the ridge into the diagonal."""
    for i in range(count):
        scales[i] = 1.0 / np.sqrt(matrix[i, i] + ridge)
    for i in range(count):
        square = matrix[i, i]
        factor = np.sqrt(times[i]) * scales[i]
        for j in range(i):
            matrix[i, j] = factor * matrix[i, j] * (np.sqrt(times[j]) * scales[j])
            matrix[j, i] = matrix[i, j]
        matrix[i, i] = (times[i] * square + ridge) / (square + ridge)
        right[i] *= factor


@inlined
def _factor(matrix, factor, stride, order, count, limit):
    """Write `L` with `matrix = L L'`, rows where they are and columns in the order of their pivots; return how many are above `limit`."""
    left = np.empty(count)
    for i in range(count):
        left[i], order[i] = get(matrix, i * stride + i), i
    for k in range(count):
        best = k
        for at in range(k + 1, count):
            if left[order[at]] > left[order[best]]:
                best = at
        order[k], order[best] = order[best], order[k]
        pivot = order[k]
        if not left[pivot] > limit:
            return k
        root = np.sqrt(left[pivot])
        row, products = shift(factor, pivot * stride), shift(matrix, pivot * stride)
        for at in range(k + 1, count):
            i = order[at]
            other = shift(factor, i * stride)
            entry = (get(products, i) - dot(other, row, _whole(k))) / root
            put(other, k, entry)
            left[i] -= entry * entry
        put(row, k, root)
    return count


@inlined
def _forward(rows, stride, order, count, values):
    """Solve `L y = values` in place; row `k` of `L` is the one at `order[k]`. Zeros follow the values."""
    for k in range(count):
        row = shift(rows, order[k] * stride)
        value = get(values, k)
        put(values, k, 0.0)  # the row's entry there is its diagonal
        put(values, k, (value - dot(row, values, _whole(k))) / get(row, k))


@inlined
def _backward(rows, stride, order, count, values):
    """Solve `L' x = values` in place; row `k` of `L` is the one at `order[k]`. Zeros follow the values."""
    for at in range(count):
        k = count - 1 - at
        row = shift(rows, order[k] * stride)
        value = get(values, k) / get(row, k)
        add_scaled(values, -value, row, _whole(k))
        put(values, k, value)


@inlined
def _orthogonal(columns, stride, triangle, rank, length):
    """Turn columns into those of `Q`, and write `R'` row by row."""
    for j in range(rank):
        column, row = shift(columns, j * stride), shift(triangle, j * stride)
        for i in range(stride):
            put(row, i, 0.0)
        square = dot(column, column, length)
        for _ in range(2):
            before = square
            for i in range(j):
                other = shift(columns, i * stride)
                part = dot(other, column, length)
                add_scaled(column, -part, other, length)
                put(row, i, get(row, i) + part)
            square = dot(column, column, length)
            if not square < _MOST * before:
                break
        root = np.sqrt(square)
        put(row, j, root)
        for i in range(length):
            put(column, i, get(column, i) / root)


@inlined
def _least_norm(matrix, factor, stride, order, rank, count, values, found):
    """The solution of least norm where `factor` has `rank` columns, in `found`; matrix and factor are spent."""
    length = _whole(count)
    for j in range(rank):
        column = shift(matrix, j * stride)
        for i in range(length):
            put(column, i, get(factor, i * stride + j) if i < count else 0.0)
        order[j] = j
    _orthogonal(matrix, stride, factor, rank, length)
    for j in range(stride):
        part = dot(shift(matrix, j * stride), values, length) if j < rank else 0.0
        put(found, j, part)
    _backward(factor, stride, order, rank, found)
    _forward(factor, stride, order, rank, found)
    for i in range(length):
        put(values, i, 0.0)
    for j in range(rank):
        add_scaled(values, get(found, j), shift(matrix, j * stride), length)
    for i in range(count):
        put(found, i, get(values, i))


@compiled
def solve_ridge(matrix, factor, right, found, ridge):
    """Write `(matrix + ridge * I)**-1 right` to `found`, for a matrix of products of events whose squares are positive.

    Features are brought to one scale first. Where some depend on others, and the ridge is less than the rounding of
    their products, the directions in which nothing was seen are left out: the weights have no part there.

    The rows of `matrix` and `factor`, and `right` and `found`, are as long as whole vectors. `factor` and `found` come as
    zeros; `matrix`, `factor` and `right` are spent.
    """
    n_features, stride = matrix.shape
    first, order = np.empty(n_features, np.int64), np.empty(n_features, np.int64)
    times, scales = np.empty(n_features), np.empty(n_features)
    count = _merge(matrix, right, first, times)
    _scale(matrix, right, ridge, times, scales, count)
    for i in range(count, stride):
        right[i] = 0.0
    products, rows = pointer(matrix, 0, np.float64), pointer(factor, 0, np.float64)
    values, result = pointer(right, 0, np.float64), pointer(found, 0, np.float64)
    rank = _factor(products, rows, stride, order, count, _DOUBTFUL * n_features)
    if rank == count:
        for k in range(count):
            put(result, k, get(values, order[k]))
        _forward(rows, stride, order, count, result)
        _backward(rows, stride, order, count, result)
        for k in range(count):
            put(values, order[k], get(result, k))
    else:
        _least_norm(products, rows, stride, order, rank, count, values, result)
        for i in range(count):
            put(values, i, get(result, i))
    for i in range(n_features):
        at = first[i]
        found[i] = right[at] * (scales[at] / np.sqrt(times[at]))
