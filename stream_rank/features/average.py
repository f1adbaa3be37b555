"""One rule out of many: the average of learners that learned apart."""

from collections.abc import Iterable
from typing import Any, TypeVar

from stream_rank.errors import MergeError
from stream_rank.features.prepared import Prepared
from stream_rank.learners.base.learner import Learner

__all__ = ["average"]

Model = TypeVar("Model", bound=Any)


def average(learners: Iterable[Model]) -> Model:
    """One learner out of several that learned from shards of one stream, each counting for as many events as it learned.

    Of PRank, AveragedPRank, OAP-BPM, OAP-Bagg, OAP-VP and Widrow-Hoff it is the mean of their weights and thresholds, in families
    member by member, which is a rule of their kind and nearly as good as one that saw everything. RecursiveMPRank is, but
    for rounding, the one that saw everything: its sums add up, those of a group that is in several shards too. Of OrdinalLogit
    it is the product of beliefs: precisions add up, less the priors that are there more than once. Learners
    that are made of events that they keep have no average.

    An average has as little noise as a rule of all events, and the bias of one that learned a shard's: where shards are too short for rules to
    come to rest, as those of AveragedPRank below, it is no better than they are. It learns on as what learned as much as one shard.

    Shards may know different features and different labels. Features are those of the first learner, and then those that the next ones
    bring, each in their order. A weight is averaged over the learners that know the feature: the others say nothing
    of it. A label that a learner does not know takes its place as when it is discovered. The first learner decides about the order of
    features, the key of members' coins and the prior of a weight that several met; else the order of learners
    changes last digits alone. Of one learner alone, the average is a copy.

    Stages are merged as well: counts, means and deviations, lengths and target means become those of all events. A rule behind
    them stays as it was learned, by the deviations and lengths of its own shard. Where shards are random parts of one
    stream these differ by little. Where each has a user, or a country, of other numbers, learn behind stages that know all
    of them, or without.

    The learners stay as they are. The average learns on, and can be kept.

    Cost: that of a copy of each, and O(d**3) a shard for RecursiveMPRank and OrdinalLogit.

    Parameters
    ----------
    learners
        Learners of one class and of the same parameters, or such behind the same stages.

    Raises
    ------
    MergeError
        If they do not fit together; it says which and why.

    References
    ----------
    R. McDonald, K. Hall and G. Mann. Distributed training strategies for the structured perceptron. NAACL 2010.

    Examples
    --------
    One that saw everything, the average of 8 shards, and a shard alone, by the rank loss on 5,000 more events:

    >>> from stream_rank import OAPBPM, AveragedPRank, Normalize, OAPStream, Scale, average
    >>> X, y = OAPStream(seed=1, features="quadratic").arrays(45_000)
    >>> def losses(make):
    ...     whole, shards = make(), [make() for _ in range(8)]
    ...     whole.learn_many(X[:40_000], y[:40_000])
    ...     for number, shard in enumerate(shards):
    ...         shard.learn_many(X[number:40_000:8], y[number:40_000:8])
    ...     for model in (whole, average(shards), shards[0]):
    ...         print(f"{abs(model.predict_many(X[40_000:]) - y[40_000:]).mean():.3f}", end=" ")
    >>> losses(lambda: OAPBPM(n_ranks=5, seed=1))
    0.193 0.194 0.252
    >>> losses(lambda: Scale() | Normalize() | OAPBPM(n_ranks=5, seed=1))
    0.177 0.166 0.199
    >>> losses(lambda: AveragedPRank(n_ranks=5))
    0.158 0.178 0.184
    """
    models = list(learners)
    if not models:
        raise MergeError("there is no learner to be averaged")
    for number, model in enumerate(models, 1):
        if not isinstance(model, Learner | Prepared):
            raise MergeError(
                f"learner {number} is a {type(model).__name__}, which has no average: learners of this package have, alone or behind its "
                "stages; of committees, each member with those of its kind: name the member that is meant"
            )
        if type(model) is not type(models[0]) and isinstance(models[0], Prepared) != isinstance(
            model, Prepared
        ):
            bare, behind = (1, number) if isinstance(model, Prepared) else (number, 1)
            raise MergeError(
                f"learner {behind} is behind stages and learner {bare} is not: only equals have an average"
            )
    return models[0].merged(models[1:])  # type: ignore[no-any-return]
