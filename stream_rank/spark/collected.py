"""A sink that keeps its items until somebody takes them."""

from typing import Generic, TypeVar

__all__ = ["Collected"]

Item = TypeVar("Item")


class Collected(Generic[Item]):
    """Items of the records at hand. Spark writes them with the state, or neither, so there is nothing to flush or to mark."""

    unit = "rows"

    def __init__(self) -> None:
        self._items: list[Item] = []

    def put(self, item: Item) -> None:
        """Keep an item."""
        self._items.append(item)

    def taken(self) -> list[Item]:
        """The items so far, which are kept no more."""
        items, self._items = self._items, []
        return items

    def push(self) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing."""

    def mark(self) -> int:
        """Always 0."""
        return 0

    def restore(self, mark: int | None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
