"""What is kept, predicted or printed is computed by the engine, not by libraries whose answers depend on the processor."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "stream_rank"

LINEAR_ALGEBRA = {
    *("convolve", "corrcoef", "correlate", "cov", "dot", "einsum", "inner", "kron", "linalg"),
    *("lstsq", "matmul", "matvec", "polyfit", "tensordot", "trace", "vdot", "vecdot", "vecmat"),
}
"""BLAS and LAPACK: their loops, and so the order of sums, are chosen by the processor."""

SUMS = {"average", "mean", "nanmean", "nansum", "prod", "reduce", "std", "sum", "var"}
"""NumPy's sums, whose order is its own; exact where all of them are whole numbers."""

FUNCTIONS = {
    *("acos", "acosh", "arccos", "arcsin", "arctan", "arctan2", "asin", "atan", "atan2", "cbrt"),
    *("cos", "cosh", "erf", "exp", "exp2", "expm1", "gamma", "hypot", "lgamma", "log", "log10"),
    *("log1p", "log2", "logaddexp", "pow", "power", "sin", "sinh", "tan", "tanh"),
}
"""The machine's mathematical library. Square roots, quotients and remainders are exact everywhere."""

WHOLE = "whole numbers, whose sum is exact in any order"
LATER = "not exact yet: the engine has no such function of its own"
DRAWN = "a drawing's scale: where lines stand, no number that is shown"
PROMISED = "a promise of theory, of which three digits are read"
POWERS = "powers of two or of ten that are exact, of which the library makes no other"
ALLOWED = {
    ("engine/reading/decimals.py", "**"): POWERS,
    ("monitoring/observer.py", "**"): POWERS,
    ("ingest/backoff.py", "**"): POWERS,
    ("config/settings.py", "**"): POWERS,
    ("evaluation/rank_baseline.py", "sum"): WHOLE,
    ("engine/functions.py", "**"): "a fraction of whole numbers, which is exact",
    ("kernels.py", "**"): LATER,
    ("report/scale.py", "**"): DRAWN,
    ("features/polynomial_features.py", "**"): "a fraction's power, which is exact",
    ("features/polynomial_features.py", "prod"): "one product after the other, in Python's order",
    ("engine/memory.py", "prod"): WHOLE,
    ("learners/models/family.py", "sum"): WHOLE,
    ("learners/tables/rows.py", "sum"): WHOLE,
    ("evaluation/board.py", "mean"): WHOLE,
    ("bounds/bound.py", "log"): PROMISED,
    ("bounds/general.py", "**"): PROMISED,
    ("bounds/general.py", "log"): PROMISED,
    ("bounds/kernel_rankers.py", "**"): PROMISED,
    ("codec/orders.py", "sum"): WHOLE,
    ("codec/decoder.py", "sum"): WHOLE,
    ("codec/column_entries.py", "sum"): WHOLE,
    ("contestants/prepared_learner.py", "sum"): WHOLE,
    ("codec/id_check.py", "sum"): "a hint, for which the last digits make no difference",
    ("pipeline/label_order.py", "sum"): "a hint, for which the last digits make no difference",
    ("codec/orders_decoder.py", "sum"): WHOLE,
    ("features/feature_stage.py", "sum"): WHOLE,
    ("ingest/files/csv_table.py", "sum"): WHOLE,
    ("spark/progress.py", "sum"): "Spark's, of counts and of losses that are shown",
    ("ingest/files/item_columns.py", "sum"): WHOLE,
    ("ingest/files/item_lists.py", "sum"): WHOLE,
    ("pipeline/time_filter.py", "sum"): WHOLE,
    ("pipeline/loop.py", "sum"): WHOLE,
    ("pipeline/waiting_room.py", "sum"): WHOLE,
    ("engine/support.py", "exp"): LATER,
    ("learners/models/centred.py", "log"): LATER,
    ("metrics/rankings.py", "log2"): LATER,
    ("evaluation/scoreboard.py", "log10"): "a guess that is corrected, whatever it was",
    ("evaluation/scoreboard.py", "pow"): LATER,
    ("report/scale.py", "log10"): DRAWN,
}
"""What may be used, by file and name, and why."""
REFERENCES = "batch"
"""A folder of batch methods by LAPACK: what a stream is compared with, to so many digits; nothing of it is kept or recorded."""


def _whole(exponent: ast.expr) -> bool:
    if isinstance(exponent, ast.UnaryOp):
        return _whole(exponent.operand)
    return isinstance(exponent, ast.Constant) and isinstance(exponent.value, int)


def used(source: str) -> Iterator[str]:
    """The names of what a module takes from such libraries."""
    wanted = LINEAR_ALGEBRA | SUMS | FUNCTIONS
    libraries = ("np", "numpy", "math", "scipy", "cmath")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield "@"
        elif (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _whole(node.right)
        ):
            yield "**"
        elif isinstance(node, ast.Attribute):
            of_library = isinstance(node.value, ast.Name) and node.value.id in libraries
            if node.attr in LINEAR_ALGEBRA or (of_library and node.attr in wanted):
                yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in SUMS:
                yield node.func.attr
        elif isinstance(node, ast.Import):
            yield from ("linalg" for each in node.names if "linalg" in each.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(libraries):
            yield from ("linalg" for part in [node.module or ""] if "linalg" in part)
            yield from (each.name for each in node.names if each.name in wanted)


@pytest.mark.parametrize(
    "source",
    [
        *("a @ b", "a @= b", "np.dot(a, b)", "a.dot(b)", "np.linalg.norm(a)", "np.einsum('i', a)"),
        *("from numpy import dot", "from scipy.linalg import solve", "import numpy.linalg"),
        *("from math import exp", "math.log(2)", "np.cos(a)", "a.mean()", "np.add.reduce(a)"),
        *("a**0.5", "a**b"),
    ],
)
def test_the_scan_finds(source: str) -> None:
    assert [*used(source)]


def test_the_scan_passes_the_engines_own() -> None:
    source = (
        "from stream_rank.engine.sums import dot\ndot(a, b, 8)\nmath.sqrt(2.0)\nmath.fsum(a)\na**2"
    )
    assert not [*used(source)]


def test_only_what_is_exact_or_has_a_reason_is_used() -> None:
    """Use `engine.products` or `engine.sums`; if a number is exact all the same, say why in `ALLOWED`."""
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] != REFERENCES
        for name in used(path.read_text())
    }
    assert found == ALLOWED.keys()
