"""Saving learners to files, and loading them from files or snapshots."""

import os
from typing import Any

import fsspec

from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.checkpoint.store import SnapshotStore, read_file, write_file
from stream_rank.errors import SnapshotError
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.base.state import digest_of

__all__ = [
    "learner_in",
    "learner_key",
    "learners_in",
    "load",
    "open_snapshot",
    "save",
    "state_digest",
]

_PREFIX = "learners/"


def learner_key(name: str) -> str:
    """The key of a learner's state in a snapshot."""
    return _PREFIX + name


def learner_in(snapshot: Snapshot, name: str) -> Learner:
    """One learner of a snapshot."""
    return learner_from(snapshot.part(learner_key(name)))


def learners_in(snapshot: Snapshot) -> list[str]:
    """The names of the learners in a snapshot."""
    return [key.removeprefix(_PREFIX) for key in snapshot.keys if key.startswith(_PREFIX)]


def state_digest(learner: Learner) -> str:
    """The digest of a learner's state: learners of the same digest behave the same from here on."""
    return digest_of(*learner.dump())


def save(model: Learner, path: str | os.PathLike[str]) -> None:
    """Write a learner to a file, atomically.

    Saving does not change the learner. The file contains no code, and its arrays can be read by everything that reads
    safetensors.

    Parameters
    ----------
    model
        Any learner of stream-rank.
    path
        A file, or a URL that fsspec knows.

    Examples
    --------
    >>> import tempfile, stream_rank
    >>> model = stream_rank.PRank(n_ranks=3)
    >>> model.learn_one({"a": 1.0}, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stream_rank.save(model, f"{folder}/model.safetensors")
    ...     stream_rank.load(f"{folder}/model.safetensors").predict_one({"a": 1.0})
    3
    """
    content = pack(Snapshot.of({learner_key("model"): model.dump()}))
    url = os.fspath(path)
    try:
        system, place = fsspec.core.url_to_fs(url)
        write_file(system, place, content)
    except (OSError, ValueError, ImportError) as error:
        raise SnapshotError(f"{url} cannot be written: {error}") from error


def load(path: str | os.PathLike[str], learner: str | None = None) -> Any:
    """Read a learner from a file that `save` or a run wrote, or from a run's folder of snapshots.

    Parameters
    ----------
    path
        A file, a folder (its latest snapshot is read), or a URL that fsspec knows.
    learner
        Which one, where a run has several.

    Raises
    ------
    SnapshotError
        If the file is damaged, of another kind or of a newer version.

    Examples
    --------
    >>> import stream_rank
    >>> stream_rank.load("nothing.safetensors")
    Traceback (most recent call last):
    stream_rank.errors.SnapshotError: nothing.safetensors cannot be read: ...
    """
    url = os.fspath(path)
    snapshot = open_snapshot(url)
    names = learners_in(snapshot)
    if learner is None and len(names) == 1:
        learner = names[0]
    if learner not in names:
        asked = "which of them? " if learner is None else f"{learner!r} is not there; "
        raise SnapshotError(
            f"{url} has {', '.join(names) or 'no learner'}: {asked}give learner=..."
        )
    try:
        return learner_in(snapshot, learner)
    except SnapshotError as error:
        raise SnapshotError(f"{url}: {error}") from None


def open_snapshot(url: str) -> Snapshot:
    """The snapshot in a file, or the latest in a folder."""
    try:
        system, place = fsspec.core.url_to_fs(url)
        is_folder = system.isdir(place)
    except (OSError, ValueError, ImportError) as error:
        raise SnapshotError(f"{url} cannot be read: {error}") from error
    if is_folder:
        for folder in (url, f"{url.rstrip('/')}/snapshots"):
            store = SnapshotStore(folder)
            name = store.latest()
            if name is not None:
                return store.read(name)
        raise SnapshotError(f"there is no snapshot in {url}")
    try:
        return unpack(read_file(url))
    except SnapshotError as error:
        raise SnapshotError(f"{url}: {error}" if url not in str(error) else str(error)) from None
