"""Kinds of Arrow's types."""

from typing import Any

import pyarrow as pa

__all__ = ["is_list", "is_number", "is_text"]


def is_text(kind: Any) -> bool:
    """Whether values are text."""
    kinds = pa.types
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether values are numbers."""
    kinds = pa.types
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


def is_list(kind: Any) -> bool:
    """Whether values are lists."""
    kinds = pa.types
    return bool(
        kinds.is_list(kind)
        or kinds.is_large_list(kind)
        or kinds.is_fixed_size_list(kind)
        or kinds.is_list_view(kind)
        or kinds.is_large_list_view(kind)
    )
