"""The classes of learners, by name."""

from importlib import import_module

from stream_rank.errors import SnapshotError
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.names import LEARNER_CLASSES

__all__ = ["LEARNERS", "name_of"]


def _class_at(place: str) -> type[Learner]:
    module, _, name = place.partition(".")
    found: type[Learner] = getattr(import_module(f"stream_rank.learners.{module}"), name)
    return found


LEARNERS = {name: _class_at(place) for name, place in LEARNER_CLASSES.items()}
"""Names as the command line and snapshots have them."""

_NAMES = {learner: name for name, learner in LEARNERS.items()}


def name_of(learner: type[Learner]) -> str:
    """The name of a class of learners; a `SnapshotError` for one that is not of the package."""
    if learner not in _NAMES:
        raise SnapshotError(
            f"a {learner.__name__} cannot be kept; the learners of stream-rank can: {', '.join(LEARNERS)}"
        )
    return _NAMES[learner]
