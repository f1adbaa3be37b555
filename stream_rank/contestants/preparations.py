"""The stages before the learners of a run: every prefix that learners share is prepared once."""

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.features.catalogue import state_of
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.features.lessons import Lessons, lessons_of, pair_lessons
from stream_rank.features.rows_of import rows_of_dicts
from stream_rank.learners.base.state import State, digest_of
from stream_rank.learners.tables.rows import Rows

__all__ = ["Chain", "Preparations", "StageMemory", "key_of", "specs_of"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Chain = tuple[str, ...]
"""The specifications of stages, in their order. Where a run has the same stages in several states, since a learner caught up with
less than the others had learned, the first stage of all but one of these chains has a number: `#2 scale`."""
_NUMBER = re.compile(r"#\d+ ")


def key_of(chain: Chain) -> str:
    """The key of the state of a chain's last stage in snapshots.

    >>> key_of(("scale", "normalize"))
    'preparation/scale | normalize'
    """
    return f"preparation/{' | '.join(chain)}"


def specs_of(chain: Sequence[str]) -> list[str]:
    """The specifications of a chain's stages, without the number of the chain.

    >>> specs_of(["#2 scale", "normalize"])
    ['scale', 'normalize']
    """
    return [_NUMBER.sub("", spec, count=1) for spec in chain[:1]] + list(chain[1:])


class StageMemory:
    """The state of a stage for snapshots."""

    def __init__(self, chain: Chain, stage: FeatureStage) -> None:
        self.key, self._stage = key_of(chain), stage

    def dump(self) -> State:
        """Its whole state."""
        return state_of(self._stage)

    def load(self, state: State) -> None:
        """Continue from another's state."""
        self._stage.load(state)


class Preparations:
    """The stages of all learners of a run, by the chain that ends with them.

    All learners of a run are given the same rows one after the other, so what a chain made of them is kept until other rows
    come: the first learner that asks makes the stages learn them, and the others get the same. Learners may ask at the same time.
    """

    def __init__(self) -> None:
        self.stages: dict[Chain, FeatureStage] = {}
        self.asks_all = False
        """Whether events are transformed before they are learned, even if no loop asks: committees look at what members think."""
        self._lock = Lock()
        self._given: Any = None
        self._lessons: Lessons | None = None
        self._made: dict[Chain, Rows] = {}
        self._exchanging: Mapping[Hashable, Hashable] | None = None
        self._exchanged: dict[Chain, Mapping[Hashable, Hashable]] = {}

    def add(self, specs: Sequence[str], stages: Sequence[FeatureStage]) -> Chain:
        """The chain of these specifications; stages of prefixes that are there already are not used."""
        for end in range(1, len(specs) + 1):
            self.stages.setdefault(tuple(specs[:end]), stages[end - 1])
        return tuple(specs)

    def adopt(self, chain: Chain, others: "Preparations") -> Chain:
        """Have the stages of a chain of another's, and return what the chain is called here.

        Where the same stages are here in the same state, they are shared from now on.
        """
        stages, specs = others.of(chain), specs_of(chain)
        for number in count(1):
            mine = (specs[0] if number == 1 else f"#{number} {specs[0]}", *specs[1:])
            own = {mine[:end]: stage for end, stage in enumerate(stages, 1)}
            if all(_alike(self.stages.get(key, stage), stage) for key, stage in own.items()):
                self.stages = own | self.stages
                return mine
        raise AssertionError("there are more numbers than chains")

    def of(self, chain: Chain) -> list[FeatureStage]:
        """The stages of a chain."""
        return [self.stages[chain[:end]] for end in range(1, len(chain) + 1)]

    @property
    def memories(self) -> list[StageMemory]:
        """The states of all stages."""
        return [StageMemory(chain, stage) for chain, stage in self.stages.items()]

    def lessons(
        self, chain: Chain, rows: Rows, labels: Array, asking: Mask, learning: Mask
    ) -> Lessons:
        """Events prepared, each as it was predicted and as it was learned."""
        with self._lock:
            if self._given is not rows or self._lessons is None:
                asking = asking | learning if self.asks_all else asking
                self._given, self._made = rows, {}
                self._lessons = lessons_of(rows, asking, learning)
            made = self._lessons
            return made._replace(rows=self._through(chain, made, labels[made.events]))

    def pairs(self, chain: Chain, preferred: Rows, others: Rows) -> Lessons:
        """Preferences prepared, as `pair_lessons` has them."""
        with self._lock:
            if self._given is not preferred or self._lessons is None:
                self._given, self._made = preferred, {}
                self._lessons = pair_lessons(preferred, others)
            made = self._lessons
            return made._replace(rows=self._through(chain, made, np.full(len(made.events), np.nan)))

    def _through(self, chain: Chain, lessons: Lessons, labels: Array) -> Rows:
        if not chain:
            return lessons.rows
        if chain not in self._made:
            before = self._through(chain[:-1], lessons, labels)
            self._made[chain] = self.stages[chain].prepare(
                before, labels, lessons.learning, lessons.events
            )
        return self._made[chain]

    def exchanged(
        self, chain: Chain, names: Mapping[Hashable, Hashable]
    ) -> Mapping[Hashable, Hashable]:
        """Exchange features in all stages, the first time that these are asked for; what it means behind a chain."""
        if names is not self._exchanging:
            self._exchanging, self._exchanged = names, {(): names}
            self._given = self._lessons = None
            for each, stage in self.stages.items():  # a chain stands behind its prefixes
                self._exchanged[each] = stage.exchange(self._exchanged[each[:-1]])
        return self._exchanged[chain]

    def asked(self, chain: Chain, rows: Rows) -> Rows:
        """Events prepared by what is known, and none of them learned but what their features are called."""
        for stage in self.of(chain):
            stage.know(rows)
            rows = stage.transformed(rows)
        return rows

    def asked_one(self, chain: Chain, x: Mapping[Any, Any]) -> Rows:
        """One event prepared, which may have features that never came, as a row."""
        rows = rows_of_dicts([x], np.inf)  # the decoder has checked it
        for stage in self.of(chain):
            rows = stage.transformed(rows)
        return rows


def _alike(one: FeatureStage, other: FeatureStage) -> bool:
    """Whether two stages do the same from here on."""
    return one is other or digest_of(*state_of(one)) == digest_of(*state_of(other))
