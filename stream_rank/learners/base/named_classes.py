"""Classes by the names that specifications and snapshots have for them."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from stream_rank.errors import SnapshotError

__all__ = ["classes_in", "name_among"]


def classes_in(room: str, places: Mapping[str, str]) -> dict[str, type[Any]]:
    """The classes of a room by name, each at a place such as `prank.PRank`.

    >>> classes_in("learners", {"prank": "prank.PRank"})
    {'prank': <class 'stream_rank.learners.prank.PRank'>}
    """
    found = {}
    for name, place in places.items():
        module, _, each = place.partition(".")
        found[name] = getattr(import_module(f"stream_rank.{room}.{module}"), each)
    return found


def name_among(classes: Mapping[str, type[Any]], which: type[Any], what: str) -> str:
    """The name of a class; a `SnapshotError` for one that is not among them."""
    for name, each in classes.items():
        if each is which:
            return name
    raise SnapshotError(
        f"a {which.__name__} cannot be kept; the {what} of stream-rank can: {', '.join(classes)}"
    )
