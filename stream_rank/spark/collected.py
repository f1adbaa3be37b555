"""A sink that keeps its items until somebody takes them."""

from typing import Generic, TypeVar

from stream_rank.sinks.sink import NullSink

__all__ = ["Collected"]

Item = TypeVar("Item")


class Collected(NullSink, Generic[Item]):
    """Items of the records at hand. Spark writes them with the state, or neither, so there is nothing to flush or to mark."""

    unit = "rows"

    def __init__(self) -> None:
        self._items: list[Item] = []

    def put(self, item: Item) -> None:  # type: ignore[override]
        """Keep an item."""
        self._items.append(item)

    def taken(self) -> list[Item]:
        """The items so far, which are kept no more."""
        items, self._items = self._items, []
        return items
