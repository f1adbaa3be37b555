"""The schema of events (pydantic), which is the reference for the faster decoders and words all reasons of rejection."""

import json
from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from stream_rank.errors import EventError, UnreadableError
from stream_rank.ingest.timestamps import NO_TIME, moment_of

__all__ = [
    "COMPARISONS",
    "NO_FEATURES",
    "Choice",
    "Event",
    "Kind",
    "LabelEvent",
    "Preference",
    "Ranking",
    "Rating",
    "Request",
    "comparison_of",
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


class _Comparison(_Base):
    """Items that were compared with each other."""

    context: Features | None = Field(
        None, description="features that all items share, beside their own"
    )


class Preference(_Comparison):
    """Two items, of which the first is preferred, or none: a tie."""

    preferred: Features
    other: Features
    magnitude: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = Field(
        None, description="by how much; 1 by default, and 0 is a tie"
    )
    tie: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="whether neither is preferred"
    )

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.tie is not None and self.magnitude is not None:
            if self.tie and self.magnitude > 0:
                raise ValueError("tie: a tie has no magnitude, or one of 0")
            if not self.tie and self.magnitude == 0:
                raise ValueError("tie: a magnitude of 0 is a tie")
        return self


def _place_form(given: Any) -> str:
    """A list of items is a place that they share; a list of numbers is an item."""
    is_place = isinstance(given, list) and given and isinstance(given[0], dict | list)
    return "place" if is_place else "item"


Place = Annotated[
    Annotated[Features, Tag("item")] | Annotated[list[Features], Field(min_length=1), Tag("place")],
    Discriminator(_place_form),
]
"""An item, or a list of items that are equal."""


class Ranking(_Comparison):
    """Items in their order, the best first."""

    ranking: Annotated[list[Place], Field(min_length=1)] = Field(
        description="items, the best first; equal ones as a list at one place"
    )

    @model_validator(mode="after")
    def _several(self) -> Self:
        if len(self.ranking) == 1 and _place_form(self.ranking[0]) == "item":
            raise ValueError("ranking: two items at least are ranked")
        if len(self.ranking) == 1 and len(self.ranking[0]) == 1:
            raise ValueError("ranking: two items at least are ranked")
        return self


class Choice(_Comparison):
    """An item that was chosen among others."""

    chosen: Features
    among: Annotated[list[Features], Field(min_length=1)] = Field(
        description="what could have been chosen; the chosen item may be among it"
    )


class Kind(IntEnum):
    """The kinds of events."""

    RATING = 0
    REQUEST = 1
    LABEL = 2
    PREFERENCE = 3
    RANKING = 4
    CHOICE = 5


COMPARISONS = (Kind.PREFERENCE, Kind.RANKING, Kind.CHOICE)
"""Kinds that are learned as preferences: a ranking and a choice are several."""


class Event(NamedTuple):
    """A decoded event: features by name, those of a list by index."""

    kind: Kind
    x: dict[Any, float]
    other: dict[Any, float]
    y: float
    id: str | int | None
    ts: int
    group: str | int | None
    items: tuple[dict[Any, float], ...] = ()
    """Of a ranking all items, the best first; of a choice the chosen item and then the others."""
    places: tuple[int, ...] = ()
    """The place of each item, from 0; equal items share theirs."""

    @property
    def all_items(self) -> tuple[dict[Any, float], ...]:
        """The features of the event, or of each of its items."""
        if self.items:
            return self.items
        return (self.x, self.other) if self.kind is Kind.PREFERENCE else (self.x,)


_MODELS: dict[Kind, type[BaseModel]] = {
    Kind.RATING: Rating,
    Kind.REQUEST: Request,
    Kind.LABEL: LabelEvent,
    Kind.PREFERENCE: Preference,
    Kind.RANKING: Ranking,
    Kind.CHOICE: Choice,
}
NO_FEATURES = "x: Dictionary should have at least 1 item after validation, not 0"
"""The schema's message for an event without features."""
_SHOWN = 60
"""Characters of a wrong value that are shown."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of an event."""
    schema = TypeAdapter(
        Rating | Request | Preference | Ranking | Choice | LabelEvent
    ).json_schema()
    return {"title": "an event of stream-rank", **schema}


def named(features: Any) -> dict[Any, float]:
    """Features by name, those of a list by index; -0.0 becomes 0.0, as the integer -0 of JSON does."""
    if isinstance(features, list):
        return {place: float(value) + 0.0 for place, value in enumerate(features)}
    return {name: float(value) + 0.0 for name, value in features.items()}


def event_of(
    kind: Kind,
    x: Any = None,
    y: float | None = None,
    name: str | int | None = None,
    ts: int | str | None = None,
    group: str | int | None = None,
) -> Event:
    """An event of values whose types are already checked."""
    moment = NO_TIME if ts is None else moment_of(ts)
    features = {} if x is None else named(x)
    label = float("nan") if y is None else float(y) + 0.0
    return Event(kind, features, {}, label, name, moment, group)


def comparison_of(
    kind: Kind,
    given: Sequence[Any],
    context: Any = None,
    magnitude: float | None = None,
    tie: bool | None = None,
    name: str | int | None = None,
    ts: int | str | None = None,
    group: str | int | None = None,
) -> Event:
    """A preference, a ranking or a choice, of values whose types are already checked.

    `given` are two items; or places, each an item or a list of equal ones; or the chosen item and then the others. A
    `ValueError` if the parts contradict each other.
    """
    moment = NO_TIME if ts is None else moment_of(ts)
    shared = {} if context is None else named(context)
    if kind is Kind.PREFERENCE:
        preferred, other = (_beside(shared, named(item)) for item in given)
        label = 0.0 if tie else 1.0 if magnitude is None else float(magnitude) + 0.0
        return Event(kind, preferred, other, label, name, moment, group)
    items: list[dict[Any, float]] = []
    places: list[int] = []
    for place, each in enumerate(given):
        equals = each if kind is Kind.RANKING and _place_form(each) == "place" else [each]
        items += (_beside(shared, named(item)) for item in equals)
        places += [place] * len(equals)
    if kind is Kind.CHOICE:
        chosen = items[0]
        if chosen in items[1:]:  # it may be listed among what there was to choose from
            del items[items.index(chosen, 1)]
            places.pop()
        if len(items) == 1:
            raise ValueError("among: nothing but the chosen item")
        places = [min(place, 1) for place in places]
    return Event(kind, {}, {}, float("nan"), name, moment, group, tuple(items), tuple(places))


def _beside(context: dict[Any, float], item: dict[Any, float]) -> dict[Any, float]:
    """An item with the features that all items of the event share."""
    if not context:
        return item
    twice = context.keys() & item.keys()
    if twice:
        raise ValueError(f"context: feature {min(twice, key=str)!r} is an item's too")
    return {**item, **context}


def _kind(content: dict[str, Any]) -> Kind:
    if "preferred" in content or "other" in content:
        return Kind.PREFERENCE
    if "ranking" in content:
        return Kind.RANKING
    if "chosen" in content or "among" in content:
        return Kind.CHOICE
    if "x" not in content and {"y", "id"} <= content.keys():
        return Kind.LABEL
    return Kind.REQUEST if content.get("y") is None else Kind.RATING


def _reason(error: ValidationError) -> str:
    """The first validation error, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    tags = ("object", "list", "str", "int", "float", "item", "place")
    place = ".".join(
        str(part) for part in first["loc"] if part not in tags and "[" not in str(part)
    )
    if not place and first["type"] == "value_error":  # of a model, whose message names the field
        return str(first["msg"]).removeprefix("Value error, ")
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
    if kind in COMPARISONS:
        try:
            return _comparison(kind, found)
        except ValueError as error:
            raise EventError(str(error)) from None
    if kind is Kind.LABEL:
        return event_of(kind, y=found.y, name=found.id, ts=found.ts)
    return event_of(kind, found.x, found.y, found.id, found.ts, found.group)


def _comparison(kind: Kind, found: Any) -> Event:
    more: dict[str, Any] = {
        "context": found.context,
        "name": found.id,
        "ts": found.ts,
        "group": found.group,
    }
    if kind is Kind.PREFERENCE:
        given = found.preferred, found.other
        return comparison_of(kind, given, magnitude=found.magnitude, tie=found.tie, **more)
    if kind is Kind.RANKING:
        return comparison_of(kind, found.ranking, **more)
    return comparison_of(kind, [found.chosen, *found.among], **more)
