"""The settings of how events are written."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from stream_rank.codec.form import EventForm
from stream_rank.config.fields import Fields, pairs
from stream_rank.config.labels import Labels
from stream_rank.config.settings import Settings, listed
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.label_scale import LabelScale

__all__ = ["FIELDS", "FieldsSetting", "FormConfig"]

FIELDS = (
    "the fields of an event, or columns of a table, by role, as in y=stars x=price,specs.* group=user.id ts=created_at; "
    "fields in objects have dotted names, x may be patterns. By default y, id, ts and group have the role of that name, and "
    "all others are features. Of preferences, as in preferred=home_* other=away_* magnitude=goals tie=draw context=day; "
    "by default preferred.* and other.*. Of rankings and choices in tables, as in ranking=order, or chosen=took_* among=offers: "
    "columns of lists of items (structs, maps, lists of numbers), or of JSON text. Without it, events of JSON have our own form"
)
FieldsSetting = Annotated[Fields | None, BeforeValidator(pairs)]


class FormConfig(Settings):
    """Settings of whatever reads events."""

    fields: FieldsSetting = Field(None, description=FIELDS)
    categories: Annotated[list[str] | None, BeforeValidator(listed)] = Field(
        None,
        description="a feature whose numbers are names, such as an id: user=17 is a feature then; may be repeated",
    )
    envelope: Literal["debezium", "cloudevents"] | None = Field(
        None, description="what the events come in, if anything"
    )
    ts_unit: Literal["ms", "s", "us", "ns"] = Field(
        "ms", description="what times count that are numbers: milliseconds since 1970, seconds ..."
    )
    labels: Labels = Field(
        None,
        description="the labels from the lowest to the highest, where they are not 1 to N, as in bad,ok,good or 0.5,1,...,5",
    )

    @property
    def scale(self) -> LabelScale | None:
        """The labels, where they are not 1 to N."""
        return None if self.labels is None else LabelScale(tuple(self.labels))  # type: ignore[arg-type]

    @property
    def names(self) -> tuple[str, ...]:
        """The features whose numbers are names."""
        return tuple(self.categories or ())

    def form(self) -> EventForm:
        """How events of JSON are written."""
        return EventForm(
            frozenset(self.names),
            self.ts_unit,
            None if self.fields is None else self.fields.of_events(),
            self.envelope,
            self.scale,
        )

    def mapping(self) -> Mapping:
        """Which columns of tables have which role."""
        return (self.fields or Fields()).mapping(self.ts_unit, self.names, self.scale)
