"""The classes of learners, by name."""

from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.named_classes import classes_in, name_among
from stream_rank.learners.names import LEARNER_CLASSES

__all__ = ["LEARNERS", "name_of"]

LEARNERS: dict[str, type[Learner]] = classes_in("learners", LEARNER_CLASSES)
"""Names as the command line and snapshots have them."""


def name_of(learner: type[Learner]) -> str:
    """The name of a class of learners; a `SnapshotError` for one that is not of the package."""
    return name_among(LEARNERS, learner, "learners")
