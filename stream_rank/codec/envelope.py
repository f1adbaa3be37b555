"""Envelopes: what other systems put around an event."""

import json
from typing import Any, Literal

from stream_rank.errors import EventError
from stream_rank.ingest.message import Headers

__all__ = ["Envelope", "Left", "contents", "with_attributes"]

Envelope = Literal["debezium", "cloudevents"]
"""What events come in."""


class Left(Exception):  # noqa: N818 - nothing is wrong
    """A record that is none of an event, such as a row's deletion, and is left out."""


def contents(record: Any, envelope: Envelope) -> tuple[Any, dict[str, Any]]:
    """The event in an envelope, and the id and the time that the envelope gives to an event without.

    Raises an `EventError` if there is none, and `Left` if there need not be one.

    >>> contents({"payload": {"before": None, "after": {"x": {"a": 1}, "y": 2}}}, "debezium")
    ({'x': {'a': 1}, 'y': 2}, {})
    """
    if record is None:  # what follows a deletion in a compacted topic
        raise Left
    if not isinstance(record, dict):
        raise EventError(f"an event is a JSON object in an envelope, not {record!r:.60}")
    if envelope == "debezium":
        place, inner = "after", record
        if "payload" in record:
            place, inner = "payload.after", record["payload"]
        if not isinstance(inner, dict) or "after" not in inner:
            raise EventError(
                f"{place}: Field required; with `envelope` debezium the event stands there, or there is null"
            )
        if inner["after"] is None:
            raise Left
        return _object(inner["after"], place, envelope), {}
    if "data" not in record:
        hint = ", and data_base64 cannot be read" if "data_base64" in record else ""
        raise EventError(f"data: Field required; with `envelope` cloudevents it is the event{hint}")
    if "data_base64" in record:
        raise EventError("data_base64: an event has data or this, and both were given")
    more = {
        role: record[key]
        for role, key in (("id", "id"), ("ts", "time"))
        if record.get(key) is not None
    }
    return _object(record["data"], "data", envelope), more


_STRUCTURED = "application/cloudevents"
"""What the content type of an event in structured mode begins with; what it says about one in binary mode is not needed."""
_VERSION, _ID, _TIME = "ce_specversion", "ce_id", "ce_time"


def with_attributes(headers: Headers) -> tuple[bytes, bytes] | None:
    """What belongs before and behind the value of a CloudEvent in binary mode, whose attributes are Kafka headers, to have it in
    structured mode; None if it is not one.

    >>> with_attributes([("ce_specversion", b"1.0"), ("ce_id", b"A-1"), ("content-type", b"application/json")])
    (b'{"id":"A-1","data":', b'}')
    """
    given = {name: value for name, value in headers if value is not None}
    kind = given.get("content-type", b"").decode("latin-1").strip().lower()
    if _VERSION not in given or kind.startswith(_STRUCTURED):
        return None
    before = "{"
    for header, key in ((_ID, "id"), (_TIME, "time")):
        if header in given:
            try:
                before += f'"{key}":{json.dumps(given[header].decode())},'
            except UnicodeDecodeError:
                raise EventError(f"{header}: the header of a CloudEvent is no UTF-8") from None
    return before.encode() + b'"data":', b"}"


def _object(event: Any, place: str, envelope: str) -> dict[str, Any]:
    if not isinstance(event, dict):
        raise EventError(
            f"{place}: an object is needed, which is the event of `envelope` {envelope}, not {event!r:.60}"
        )
    return event
