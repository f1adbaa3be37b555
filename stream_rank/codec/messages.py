"""From chunks of any source to messages of JSON, for `stream-rank produce`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from stream_rank.codec.fields import Fields
from stream_rank.codec.orders_decoder import content_of
from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.errors import EventError
from stream_rank.ingest.chunk import Categories, Columns, Records

__all__ = ["messages"]


def messages(
    chunk: Records | Columns, key: Literal["id", "group"] | None, fields: Fields | None = None
) -> Iterator[tuple[bytes, bytes | None]]:
    """The events of a chunk as JSON with their keys. Records are sent unchanged, valid or not, or in our own form by `fields`."""
    if isinstance(chunk, Records):
        for record in range(len(chunk)):
            raw = _json(chunk, record)
            if raw.strip():
                raw = raw if fields is None else _own_form(raw, fields)
                yield raw, None if key is None else _key(raw, key)
        return
    for record in range(len(chunk)):
        if record in chunk.wrong:  # unchanged too: it becomes a dead letter that says what it was
            yield chunk.raw(record), None
            continue
        try:
            event = _event(chunk, record)
        except EventError:  # unchanged too
            yield chunk.raw(record), None
            continue
        name = None if key is None else event.get(key)
        yield json.dumps(event).encode(), None if name is None else str(name).encode()


def _json(chunk: Records, record: int) -> bytes:
    """A record as JSON; one that cannot be is as it was."""
    if chunk.json_of is not None:
        with suppress(EventError):
            return chunk.json_of(record)
    return chunk.raw(record)


def _own_form(raw: bytes, fields: Fields) -> bytes:
    """A record in our own form; one that is no event is as it was, and becomes a dead letter that says what it was."""
    try:
        return json.dumps(fields.own_form(json.loads(raw))).encode()
    except (ValueError, RecursionError):
        return raw


def _key(raw: bytes, key: str) -> bytes | None:
    """The value of the key field of a record; None if it has none or is not a JSON object."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    name = content.get(key) if isinstance(content, dict) else None
    return None if name is None else str(name).encode()


def _event(chunk: Columns, record: int) -> dict[str, Any]:
    """A row of columns as a JSON object."""
    event: dict[str, Any] = {} if chunk.items is None else content_of(chunk.items, record)
    x = _item(chunk.features, chunk.missing, chunk.categories, record)
    has_label = chunk.labels is not None and not np.isnan(chunk.labels[record])
    label = float(chunk.labels[record]) if has_label and chunk.labels is not None else None
    if chunk.others is not None:
        other = _item(chunk.others, chunk.others_missing, chunk.others_categories, record)
        event |= {"preferred": x, "other": other, "magnitude": label}
    else:
        event |= {"x": x} if x else {}
        event |= {} if label is None else {"y": label}
    if chunk.times is not None and chunk.times[record] != NO_TIME:
        event["ts"] = int(chunk.times[record])
    for name, column in (("id", chunk.ids), ("group", chunk.groups)):
        if column is not None and column[record] is not None:
            event[name] = column[record]
    return event


def _item(
    features: Mapping[str, Any],
    missing: Mapping[str, Any],
    categories: Iterable[Categories],
    record: int,
) -> dict[str, Any]:
    """The features of an item that are not missing."""
    found: dict[str, Any] = {
        name: float(column[record])
        for name, column in features.items()
        if name not in missing or not missing[name][record]
    }
    for each in categories:
        found |= each.at(record)
    return found
