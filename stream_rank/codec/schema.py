"""The schema of events (pydantic), which is the reference for the faster decoders and words all reasons of rejection."""

import json
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import from_json

from stream_rank.errors import EventError, UnreadableError
from stream_rank.ingest.timestamps import NO_TIME, moment_of

__all__ = [
    "NO_FEATURES",
    "Event",
    "Kind",
    "LabelEvent",
    "Preference",
    "Rating",
    "Request",
    "json_schema",
    "parse",
]


def _form(x: Any) -> str:
    return "list" if isinstance(x, list) else "object"


def _timely(ts: int | str | None) -> int | str | None:
    if ts is not None:
        moment_of(ts)
    return ts


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = (
    Annotated[str, Field(strict=True)] | Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
)
Features = Annotated[
    Annotated[dict[Annotated[str, Field(strict=True)], Number], Field(min_length=1), Tag("object")]
    | Annotated[list[Number], Field(min_length=1), Tag("list")],
    Discriminator(_form),
]
"""Numbers by name, or a list, whose element i is feature i."""


class _Base(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: Name | None = Field(None, description="the producer's name for the event")
    ts: Annotated[
        Annotated[int, Field(strict=True)] | Annotated[str, Field(strict=True)] | None,
        AfterValidator(_timely),
    ] = Field(None, description="when it happened: RFC 3339, or milliseconds since 1970")
    group: Name | None = Field(
        None, description="the query, user or race that the event belongs to"
    )


class Rating(_Base):
    """Features and their label."""

    x: Features
    y: Number


class Request(_Base):
    """Features whose label is wanted, or will come later as a `LabelEvent`."""

    x: Features
    y: None = None


class LabelEvent(BaseModel):
    """The label of an earlier request with the same id."""

    model_config = ConfigDict(extra="forbid")

    id: Name
    y: Number
    ts: Annotated[
        Annotated[int, Field(strict=True)] | Annotated[str, Field(strict=True)] | None,
        AfterValidator(_timely),
    ] = None


class Preference(_Base):
    """Two items, of which the first is preferred."""

    preferred: Features
    other: Features
    magnitude: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = Field(
        None, description="by how much; 1 by default"
    )


class Kind(IntEnum):
    """The kinds of events."""

    RATING = 0
    REQUEST = 1
    LABEL = 2
    PREFERENCE = 3


class Event(NamedTuple):
    """A decoded event: features by name, those of a list by index."""

    kind: Kind
    x: dict[Any, float]
    other: dict[Any, float]
    y: float
    id: str | int | None
    ts: int
    group: str | int | None


_MODELS: dict[Kind, type[BaseModel]] = {
    Kind.RATING: Rating,
    Kind.REQUEST: Request,
    Kind.LABEL: LabelEvent,
    Kind.PREFERENCE: Preference,
}
NO_FEATURES = "x: Dictionary should have at least 1 item after validation, not 0"
"""The schema's message for an event without features."""
_SHOWN = 60
"""Characters of a wrong value that are shown."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of an event."""
    schema = TypeAdapter(Rating | Request | Preference | LabelEvent).json_schema()
    return {"title": "an event of stream-rank", **schema}


def named(features: Any) -> dict[Any, float]:
    """Features by name, those of a list by index; -0.0 becomes 0.0, as the integer -0 of JSON does."""
    if isinstance(features, list):
        return {place: float(value) + 0.0 for place, value in enumerate(features)}
    return {name: float(value) + 0.0 for name, value in features.items()}


def event_of(
    kind: Kind,
    x: Any = None,
    other: Any = None,
    y: float | None = None,
    name: str | int | None = None,
    ts: int | str | None = None,
    group: str | int | None = None,
) -> Event:
    """An event of values whose types are already checked."""
    moment = NO_TIME if ts is None else moment_of(ts)
    features = {} if x is None else named(x)
    label = float("nan") if y is None else float(y) + 0.0
    return Event(kind, features, {} if other is None else named(other), label, name, moment, group)


def _kind(content: dict[str, Any]) -> Kind:
    if "preferred" in content or "other" in content:
        return Kind.PREFERENCE
    if "x" not in content and {"y", "id"} <= content.keys():
        return Kind.LABEL
    return Kind.REQUEST if content.get("y") is None else Kind.RATING


def _reason(error: ValidationError) -> str:
    """The first validation error, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(
        str(part)
        for part in first["loc"]
        if part not in ("object", "list", "str", "int", "float") and "[" not in str(part)
    )
    given = first["input"]
    shown = "" if isinstance(given, dict | list) else f", not {_clipped(given)}"
    return f"{place or 'event'}: {first['msg']}{shown}"


def _clipped(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def parse(raw: bytes) -> Event:
    """Parse an event by the schema; raises `EventError` with the reason."""
    try:
        content = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise UnreadableError(f"not JSON: {error}") from None
    return check(content)


def check(content: Any) -> Event:
    """Validate parsed JSON by the schema."""
    if not isinstance(content, dict):
        raise EventError(f"an event is a JSON object, not {_clipped(content)}")
    kind = _kind(content)
    try:
        found: Any = _MODELS[kind].model_validate(content)
    except ValidationError as error:
        raise EventError(_reason(error)) from None
    if kind is Kind.PREFERENCE:
        return event_of(
            kind,
            found.preferred,
            found.other,
            1.0 if found.magnitude is None else found.magnitude,
            found.id,
            found.ts,
            found.group,
        )
    if kind is Kind.LABEL:
        return event_of(kind, y=found.y, name=found.id, ts=found.ts)
    return event_of(kind, found.x, None, found.y, found.id, found.ts, found.group)
