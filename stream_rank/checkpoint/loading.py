"""Loading the parts of a run from a snapshot."""

from collections.abc import Collection, Iterable

from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.stateful import Stateful
from stream_rank.errors import SnapshotError

__all__ = ["load_parts"]


def load_parts(
    parts: Iterable[Stateful], snapshot: Snapshot, may_be_new: Collection[str] = ()
) -> None:
    """Load the state of each part; one whose key `may_be_new` begins if the snapshot has none of it."""
    for part in parts:
        if part.key in may_be_new and part.key not in snapshot.keys:
            continue
        try:
            part.load(snapshot.part(part.key))
        except (
            *(KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError),
            MemoryError,
        ) as error:
            raise SnapshotError(
                f"the snapshot's {part.key} does not fit this run: {error!r}"
            ) from error
