"""Sentences about searches: which candidates are left, and which went when."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

__all__ = ["in_search"]


def in_search(searches: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Of each search.

    >>> dropped = [{"name": "prank:a=2", "after": 2000, "loss": 0.5}, {"name": "prank:a=3", "after": 4000, "loss": 0.25}]
    >>> print(*in_search([{"search": "prank:a=1..3", "left": ["prank:a=1"], "dropped": dropped}]), sep="\\n")
    Of the 3 candidates of prank:a=1..3 is left: prank:a=1.
    Gone after 2,000 events: prank:a=2 (0.5000); after 4,000 events: prank:a=3 (0.2500).
    """
    for each in searches:
        count = len(each["left"]) + len(each["dropped"])
        verb = "is" if len(each["left"]) == 1 else "are"
        yield f"Of the {count} candidates of {each['search']} {verb} left: {', '.join(each['left'])}."
        parts = []
        for after, gone in groupby(each["dropped"], key=lambda one: int(one["after"])):
            names = ", ".join(f"{one['name']} ({one['loss']:.4f})" for one in gone)
            parts.append(f"after {after:,} events: {names}")
        if parts:
            yield f"Gone {'; '.join(parts)}."
