"""The schema of events (pydantic), which is the reference for the faster decoders and words all reasons of rejection."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import from_json

from stream_rank.codec.event import (
    COMPARISONS,
    Event,
    Kind,
    comparison_of,
    event_of,
    place_form,
)
from stream_rank.codec.form import OWN_FORM, EventForm
from stream_rank.errors import EventError, UnreadableError
from stream_rank.ingest.timestamps import moment_of

__all__ = [
    *("Choice", "LabelEvent", "Preference", "Ranking", "Rating", "Request"),
    *("check", "json_schema", "parse"),
]


def _form(x: Any) -> str:
    return "list" if isinstance(x, list) else "object"


def _timely(ts: float | str | None, info: ValidationInfo) -> float | str | None:
    form = info.context or OWN_FORM
    if ts is not None:
        moment_of(ts, form.ts_unit)
    return ts


_VALUE: dict[str, Any] = {
    "description": "a number; true and false are 1 and 0; text is a category, a list of texts several; an object's features are "
    "named with dots; null, empty text, an empty list or object is missing",
    "anyOf": [
        {"type": ["number", "boolean", "string", "null"]},
        {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/Value"}},
    ],
}
"""The JSON Schema of a feature's value. `stream_rank.learners.base.values` says what it is, and words what is wrong."""


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_STANDS_FOR_VALUE = {"const": "a value"}
"""Pydantic follows every reference that it is given, and this one leads to what it does not know."""
Value = Annotated[Any, WithJsonSchema(_STANDS_FOR_VALUE)]
Name = (
    Annotated[str, Field(strict=True)] | Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
)
Features = Annotated[
    Annotated[dict[Annotated[str, Field(strict=True)], Value], Field(min_length=1), Tag("object")]
    | Annotated[list[Number], Field(min_length=1), Tag("list")],
    Discriminator(_form),
]
"""Values by name, or a list of numbers, whose element i is feature i."""
Time = Annotated[
    Annotated[int, Field(strict=True)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | Annotated[str, Field(strict=True)]
    | None,
    AfterValidator(_timely),
]


class _Base(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: Name | None = Field(None, description="the producer's name for the event")
    ts: Time = Field(
        None,
        description="when it happened: RFC 3339, or milliseconds since 1970 (or what `ts_unit` says)",
    )
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
    ts: Time = None


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


Place = Annotated[
    Annotated[Features, Tag("item")] | Annotated[list[Features], Field(min_length=1), Tag("place")],
    Discriminator(place_form),
]
"""An item, or a list of items that are equal."""


class Ranking(_Comparison):
    """Items in their order, the best first."""

    ranking: Annotated[list[Place], Field(min_length=1)] = Field(
        description="items, the best first; equal ones as a list at one place"
    )

    @model_validator(mode="after")
    def _several(self) -> Self:
        if len(self.ranking) == 1 and place_form(self.ranking[0]) == "item":
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


_MODELS: dict[Kind, type[BaseModel]] = {
    Kind.RATING: Rating,
    Kind.REQUEST: Request,
    Kind.LABEL: LabelEvent,
    Kind.PREFERENCE: Preference,
    Kind.RANKING: Ranking,
    Kind.CHOICE: Choice,
}
_SHOWN = 60
"""Characters of a wrong value that are shown."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of an event."""
    schema = TypeAdapter(
        Rating | Request | Preference | Ranking | Choice | LabelEvent
    ).json_schema()
    text = json.dumps({"title": "an event of stream-rank", **schema})
    reference = json.dumps({"$ref": "#/$defs/Value"})
    found: dict[str, Any] = json.loads(text.replace(json.dumps(_STANDS_FOR_VALUE), reference))
    found["$defs"]["Value"] = _VALUE
    return found


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
    place = ".".join(_without_tags(first["loc"]))
    if not place and first["type"] == "value_error":  # of a model, whose message names the field
        return str(first["msg"]).removeprefix("Value error, ")
    given = first["input"]
    shown = "" if isinstance(given, dict | list) else f", not {_clipped(given)}"
    return f"{place or 'event'}: {first['msg']}{shown}"


_ITEMS = ("x", "preferred", "other", "chosen", "context")
"""Keys whose values are items."""


def _without_tags(loc: Iterable[str | int]) -> Iterator[str]:
    """The place of an error, without pydantic's words for which form of a value it is of: features may have such names."""
    before: str | int = ""
    of_item = False  # whether what follows are names of features
    for part in loc:
        tag = not of_item and (
            (part in ("object", "list") and (before in _ITEMS or isinstance(before, int)))
            or (part in ("object", "list") and before == "item")
            or (part in ("item", "place") and isinstance(before, int))
            or (before in ("id", "group", "ts") and isinstance(part, str))
        )
        of_item = of_item or (tag and part in ("object", "list"))
        before = part
        if not tag:
            yield str(part)


def _clipped(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def parse(raw: bytes, form: EventForm = OWN_FORM) -> Event:
    """Parse an event by the schema; raises `EventError` with the reason, and `Left` if the record need not be one."""
    try:
        content = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise UnreadableError(f"not JSON: {error}") from None
    if form.own:
        return check(content, form)
    own = form.own_form(content)
    if form.fields is None:
        return check(own, form)
    try:
        return check(own, form)
    except EventError as error:
        raise type(error)(form.fields.worded(str(error))) from None


def check(content: Any, form: EventForm = OWN_FORM) -> Event:
    """Validate parsed JSON by the schema."""
    if not isinstance(content, dict):
        raise EventError(f"an event is a JSON object, not {_clipped(content)}")
    kind = _kind(content)
    try:
        found: Any = _MODELS[kind].model_validate(content, context=form)
    except ValidationError as error:
        raise EventError(_reason(error)) from None
    if kind in COMPARISONS:
        return _comparison(kind, found, form)
    if kind is Kind.LABEL:
        return event_of(kind, y=found.y, name=found.id, ts=found.ts, form=form)
    return event_of(kind, found.x, found.y, found.id, found.ts, found.group, form)


def _comparison(kind: Kind, found: Any, form: EventForm) -> Event:
    more: dict[str, Any] = {
        "context": found.context,
        "name": found.id,
        "ts": found.ts,
        "group": found.group,
        "form": form,
    }
    if kind is Kind.PREFERENCE:
        given = found.preferred, found.other
        return comparison_of(kind, given, magnitude=found.magnitude, tie=found.tie, **more)
    if kind is Kind.RANKING:
        return comparison_of(kind, found.ranking, **more)
    return comparison_of(kind, [found.chosen, *found.among], **more)
