"""The classes of stages, by name, and restoring a stage from its state."""

from stream_rank.errors import SnapshotError
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.features.names import STAGE_CLASSES
from stream_rank.learners.base.named_classes import classes_in, name_among
from stream_rank.learners.base.state import State

__all__ = ["STAGES", "name_of_stage", "stage_from", "state_of"]


STAGES: dict[str, type[FeatureStage]] = classes_in("features", STAGE_CLASSES)
"""Names as specifications and snapshots have them."""


def name_of_stage(stage: type[FeatureStage]) -> str:
    """The name of a class of stages; a `SnapshotError` for one that is not of the package."""
    return name_among(STAGES, stage, "stages")


def state_of(stage: FeatureStage) -> State:
    """The whole state of a stage, of which `stage_from` makes an equal one."""
    state = stage.dump()
    return State({"stage": name_of_stage(type(stage)), **state.metadata}, state.arrays)


def stage_from(state: State) -> FeatureStage:
    """The stage that `state_of` was asked of; a `SnapshotError` if the parts of the state do not fit together.

    >>> from stream_rank import Scale
    >>> stage = Scale(width=3.0)
    >>> stage.learn_one({"a": 1.5})
    >>> stage_from(state_of(stage)).features
    ['a']
    """
    try:
        stage = STAGES[state.metadata["stage"]](**state.metadata["parameters"])
        stage.load(state)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise SnapshotError(f"the parts of the stage do not fit together: {error}") from error
    return stage
