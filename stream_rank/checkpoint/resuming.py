"""Finding the snapshot to resume from."""

from collections.abc import Callable

from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import SnapshotError

__all__ = ["newest_sound"]


def newest_sound(
    store: SnapshotStore, older: bool, say: Callable[[str], object]
) -> Snapshot | None:
    """The latest snapshot; if it is corrupt and `older` is set, the newest valid one. None if there is none."""
    last: SnapshotError | None = None
    for name in store.newest_first():
        try:
            return store.read(name)
        except SnapshotError as error:
            if not older:
                raise SnapshotError(
                    f"{error}. With `on_corrupt_snapshot` = older the newest sound one is taken, and what came after it "
                    "is learned again"
                ) from None
            say(f"{error}; trying an older one")
            last = error
    if last is not None:
        raise SnapshotError(f"no snapshot in {store.url} can be trusted; the oldest: {last}")
    return None
