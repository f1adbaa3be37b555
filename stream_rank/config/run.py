"""The settings that replays and the daemon share."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from stream_rank.config.form import FormConfig
from stream_rank.config.settings import Listed, OpenUrl, bytes_of
from stream_rank.features.names import STAGE_NAMES
from stream_rank.learners.names import LEARNER_NAMES

__all__ = ["RunConfig"]


class RunConfig(FormConfig):
    """Settings of a replay and of the daemon."""

    fixed: ClassVar[tuple[str, ...]] = (
        *("preparation", "n_ranks", "seed", "delay", "window", "max_features"),
        *("min_count", "max_new_features"),
        *("ranking_pairs", "fields", "categories", "envelope", "ts_unit", "labels"),
    )
    """Settings that cannot change when a run is resumed, since what was learned depends on them."""

    _begun_with: tuple[str, ...] | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _ranks_of_labels(self) -> Self:
        if self.labels is not None:
            if self.n_ranks not in (None, len(self.labels)):
                raise ValueError(
                    f"`n_ranks` is {self.n_ranks}, and there are {len(self.labels)} `labels`; give these alone"
                )
            self.n_ranks = len(self.labels)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The features whose numbers are names: those given, and those that a learner takes for users and items.

        A run that goes on has those that it began with, since what features are called was learned.
        """
        if self._begun_with is not None:
            return self._begun_with
        from stream_rank.contestants.learner_spec import names_read  # imports the compiler

        given = super().names
        taken = {name for spec in self.learners for name in names_read(spec)}
        return (*given, *sorted(taken - set(given)))

    def go_on_with(self, names: Iterable[str]) -> None:
        """Read numbers as the run did so far."""
        self._begun_with = tuple(names)

    @property
    def lease_seconds(self) -> float | None:
        """How long this process takes the lease of its snapshots for its own, after it was renewed; None as long as usual."""
        return None

    learners: Listed = Field(
        default=["hedge"],
        min_length=1,
        description=f"a learner ({', '.join(LEARNER_NAMES)}) with parameters as in oap-bpm:n_members=50, "
        "or a River estimator as in river.linear_model.LinearRegression:l2=0.1; may be repeated, the first is the champion. "
        f"Stages before a | prepare the features ({', '.join(STAGE_NAMES)}), as in 'scale | cross:user*item | oap-bpm'; "
        "'raw | prank' has none; hedge(A, B) is a committee, as in 'scale | hedge(waves | ordinal-logit, ordinal-logit)'",
    )
    preparation: str = Field(
        "auto",
        min_length=1,
        description="the stages of learners that are given without any: those that suit the learner (auto), none (raw), "
        "or a chain such as 'scale | normalize'",
    )
    allow_imports: Listed = Field(
        default=[],
        description="a module besides river whose estimators may be learners; may be repeated",
    )
    out: Path = Field(description="the folder for all that the run writes")
    begin_with: OpenUrl = Field(
        None,
        description="a model (as of `snapshot merge`), a snapshot or a run's folder, as whose learner that of a new run begins; a run that is resumed goes on with its own",
    )
    n_ranks: int | None = Field(
        None, ge=2, le=10_000, description="labels are the ranks 1 to N; not needed with `labels`"
    )
    seed: int = Field(1, description="the seed of random learners without one of their own")
    delay: int = Field(
        0, ge=0, le=10_000_000, description="how many events may wait for a later label"
    )
    max_events: int | None = Field(None, ge=1, description="stop after so many events")
    max_features: int = Field(
        100_000,
        ge=1,
        le=10_000_000,
        description="the most features that are known; events are learned without those beyond",
    )
    max_new_features: int = Field(
        10_000,
        ge=1,
        le=10_000_000,
        description="the most features that one event makes known; it is learned without those beyond, which may come again",
    )
    learner_memory_limit: Annotated[int, BeforeValidator(bytes_of)] = Field(
        "2Gi",
        ge=1,
        validate_default=True,
        description="the most memory that the learners may take together, in bytes or as in 512Mi; features beyond that are left out",
    )
    min_count: int = Field(
        1, ge=1, le=1_000_000, description="a feature is known once it came in so many events"
    )
    expire_after: int = Field(
        1_000_000,
        ge=0,
        description="once as many features are known as can be, one that came in none of so many records gives its place to one "
        "that comes again and again; 0 never",
    )
    ranking_pairs: Literal["all", "adjacent"] = Field(
        "all", description="of a ranking learn all pairs, or those of neighbours"
    )
    max_reject_ratio: float = Field(
        1.0, ge=0, le=1, description="stop when a larger share of the records is rejected"
    )
    window: int = Field(
        5_000, ge=1, le=10_000_000, description="the number of predictions in the recent loss"
    )
    snapshots: OpenUrl = Field(
        None, description="where snapshots go: a folder or a URL (OUT/snapshots)"
    )
    snapshot_events: int | None = Field(None, ge=1, description="snapshot after so many events")
    snapshot_seconds: float | None = Field(
        30.0, gt=0, allow_inf_nan=False, description="snapshot after so many seconds"
    )
    snapshots_kept: int = Field(
        5, ge=1, description="how many snapshots are kept, in addition to the last of each day"
    )
    daily_snapshots_kept: int = Field(
        30, ge=0, le=36_500, description="for how many days the last snapshot of each day is kept"
    )
    on_corrupt_snapshot: Literal["refuse", "older"] = Field(
        "refuse",
        description="if the latest snapshot is corrupt: refuse it, or resume from an older one",
    )
