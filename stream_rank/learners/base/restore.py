"""Restoring a learner from its state."""

from stream_rank.engine.memory import within
from stream_rank.errors import SnapshotError
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.base.serialization import arguments_of
from stream_rank.learners.base.state import State
from stream_rank.learners.catalogue import LEARNERS

__all__ = ["learner_from"]

_MOST_RANKS = 100_000
"""A limit of its own, since the list of ranks is made before memory is limited to the size of the state."""


def learner_from(state: State) -> Learner:
    """The learner that `dump` was asked of; a `SnapshotError` if the parts of the state do not fit together.

    No more memory is allocated than the state itself has, whatever its parameters ask for.

    >>> from stream_rank import PRank
    >>> model = PRank(n_ranks=3)
    >>> model.learn_one({"a": 1.0}, 3)
    >>> learner_from(model.dump()).predict_one({"a": 1.0})
    3
    """
    n_bytes = sum(array.nbytes for array in state.arrays.values())
    try:
        metadata = state.metadata
        if (metadata["parameters"].get("n_ranks") or 0) > _MOST_RANKS:
            raise ValueError(f"more than {_MOST_RANKS:,} ranks")
        with within(n_bytes):
            learner = LEARNERS[metadata["learner"]](**arguments_of(metadata["parameters"]))
            learner.prepare(metadata)
        learner.adopt(state.arrays)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise SnapshotError(f"the parts of the learner do not fit together: {error}") from error
    except MemoryError as error:
        raise SnapshotError(
            f"its parameters ask for more memory than its content: {error}"
        ) from error
    return learner
