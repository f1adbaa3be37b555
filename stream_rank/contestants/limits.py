"""The limits of a run's events: those that all of its contestants can learn."""

from collections.abc import Sequence

from stream_rank.codec.limits import Limits
from stream_rank.codec.orders import PairsOf
from stream_rank.contestants.contestant import Contestant

__all__ = ["limits_of"]


def limits_of(
    contestants: Sequence[Contestant],
    n_ranks: int | None,
    max_features: int,
    delayed: bool,
    ranking_pairs: PairsOf = "all",
    min_count: int = 1,
    expire_after: int | None = None,
    max_new_features: int = Limits.max_new_features,
) -> Limits:
    """The narrowest limits, so that an event is learned by all contestants or by none."""
    limits = [each.limits for each in contestants]
    return Limits(
        n_ranks=n_ranks,
        largest=min([Limits.largest, *(each.largest for each in limits)]),
        longest=min([Limits.longest, *(each.longest for each in limits)]),
        max_features=int(min([max_features, *(each.max_features for each in limits)])),
        min_count=min_count,
        expire_after=expire_after,
        max_new_features=max_new_features,
        delayed=delayed,
        ranking_pairs=ranking_pairs,
        grouped=any(
            each.learns_groups or each.has_users or each.predicts == "scores"
            for each in contestants
        ),
    )
