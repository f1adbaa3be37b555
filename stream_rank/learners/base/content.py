"""All that a learner is, as text that JSON can hold and arrays; and a learner made of them."""

import inspect
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import within
from stream_rank.errors import SnapshotError
from stream_rank.kernels import Gaussian, Kernel, Linear, Polynomial
from stream_rank.learners.base.grouped_learner import GroupedLearner
from stream_rank.learners.base.groups import Alone
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.catalogue import LEARNERS

__all__ = ["Content", "content_of", "learner_of", "parameters_of"]

Array = npt.NDArray[Any]

_KERNELS: dict[str, type[Kernel]] = {
    "Linear": Linear,
    "Polynomial": Polynomial,
    "Gaussian": Gaussian,
}
_MOST_RANKS = 100_000
"""The list of ranks is made before any memory that could be measured by the content."""
_BY_CLASS = {learner: name for name, learner in LEARNERS.items()}


class Content(NamedTuple):
    """A learner, taken apart."""

    described: dict[str, Any]
    """Its name, parameters, features, labels and groups."""
    arrays: dict[str, Array]
    """What its memories keep, without the room that they have in reserve."""


def parameters_of(thing: Any) -> dict[str, Any]:
    """The arguments that something was made with; kernels as their name and arguments."""
    found = {}
    for name in inspect.signature(type(thing).__init__).parameters:
        if name != "self":
            value = getattr(thing, name)
            if isinstance(value, Linear | Polynomial | Gaussian):
                value = {type(value).__name__: parameters_of(value)}
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found


def content_of(learner: Learner) -> Content:
    """Take a learner apart; it stays as it is."""
    if type(learner) not in _BY_CLASS:
        raise SnapshotError(
            f"a {type(learner).__name__} cannot be kept; the learners of stream-rank can: {', '.join(LEARNERS)}"
        )
    described: dict[str, Any] = {
        "learner": _BY_CLASS[type(learner)],
        "parameters": parameters_of(learner),
        "features": [_plain_name(name, "feature") for name in learner._vocabulary.names],
    }
    if isinstance(learner, RankLearner) and learner.n_ranks is None:
        described["labels"] = [_plain_label(label) for label in learner._labels.known]
    if isinstance(learner, GroupedLearner):
        groups = learner._groups
        described["groups"] = [[_group(name), row] for name, row in groups._row_of.items()]
        described["pairs"] = groups._pairs
    memories = learner._model.memories()  # first: this may have to solve for what is kept
    twin = _with_room(described)
    for kind, memory in twin._model.memories().items():
        memory.adopt(_fitting(memories[kind].kept(), memory.kept()))
    twin._model.resume()
    arrays = {
        f"{kind}/{name}": section
        for kind, memory in twin._model.memories().items()
        for name, section in memory.kept().items()
    }
    return Content(described, arrays)


def _fitting(kept: Mapping[str, Array], room: Mapping[str, Array]) -> dict[str, Array]:
    """Sections cut to the room there is; what is cut off is reserve."""
    return {
        name: section[tuple(map(slice, np.minimum(section.shape, room[name].shape)))]
        for name, section in kept.items()
    }


def learner_of(content: Content) -> Learner:
    """Make a learner of its parts; a `SnapshotError` if they do not fit together."""
    n_bytes = sum(array.nbytes for array in content.arrays.values())
    try:
        if (content.described["parameters"].get("n_ranks") or 0) > _MOST_RANKS:
            raise ValueError(f"more than {_MOST_RANKS:,} ranks")
        for name in ("features", "labels", "groups"):
            if not isinstance(content.described.get(name, []), list):
                raise ValueError(f"{name} are no list")
        with within(n_bytes):
            learner = _with_room(content.described)
        parts: dict[str, dict[str, Array]] = {}
        for name, array in content.arrays.items():
            kind, _, section = name.partition("/")
            parts.setdefault(kind, {})[section] = array
        memories = learner._model.memories()
        if parts.keys() != memories.keys():
            raise ValueError(f"memories {sorted(parts)} instead of {sorted(memories)}")
        for kind, memory in memories.items():
            if {name: array.shape for name, array in parts[kind].items()} != {
                name: array.shape for name, array in memory.kept().items()
            }:
                raise ValueError(f"memory {kind} is of another size than its parameters say")
            memory.adopt(parts[kind])
        learner._model.resume()
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise SnapshotError(f"the parts of the learner do not fit together: {error}") from error
    except MemoryError as error:
        raise SnapshotError(
            f"its parameters ask for more memory than its content: {error}"
        ) from error
    return learner


def _with_room(described: Mapping[str, Any]) -> Learner:
    """A new learner of these parameters, with room for these features, labels and groups and nothing else."""
    parameters = dict(described["parameters"])
    kernel = parameters.get("kernel")
    if isinstance(kernel, dict):
        ((name, arguments),) = kernel.items()
        parameters["kernel"] = _KERNELS[name](**arguments)
    learner: Any = LEARNERS[described["learner"]](**parameters)
    if isinstance(learner, RankLearner) and learner.n_ranks is None:
        for label in described["labels"]:
            learner._labels.insert(label)
        if learner._labels.known != described["labels"]:
            raise ValueError("labels out of order")
        learner._model = learner._new_model(max(1, len(learner._labels.known)))
    if isinstance(learner, GroupedLearner):
        _give_groups(learner, described)
    names = described["features"]
    if len(names) > learner._model.most_features:
        raise ValueError(f"{len(names)} features")
    learner._vocabulary.add(_plain_name(name, "feature") for name in names)
    if len(learner._vocabulary) != len(names):
        raise ValueError("a feature twice")
    learner._fit_to_vocabulary()
    return learner  # type: ignore[no-any-return]


def _give_groups(learner: GroupedLearner, described: Mapping[str, Any]) -> None:
    groups = learner._groups
    groups._pairs = int(described["pairs"])
    for name, row in described["groups"]:
        groups._row_of[Alone(name["pair"]) if isinstance(name, dict) else name] = int(row)
    if sorted(groups._row_of.values()) != [*range(1, len(groups) + 1)] or len(groups) > groups.most:
        raise ValueError("groups and their rows")
    if len(groups) != len(described["groups"]):
        raise ValueError("a group twice")
    learner._make_groups()


def _plain_name(name: Hashable, what: str) -> str | int:
    if isinstance(name, np.integer | np.str_):
        name = name.item()
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise SnapshotError(f"{what} {name!r} cannot be kept; names must be text or whole numbers")
    return name


def _group(name: Hashable) -> Any:
    if isinstance(name, Alone):
        return {"pair": int(name)}
    return None if name is None else _plain_name(name, "group")


def _plain_label(label: Any) -> str | int | float:
    if not isinstance(label, str | int | float):
        raise SnapshotError(f"label {label!r} cannot be kept; labels must be text or numbers")
    return label
