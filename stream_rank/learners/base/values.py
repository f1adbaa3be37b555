"""What people send as an event's features (numbers, text, lists, nested objects), written out as numbers by name."""

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from stream_rank.errors import FeatureError
from stream_rank.learners.base.numbers import as_number

__all__ = ["LONGEST_NAME", "LONGEST_TEXT", "MOST_NESTED", "category_text", "features_of"]

LONGEST_TEXT = 200
"""Characters of the longest text that names a category; what is longer is prose, of which no value comes twice."""
LONGEST_NAME = 512
"""Characters of the longest name under which several values may stand: each of them is written out with all of it."""
MOST_NESTED = 64
"""As many objects may stand one in the other: parsers of JSON differ in how many more they would take."""


def features_of(
    x: Mapping[Any, Any], categories: Collection[Hashable] = ()
) -> dict[Hashable, float]:
    """An event's features as numbers by name.

    A number and a boolean are their value, and text is the indicator `name=value`, which is 1; a list of texts is several
    indicators. What stands in a nested object is named with dots. None and empty values are missing, and so is text of more
    than `LONGEST_TEXT` characters. Numbers whose name is in `categories` are names themselves.

    Cost: O(values).

    >>> features_of({"price": 9, "brand": "ann", "tags": ["new", "red"], "size": {"w": 2.0}, "note": None})
    {'price': 9.0, 'brand=ann': 1.0, 'tags=new': 1.0, 'tags=red': 1.0, 'size.w': 2.0}
    >>> features_of({"user": 17, "price": 9}, categories=["user"])
    {'user=17': 1.0, 'price': 9.0}
    """
    found: dict[Hashable, float] = {}
    for name, value in x.items():
        # most are plain numbers and texts, which are not worth a call
        if type(value) is float and name not in categories and name not in found:
            found[name] = value + 0.0
        elif type(value) is str and (text := category_text(name, value)):
            _add(found, f"{name}={text}", 1.0)
        else:
            _write_out(found, name, value, categories, 0)
    return found


def _write_out(
    found: dict[Hashable, float],
    name: Hashable,
    value: Any,
    categories: Collection[Hashable],
    depth: int,
) -> None:
    """Add what stands under a name, which may be several features."""
    if value is None:
        return
    if isinstance(value, str):
        text = category_text(name, value)
        if text:
            _add(found, f"{name}={text}", 1.0)
    elif isinstance(value, Mapping):
        _check_length(name)
        if depth >= MOST_NESTED:
            raise FeatureError(
                f"feature {str(name)[:40]!r} stands in more than {MOST_NESTED} objects, one in the other"
            )
        for inner, part in value.items():
            _write_out(found, f"{name}.{inner}", part, categories, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        _check_length(name)
        # of a set, in an order that depends on nothing but the texts
        parts = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        if name not in categories and not all(isinstance(part, str) for part in parts):
            raise FeatureError(
                f"feature {name!r} is a list of more than texts; give numbers names of their own, as in "
                f"'{name}.0', or list it in `categories`"
            )
        for text in dict.fromkeys(category_text(name, part) for part in parts):
            if text:
                _add(found, f"{name}={text}", 1.0)
    elif name in categories:
        _add(found, f"{name}={category_text(name, value)}", 1.0)
    else:
        _add(found, name, _number(name, value))


def _check_length(name: Hashable) -> None:
    length = len(str(name))
    if length > LONGEST_NAME:
        raise FeatureError(
            f"the feature {str(name)[:40]!r}... has a name of {length:,} characters; at most {LONGEST_NAME} are needed"
        )


def _add(found: dict[Hashable, float], name: Hashable, value: float) -> None:
    if name in found:
        raise FeatureError(f"feature {name!r} stands in the event twice")
    found[name] = value


def category_text(name: Hashable, value: Any) -> str:
    """What a category's value is called; empty if it names nothing.

    >>> category_text("user", 17.0), category_text("user", "17"), category_text("note", " ")
    ('17', '17', '')
    """
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT and not value.isspace() else ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):  # an id of 64 bits is no double
        return str(value)
    number = _number(name, value)
    if number != number or number in (float("inf"), float("-inf")):
        raise FeatureError(f"feature {name!r} is {number}, which names nothing")
    return str(int(number)) if number == int(number) else repr(number)


def _number(name: Hashable, value: Any) -> float:
    try:
        return as_number(value) + 0.0
    except (TypeError, ValueError, OverflowError):
        raise FeatureError(
            f"feature {name!r} is {value!r:.60}; a number, text, a list of texts or an object of these is needed"
        ) from None
