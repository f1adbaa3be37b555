"""Saving learners and pipelines to files, and loading them from files or snapshots."""

import os
from typing import Any

from river.compose import Pipeline

from stream_rank.checkpoint.place import file_at, is_folder
from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.checkpoint.store import SnapshotStore, reasons
from stream_rank.committees.hedge import Hedge
from stream_rank.contestants.preparations import key_of
from stream_rank.errors import SnapshotError
from stream_rank.features.catalogue import STAGES, name_of_stage, stage_from, state_of
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.features.prepared import Prepared
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.base.state import State, digest_of

__all__ = [
    "chosen_in",
    "learner_in",
    "learner_key",
    "learners_in",
    "load",
    "open_snapshot",
    "save",
    "state_digest",
]

_PREFIX, _COMMITTEE = "learners/", "hedge"

_MEMBERS = "members/"
"""The keys of the members of a committee that is saved alone; in a run they are learners themselves."""

Model = Learner | Prepared | Hedge
"""What is kept: a learner, stages and a learner, or a committee of such."""


def learner_key(name: str) -> str:
    """The key of a learner's state in a snapshot."""
    return _PREFIX + name


def learner_in(snapshot: Snapshot, name: str) -> Model:
    """One learner of a snapshot, behind the stages that prepared its events, or a committee with its members."""
    part = snapshot.part(learner_key(name))
    if part.metadata["learner"] != _COMMITTEE:
        return _voter(snapshot, learner_key(name))
    try:
        committee = Hedge([_voter(snapshot, key) for key in part.metadata["members"]])
        committee.votes.load(part)
    except (ValueError, TypeError, KeyError) as error:
        raise SnapshotError(f"the parts of the committee do not fit together: {error}") from error
    return committee


def _voter(snapshot: Snapshot, key: str) -> Learner | Prepared:
    part = snapshot.part(key)
    learner, chain = learner_from(part), part.metadata.get("preparation", [])
    if not chain:
        return learner
    keys = [key_of(tuple(chain[:end])) for end in range(1, len(chain) + 1)]
    absent = [key for key in keys if key not in snapshot.keys]
    if absent:
        raise SnapshotError(
            f"the parts of the learner do not fit together: there is no {absent[0]}"
        )
    return Prepared(*(stage_from(snapshot.part(key)) for key in keys), learner)


def learners_in(snapshot: Snapshot) -> list[str]:
    """The names of the learners in a snapshot."""
    return [key.removeprefix(_PREFIX) for key in snapshot.keys if key.startswith(_PREFIX)]


def chosen_in(snapshot: Snapshot) -> str | None:
    """The only learner in a snapshot, or the only committee beside its members; None if several are there, or none."""
    names = learners_in(snapshot)
    parts = {name: snapshot.part(learner_key(name)).metadata for name in names}
    voting = {member for each in parts.values() for member in each.get("members", ())}
    found = [name for name in names if learner_key(name) not in voting]
    return found[0] if len(found) == 1 else None


def state_digest(model: Model) -> str:
    """The digest of the state of a learner and its stages: models of the same digest behave the same from here on."""
    parts = _parts_of(model)
    if len(parts) == 1:
        return digest_of(*next(iter(parts.values())))
    whole = Snapshot.of(parts)
    return digest_of(whole.metadata, whole.arrays)


def _parts_of(model: Any) -> dict[str, State]:
    """The states of a learner and of its stages; a `SnapshotError` if a step cannot be kept."""
    if isinstance(model, Hedge):
        return _parts_of_committee(model)
    return _parts_of_voter(model, learner_key("model"))


def _parts_of_committee(model: Hedge) -> dict[str, State]:
    keys = [f"{_MEMBERS}{i}" for i in range(len(model.learners))]
    parts = {learner_key("model"): model.votes.dump(keys)}
    for key, member in zip(keys, model.learners, strict=True):
        parts |= _parts_of_voter(member, key, f"{key}: ")
    return parts


def _parts_of_voter(model: Any, where: str, before: str = "") -> dict[str, State]:
    if isinstance(model, Learner):
        return {where: model.dump()}
    steps = list(model.steps.values()) if isinstance(model, Pipeline) else [model]
    for step in steps:
        if not isinstance(step, FeatureStage | Learner):
            raise SnapshotError(
                f"a {type(step).__name__} cannot be kept; the stages ({', '.join(STAGES)}) and learners of stream-rank can"
            )
    *stages, learner = steps
    if not isinstance(learner, Learner) or not all(
        isinstance(each, FeatureStage) for each in stages
    ):
        raise SnapshotError("a pipeline that is kept has stages, and a learner at its end")
    chain: list[str] = []
    parts = {}
    for stage in stages:
        chain.append(before + name_of_stage(type(stage)))
        parts[key_of(tuple(chain))] = state_of(stage)
    state = learner.dump()
    metadata = {**state.metadata, "preparation": chain}
    return {**parts, where: State(metadata, state.arrays)}


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a learner, or a pipeline of this package's stages and a learner, to a file, atomically.

    Saving does not change the learner. The file contains no code, and its arrays can be read by everything that reads
    safetensors.

    Parameters
    ----------
    model
        Any learner of stream-rank, or stages and a learner: `Scale() | Normalize() | PRank(n_ranks=5)`.
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
    content = pack(Snapshot.of(_parts_of(model)))
    url = os.fspath(path)
    with reasons(url, "written"):
        place, name = file_at(url)
        place.write(name, content)


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
    learner = chosen_in(snapshot) if learner is None else learner
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
    with reasons(url):
        of_many = is_folder(url)
    if of_many:
        for folder in (url, f"{url.rstrip('/')}/snapshots"):
            store = SnapshotStore(folder)
            name = store.latest()
            if name is not None:
                return store.read(name)
        raise SnapshotError(f"there is no snapshot in {url}")
    with reasons(url):
        # a link that was given is followed; what is found in a folder is not
        place, name = file_at(url if "://" in url else os.path.realpath(url))
        content = place.read(name)
    try:
        return unpack(content)
    except SnapshotError as error:
        raise SnapshotError(f"{url}: {error}") from None
