"""The protocol of parts whose state snapshots keep."""

from typing import Protocol, runtime_checkable

from stream_rank.learners.base.state import State

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """A part of a run that has state. The checkpointer dumps and loads all of them through this protocol."""

    @property
    def key(self) -> str:
        """The key of its state in snapshots, unique in the run."""

    def dump(self) -> State:
        """Its state; dumping does not change the part."""

    def load(self, state: State) -> None:
        """Restore a state that a part of the same kind and settings dumped; raises `ValueError` if it does not fit."""
