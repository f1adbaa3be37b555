"""The setting `labels`: the labels of a stream that are not the ranks 1 to N."""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import BeforeValidator

__all__ = ["Labels", "labels_in"]

_MOST = 10_000
_REST = "..."


def _number(given: Any) -> Decimal | None:
    try:
        found = Decimal(str(given))
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found) < Decimal("1e100") else None


def _filled(parts: list[str]) -> list[str]:
    """The list with what `...` stands for: numbers in equal steps."""
    at = parts.index(_REST)
    ends = [_number(part) for part in (*parts[max(0, at - 2) : at], *parts[at + 1 :])]
    if at < 2 or len(ends) != 3 or None in ends:
        raise ValueError(
            "before '...' stand two numbers, and the last one after it, as in 0.5,1,...,5"
        )
    first, second, last = (end for end in ends if end is not None)
    step = second - first
    steps = (last - second) / step if step else Decimal(-1)
    if steps != steps.to_integral_value() or not 1 <= steps <= _MOST:
        raise ValueError(f"{last} is not reached from {second} in steps of {step}")
    return [*parts[:at], *(str(second + step * i) for i in range(1, int(steps) + 1))]


def labels_in(given: Any) -> Any:
    """Labels from text: all numbers, or all texts.

    >>> labels_in("bad,ok,good")
    ['bad', 'ok', 'good']
    >>> labels_in("0.5,1,...,2.5")
    [0.5, 1.0, 1.5, 2.0, 2.5]
    """
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else given
    if not isinstance(parts, list):
        return given
    if any(isinstance(part, bool) or not isinstance(part, str | int | float) for part in parts):
        raise ValueError("labels are numbers or texts")  # true would be taken for 1
    if parts.count(_REST) == 1:
        parts = _filled(parts)
    if not 2 <= len(parts) <= _MOST:
        raise ValueError(
            f"labels are 2 to {_MOST:,}, the lowest first, as in bad,ok,good or 0.5,1,...,5"
        )
    numbers = [_number(part) for part in parts]
    known = [float(number) for number in numbers if number is not None]
    if known and len(known) < len(parts):
        raise ValueError("labels are all numbers, or all texts that are none")
    found: list[Any] = known or parts
    if len(set(found)) < len(found):
        twice = next(each for each in found if found.count(each) > 1)
        raise ValueError(f"the label {twice!r} is given twice")
    if "" in found:
        raise ValueError("a label is empty")
    return found


Labels = Annotated[list[float] | list[str] | None, BeforeValidator(labels_in)]
