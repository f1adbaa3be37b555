"""How learners that caught up join a run, between two chunks."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.contestants.contestant import Contestant, Memory
from stream_rank.contestants.preparations import Preparations
from stream_rank.learners.base.state import State
from stream_rank.runtime.learning_run import LearningRun, contestants_in
from stream_rank.runtime.study import Study

__all__ = ["Joined", "join", "seated"]


class Joined(NamedTuple):
    """All learners of a run, those that joined too."""

    contestants: Sequence[Contestant]
    preparations: Preparations
    names: Sequence[Hashable]
    """Features that they know, and the run does not yet."""


def seated(learning: LearningRun, study: Study) -> Joined:
    """The learners of a run and those of a study, which is where the run is, in the order of the settings.

    The learners are made anew and continue from the states of those that were, as at a start: a committee that joins has members
    that ride. Stages that are in the same state are shared. The run itself is not touched, so whatever fails, fails without it.
    """
    names = _agree(study, learning.loop.decoder.index)
    preparations = Preparations()
    preparations.stages |= learning.preparations.stages
    states = {each.name: each.state for each in learning.contestants}
    chains = {each.name: each.chain for each in learning.contestants}
    for each in study.contestants:
        if each.name in learning.late:
            states[each.name] = each.state
            chains[each.name] = each.chain and preparations.adopt(each.chain, study.preparations)
    members = {each.name: each.votes_of for each in learning.contestants if each.votes_of}
    contestants = contestants_in(
        learning.config, learning.config.learners, preparations, chains, members
    )
    for each in contestants:
        each.bound(learning.room.max_features)
        _continue(each.state, states[each.name], each.chain)
    return Joined(contestants, preparations, names)


def _continue(mine: Memory | None, other: Memory | None, chain: Sequence[str]) -> None:
    """Continue from another's state, behind stages that have another name here."""
    assert mine is not None
    assert other is not None  # or the run could not be resumed
    metadata, arrays = other.dump()
    mine.load(State({**metadata, **({"preparation": list(chain)} if chain else {})}, arrays))


def _agree(study: Study, index: FeatureIndex) -> list[Hashable]:
    """Have the learners of a study know the features of a run.

    A feature that the run does not know gives its place to one that the run knows and they do not. Those that are left over are
    returned, and the run is to know them too; there is room, for a study knows as many as a run may. So a run knows all that its
    learners know, which are never too many, and a name that later gets the place of another is new to all of them. Where the run has
    learned the same events, there is nothing to do.
    """
    foreign = [name for name in study.index.names if name not in index.slot_of]
    unmet = [name for name in index.names if name not in study.index.slot_of]
    given = dict(zip(foreign, unmet, strict=False))
    for each in study.contestants if given else ():
        each.exchange(given)
    return foreign[len(unmet) :]


def join(learning: LearningRun, joined: Joined) -> LearningRun:
    """Have all of these ride from here on; the run that goes on.

    The scoreboards of those that are new begin here, and what they had predicted of events that wait for a label is not counted.
    """
    before = [each.name for each in learning.contestants]
    now = [each.name for each in joined.contestants]
    parts = [*joined.preparations.memories, *(each.state for each in joined.contestants)]
    learning.checkpointer.join([part for part in parts if part is not None], {"learners": now})
    learning.loop.decoder.index.know(joined.names)
    if learning.waiting is not None:
        learning.waiting.seat(before, now)
    learning.loop.join(joined.contestants)
    learning.scoreboard.join(joined.contestants)
    return replace(learning, late=[], preparations=joined.preparations)
