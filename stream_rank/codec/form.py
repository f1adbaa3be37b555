"""`EventForm`: what a run's settings say about how its events are written."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Literal

from stream_rank.codec.envelope import Envelope, contents
from stream_rank.codec.fields import Fields
from stream_rank.ingest.label_scale import LabelScale

__all__ = ["OWN_FORM", "EventForm"]


@dataclass(frozen=True)
class EventForm:
    """How events are written."""

    categories: Set[str] = frozenset()
    """The features whose numbers are names."""
    ts_unit: Literal["ms", "s", "us", "ns"] = "ms"
    """What times count that are numbers."""
    fields: Fields | None = None
    """The fields of every role; None where events have our own form."""
    envelope: Envelope | None = None
    """What events come in."""
    labels: LabelScale | None = None
    """The labels, where they are not the ranks 1 to N."""

    @property
    def own(self) -> bool:
        """Whether events have our own form as they are."""
        return self.fields is None and self.envelope is None and self.labels is None

    def own_form(self, record: Any) -> Any:
        """The event of a parsed record in our own form, which may not be valid.

        This is the reference for the scanner, by the tree that `layout` has. Raises an `EventError` where no event is, and
        `Left` for what need not be one.
        """
        own = self._in_place(record)
        if self.labels is not None and isinstance(own, dict) and own.get("y") is not None:
            return own | {"y": self.labels.rank_of(own["y"])}
        return own

    def _in_place(self, record: Any) -> Any:
        """The event of a parsed record with everything under our own names."""
        more: dict[str, Any] = {}
        if self.envelope is not None:
            record, more = contents(record, self.envelope)
        if self.fields is not None:
            return self.fields.own_form(record, more)
        if not isinstance(record, dict):
            return record
        return record | {key: value for key, value in more.items() if record.get(key) is None}


OWN_FORM = EventForm()
"""The form of events that says nothing beside the schema."""
