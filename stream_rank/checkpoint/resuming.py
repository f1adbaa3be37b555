"""Finding the snapshot to resume from."""

import time
from collections.abc import Callable
from typing import TypeVar

from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import SnapshotError, SnapshotReadError
from stream_rank.ingest.backoff import Backoff

__all__ = ["newest_sound", "patiently"]

Found = TypeVar("Found")

_PATIENCE_SECONDS = 60.0
"""For a store that is away at the start: a network that comes up after us does within seconds, and whoever starts us again, or
waits for /livez, should see us end before the patience of its own does (that of the Kubernetes manifests is two minutes)."""


def newest_sound(
    store: SnapshotStore,
    older: bool,
    say: Callable[[str], object],
    read: Callable[[str], Snapshot] | None = None,
) -> Snapshot | None:
    """The latest snapshot; if it is corrupt and `older` is set, the newest valid one. None if there is none.

    `read` is asked for snapshots instead of the store, if some are known already.

    A store that cannot be reached is a `SnapshotReadError` and never answered by an older snapshot: the newest may be sound.
    """
    last: SnapshotError | None = None
    for name in store.newest_first():
        try:
            return (read or store.read)(name)
        except SnapshotReadError:
            raise
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


def patiently(
    find: Callable[[], Found],
    backoff: Backoff,
    stopped: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], object] = time.sleep,
) -> Found:
    """What `find` returns once the store can be reached; its `SnapshotReadError` after a minute of attempts, or if `stopped`."""
    end = clock() + _PATIENCE_SECONDS
    while True:
        try:
            found = find()
        except SnapshotReadError as error:
            seconds = backoff.failed(str(error))
            if stopped() or clock() + seconds >= end:
                raise
            wait(seconds)
        else:
            backoff.succeeded()
            return found
