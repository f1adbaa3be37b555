"""A new run whose learner does not begin with nothing, but as a model that was saved: an average of other runs, say."""

from collections.abc import Sequence
from typing import Any

from stream_rank.checkpoint.model_file import chosen_in, learner_in, open_snapshot
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.preparations import Preparations
from stream_rank.errors import ConfigError
from stream_rank.features.catalogue import state_of
from stream_rank.learners.base.state import State

__all__ = ["begin_with"]


def begin_with(
    url: str,
    contestants: Sequence[Contestant],
    preparations: Preparations,
    index: FeatureIndex,
    most_features: int,
    labels: Sequence[Any] | None = None,
) -> None:
    """Let the only learner of a run, and its stages, be as in a file; a `ConfigError` if these are of another kind.

    The position is the run's own, since a model has none. Losses are counted from here. `labels` are the run's: where the other run
    had some too, its ranks are those.
    """
    mine = contestants[0].state
    if len(contestants) != 1 or mine is None:
        names = ", ".join(each.name for each in contestants)
        raise ConfigError(
            f"a run that begins with a model has one learner of this package, and not {names}"
        )
    one, snapshot = contestants[0], open_snapshot(url)
    theirs_were = (snapshot.metadata.get("settings") or {}).get("labels")
    if labels is not None and theirs_were not in (None, list(labels)):
        raise ConfigError(
            f"{url} learned the `labels` {theirs_were!r}, and the run has {list(labels)!r}: give those, in their order"
        )
    name = chosen_in(snapshot)
    if name is None:
        raise ConfigError(f"{url} has several learners, or none: save the one to begin with alone")
    model: Any = learner_in(snapshot, name)
    theirs = [*getattr(model, "stages", []), getattr(model, "learner", model)]
    chain = tuple(one.chain)
    stages = preparations.of(chain) if chain else []
    _check_alike(url, [*stages, one.model], theirs)
    known = max(len(model.features), len(theirs[-1].features))
    if known > most_features:
        raise ConfigError(
            f"{url} knows {known:,} features, and there is room for {most_features:,}: "
            "give more with `max_features` or `learner_memory_limit`"
        )
    for stage, other in zip(stages, theirs, strict=False):
        stage.load(state_of(other))
    metadata, arrays = theirs[-1].dump()
    mine.load(State({**metadata, **({"preparation": list(chain)} if chain else {})}, arrays))
    index.know(model.features)


def _check_alike(url: str, mine: Sequence[Any], theirs: Sequence[Any]) -> None:
    told = [
        " | ".join(type(step).__name__ for step in steps)
        + f" of {[step.parameters for step in steps]}"
        for steps in (mine, theirs)
    ]
    if told[0] != told[1]:
        raise ConfigError(
            f"the run has {told[0]}, and {url} is {told[1]}: give the learner, its stages and settings as in the model"
        )
