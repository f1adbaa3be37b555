"""Ratings as lines of JSON."""

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["as_json"]


def as_json(names: Sequence[str], values: Any, label: float) -> bytes:
    """A rating as a line of JSON.

    >>> as_json(["a"], [0.5], 3)
    b'{"x": {"a": 0.5}, "y": 3}'
    """
    x = dict(zip(names, map(float, values), strict=True))
    return json.dumps({"x": x, "y": label}).encode()
