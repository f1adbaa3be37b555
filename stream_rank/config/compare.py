"""The settings of a comparison."""

from pydantic import Field, model_validator

from stream_rank.config.replay import ReplayConfig
from stream_rank.config.settings import Listed
from stream_rank.learners.names import LEARNER_NAMES

__all__ = ["CompareConfig"]

_OF_SCORES = ("widrow-hoff", "online-mprank", "pairwise-ranker")
_OF_RANKS = (
    *("ordinal-logit", "scale | waves | ordinal-logit", "averaged-prank", "voted-prank"),
    *("oap-bpm", "prank", *_OF_SCORES),
)
"""Those whose cost does not grow with the square of the features, so that they can all be tried on whatever comes."""


class CompareConfig(ReplayConfig):
    """Settings of `stream-rank compare`: those of a replay, with other learners by default."""

    learners: Listed = Field(
        default=[],
        description=f"a learner ({', '.join(LEARNER_NAMES)}), as in `replay`; may be repeated. By default with `n_ranks` "
        f"{', '.join(_OF_RANKS)}, and without it those that learn scores",
    )
    cores: int | None = Field(
        None, ge=1, le=1_024, description="how many learners learn at a time; by default as many as there are processors"
    )  # fmt: skip

    @model_validator(mode="after")
    def _all_that_suit(self) -> "CompareConfig":
        if not self.learners:
            self.learners = [*(_OF_SCORES if self.n_ranks is None else _OF_RANKS)]
        return self
