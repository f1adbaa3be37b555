"""The protocol of all that a snapshot keeps."""

from typing import Protocol, runtime_checkable

from stream_rank.learners.base.state import State

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """A part of a run that remembers something.

    The checkpointer walks such parts and knows none of them by name.
    """

    @property
    def key(self) -> str:
        """What its state is kept under. Nobody else in the run has the same."""

    def dump(self) -> State:
        """All that it remembers; it stays as it is."""

    def load(self, state: State) -> None:
        """Remember what another part of the same kind and settings dumped; a `ValueError` if they do not fit together."""
