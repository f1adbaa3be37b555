"""Learners in files."""

import os
from collections.abc import Mapping
from typing import Any

import fsspec

from stream_rank.checkpoint.snapshot import Snapshot, digest_of, unpack
from stream_rank.checkpoint.snapshot import pack as pack_snapshot
from stream_rank.checkpoint.store import SnapshotStore, read_file, write_file
from stream_rank.errors import SnapshotError
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.base.state import State

__all__ = [
    "join",
    "joined",
    "learner_in",
    "learners_in",
    "load",
    "save",
    "state_digest",
    "take_apart",
]


def take_apart(learners: Mapping[str, Learner]) -> Snapshot:
    """Learners as a snapshot."""
    return joined({name: learner.dump() for name, learner in learners.items()})


def joined(states: Mapping[str, State]) -> Snapshot:
    """The states of learners as a snapshot."""
    said: dict[str, Any] = {"learners": {}}
    arrays: dict[str, Any] = {}
    for name, state in states.items():
        said["learners"][name] = state.metadata
        arrays |= {f"learners/{name}/{key}": array for key, array in state.arrays.items()}
    return Snapshot(said, arrays)


def join(*snapshots: Snapshot) -> Snapshot:
    """What several say, in one."""
    said: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for snapshot in snapshots:
        said |= snapshot.said
        arrays |= snapshot.arrays
    return Snapshot(said, arrays)


def learner_in(snapshot: Snapshot, name: str) -> Learner:
    """One learner of a snapshot."""
    prefix = f"learners/{name}/"
    arrays = {
        key.removeprefix(prefix): array
        for key, array in snapshot.arrays.items()
        if key.startswith(prefix)
    }
    return learner_from(State(snapshot.said["learners"][name], arrays))


def learners_in(snapshot: Snapshot) -> list[str]:
    """The names of the learners in a snapshot."""
    return [*snapshot.said.get("learners", {})]


def state_digest(learner: Learner) -> str:
    """The digest of all that a learner is: two of the same digest are the same from here on."""
    return digest_of(*learner.dump())


def save(model: Learner, path: str | os.PathLike[str]) -> None:
    """Write a learner to a file, which is there whole or not at all.

    Saving changes nothing: what is learned afterwards is learned as if nothing had been saved. The file holds no
    code. Its arrays can be read by everything that reads safetensors.

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
    content = pack_snapshot(take_apart({"model": model}))
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
