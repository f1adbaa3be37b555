"""The settings of a comparison."""

from pydantic import Field, PrivateAttr, model_validator

from stream_rank.config.replay import ReplayConfig
from stream_rank.config.settings import Listed
from stream_rank.contestants.search_space import candidates_of, searched
from stream_rank.contestants.spec_parts import members_of
from stream_rank.learners.names import LEARNER_NAMES

__all__ = ["CompareConfig"]

_OF_SCORES = ("widrow-hoff", "online-mprank", "pairwise-ranker")
_OF_RANKS = (
    *("hedge", "averaged-prank", "voted-prank", "oap-bpm", "prank"),
    *_OF_SCORES,
)
"""Those whose cost does not grow with the square of the features, so that they can all be tried on whatever comes."""


class CompareConfig(ReplayConfig):
    """Settings of `stream-rank compare`: those of a replay, with other learners by default."""

    learners: Listed = Field(
        default=[],
        description=f"a learner ({', '.join(LEARNER_NAMES)}), as in `replay`, or one with a range, as in "
        "oap-bpm:sampling=0.1..0.9, or vowpal-wabbit; may be repeated. By default with `n_ranks` "
        f"{', '.join(_OF_RANKS)}, and without it those that learn scores",
    )
    cores: int | None = Field(
        None, ge=1, le=1_024, description="how many learners learn at a time; by default as many as there are processors"
    )  # fmt: skip

    candidates: int = Field(
        9,
        ge=2,
        le=1_000,
        description="how many values are tried of a learner with a range, as in oap-bpm:sampling=0.1..0.9; the worse half of them goes "
        "after 2,000 events, of the others again after 4,000, and so on; what only a later drift would show is not seen",
    )
    peers: bool = Field(
        False,
        description="compare with River's models and Vowpal Wabbit too, as far as they are installed",
    )
    _searches: dict[str, list[str]] = PrivateAttr(default_factory=dict)

    @property
    def searches(self) -> dict[str, list[str]]:
        """The candidates of each learner that was given with a range."""
        return self._searches

    @model_validator(mode="after")
    def _all_that_suit(self) -> "CompareConfig":
        if not self.learners:
            self.learners = [*(_OF_SCORES if self.n_ranks is None else _OF_RANKS)]
        found: list[str] = []
        for spec in self.learners:
            if searched(spec) and members_of(spec):
                raise ValueError(f"{spec!r}: a range cannot stand in a committee")
            candidates = candidates_of(spec, self.candidates)
            if searched(spec):
                self._searches[spec] = candidates
            found += [name for name in candidates if name not in found or not searched(spec)]
        if self._searches and self.resume:
            raise ValueError("a search cannot be resumed: leave `resume` away, or the range")
        self.learners = found
        return self
