"""Committees as contestants."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stream_rank.committees.votes import Votes
from stream_rank.contestants.member import Member
from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.state import State, digest_of
from stream_rank.learners.tables.rows import Rows

__all__ = ["Committee"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Committee:
    """The contestant that `Hedge` is: its members are contestants too, and each learns an event once.

    It keeps the members' weights alone; what they learned, they keep.
    """

    predicts: Literal["ranks", "scores"] = "ranks"
    learns_groups = False
    gives_probabilities = True
    has_users = finds_items = False

    def __init__(self, name: str, members: Sequence[Member], votes: Votes | None = None) -> None:
        self.name, self.members = name, list(members)
        self.chain: tuple[str, ...] = ()
        self.model: Any = Votes(len(self.members)) if votes is None else votes

    @property
    def key(self) -> str:
        """The key of its state in snapshots."""
        return f"learners/{self.name}"

    @property
    def votes_of(self) -> tuple[str, ...]:
        """The names of its members."""
        return tuple(each.name for each in self.members)

    @property
    def limits(self) -> LearnerLimits:
        """The narrowest limits of its members."""
        limits = [each.limits for each in self.members]
        return LearnerLimits(*(min(values) for values in zip(*limits, strict=True)))

    def memory_at(self, n_features: int) -> int:
        """Some bytes a member, whatever the features."""
        return int(4 * self.model.losses.nbytes)

    def bound(self, max_features: int) -> None:
        """Nothing: it knows no feature."""

    @property
    def learns_preferences(self) -> bool:
        """Whether any member does."""
        return any(each.learns_preferences for each in self.members)

    @property
    def state(self) -> "Committee":
        """Itself."""
        return self

    def dump(self) -> State:
        """The members' weights, and who they are."""
        found: State = self.model.dump([each.key for each in self.members])
        return found

    def load(self, state: State) -> None:
        """Continue from another's state."""
        if state.metadata.get("members") != [each.key for each in self.members]:
            raise ValueError(f"its members are {state.metadata.get('members')}")
        self.model.load(state)

    def digest(self) -> str:
        """A digest of the weights and of all members."""
        own = self.dump()
        return digest_of(
            {**own.metadata, "of": [each.digest() for each in self.members]}, own.arrays
        )

    def rule(self) -> Rule:
        """The members' weights by name; their own rules are theirs."""
        return Rule(self._shown, [], 0.0, False, [], self._labels)

    def insight(self, rows: Rows | None = None) -> Insight:
        """The members' weights by name, as they are now."""
        return Insight(self._shown, [], None, self._labels)

    @property
    def _shown(self) -> dict[Hashable, float]:
        names = [each.name for each in self.members]
        return dict(zip(names, self.model.weights, strict=True))

    @property
    def _labels(self) -> list[int]:
        return list(range(1, self.members[0].model.n_ranks + 1))

    # Events -----------------------------------------------------------------------------------

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        """Predict events, each before it is learned by all members."""
        everything = np.ones(len(rows), np.bool_)
        return self.learn_some(rows, labels, groups, everything, everything)

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        """Learn events that were predicted before; what members think of them now is what their weights follow."""
        learning = np.ones(len(rows), np.bool_)
        self.learn_some(rows, labels, groups, np.zeros(len(rows), np.bool_), learning)

    def learn_some(
        self,
        rows: Rows,
        labels: Array,
        groups: Array | None,
        asking: Mask,
        learning: Mask,
        shares: Array | None = None,
        watched: Any = None,
    ) -> Array:
        """Predict the events that `asking` says, and learn those that `learning` says, each after its prediction."""
        found = [each.opinions(rows, labels, asking, learning) for each in self.members]
        ranks = np.stack([each for each, _ in found]).astype(np.float64)
        opinions = np.stack([each for _, each in found])
        answers = np.where(learning, labels, 0.0)
        predictions, pooled = self.model.pool(opinions, ranks, answers, learning)
        if shares is not None:
            shares[:] = pooled
        return predictions.astype(np.float64)  # type: ignore[no-any-return]

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Predict events; nothing is learned."""
        shares = np.stack([each.asked(rows, unknown_features) for each in self.members])
        nobody, nothing = np.zeros(shares.shape[:2]), np.zeros(len(rows), np.bool_)
        pooled: Array = self.model.pool(shares, nobody, nobody[0], nothing)[0]
        return pooled.astype(np.float64)

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        """Learn preferences; how much likelier it was that the preferred item is preferred than the other, and the probabilities."""
        found = [each.test_then_train_pairs(preferred, others, magnitudes) for each in self.members]
        leads, shares = (np.stack(each) for each in zip(*found, strict=True))
        pooled = self.model.pool_pairs(leads, shares, magnitudes, True)
        return pooled[:, 0] - pooled[:, 2], pooled

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Nothing: its members are told themselves."""
