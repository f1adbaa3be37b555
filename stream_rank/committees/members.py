"""Members of a committee: learners of ranks, alone or behind stages, and what they think of events."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.committees.votes import certain
from stream_rank.features.feature_stage import LARGEST, FeatureStage
from stream_rank.features.lessons import lessons_of
from stream_rank.features.prepared import Prepared, through
from stream_rank.learners.base.labels import Labels
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.tables.rows import Rows

__all__ = ["asked", "check_members", "largest_of", "learner_of", "stages_of", "taught"]

Array = npt.NDArray[Any]


def stages_of(member: Any) -> list[FeatureStage]:
    """The stages before a member."""
    return member.stages if isinstance(member, Prepared) else []


def learner_of(member: Any) -> Any:
    """The learner behind the stages."""
    return member.learner if isinstance(member, Prepared) else member


def check_members(members: Sequence[Any]) -> None:
    """A `ValueError` unless there are members, and all are learners of the same ranks."""
    if not len(members):
        raise ValueError("a committee needs learners")
    for member in members:
        learner = learner_of(member)
        if not isinstance(learner, Learner) or learner.predicts != "ranks":
            raise ValueError(
                f"members are stream-rank's learners of ranks, alone or behind stages, not {member!r}"
            )
    if len({id(learner_of(member)) for member in members}) < len(members):
        raise ValueError("a learner is given twice: it would learn every event twice")
    known = {learner_of(member).n_ranks for member in members}
    if len(known) > 1:
        raise ValueError("members have different numbers of ranks; give all the same `n_ranks`")


def largest_of(members: Sequence[Any]) -> float:
    """The largest feature that all members take."""
    limits = [learner_of(member).limits.largest for member in members]
    stages = (stage.largest for member in members for stage in stages_of(member))
    return float(min([LARGEST, *limits, *stages]))


def taught(member: Any, rows: Rows, labels: Array, asking: bool, shares: Array) -> Array:
    """Teach a member; the ranks that it predicted before each, and its probabilities if `asking`."""
    learner, everything = learner_of(member), np.ones(len(rows), np.bool_)
    lessons = lessons_of(rows, everything, everything)
    answers = labels[lessons.events]
    prepared = through(stages_of(member), lessons, answers)
    probable = asking and learner.gives_probabilities
    both = np.empty((len(answers), shares.shape[1])) if probable else None
    more = {} if both is None else {"shares": both}
    before = ~lessons.learning
    found = np.asarray(learner.learn_some(prepared, answers, lessons.learning, **more))[before]
    if both is None:
        certain(found, shares)
    else:
        shares[:] = both[before]
    return found


def asked(member: Any, rows: Rows, labels: Labels, shares: Array) -> None:
    """A member's probabilities of labels for events that it does not learn."""
    learner = learner_of(member)
    for stage in stages_of(member):
        rows = stage.transformed(rows)
    if learner.gives_probabilities:
        shares[:] = 0.0
        known = [labels.rank_of[label] - 1 for label in learner.labels]
        shares[:, known] = learner.predict_proba_many(rows)
    else:
        certain(labels.ranks(learner.predict_many(rows)), shares)
