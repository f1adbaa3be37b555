"""The setting `fields`: which fields of events, or columns of tables, have which role."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from stream_rank.codec.fields import Fields as EventFields
from stream_rank.errors import ConfigError
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.label_scale import LabelScale

__all__ = ["Fields", "pairs"]


def pairs(given: Any) -> Any:
    """Fields by role, from "y=stars x=a,b" in a variable or a list of flags."""
    parts = given.split() if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return given
    pairs = [part.partition("=") for part in parts]
    if not all(equals and value for _, equals, value in pairs):
        raise ValueError("fields are given as ROLE=FIELD, as in y=stars x=a,b")
    roles = {role: value for role, _, value in pairs}
    if len(roles) < len(pairs):
        raise ValueError("a role is given twice")
    return roles


_Names = Annotated[
    list[str],
    BeforeValidator(lambda given: given.split(",") if isinstance(given, str) else given),
]


_OF_TABLES = ("ranking", "chosen", "among")
"""Roles that columns of tables alone may have: in JSON, rankings and choices have our own form."""


class Fields(BaseModel):
    """The field of each role."""

    model_config = ConfigDict(extra="forbid")

    x: _Names | None = None
    y: str | None = None
    id: str | None = None
    ts: str | None = None
    group: str | None = None
    preferred: str | None = None
    other: str | None = None
    magnitude: str | None = None
    tie: str | None = None
    context: _Names | None = None
    ranking: str | None = None
    chosen: str | None = None
    among: str | None = None

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        try:
            self.of_events()
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self

    def _given(self) -> dict[str, Any]:
        given = self.model_dump(exclude={"x", "context"})
        x = None if self.x is None else tuple(self.x)
        return {"x": x, "context": tuple(self.context or ()), **given}

    def mapping(
        self,
        ts_unit: Any = "ms",
        categories: tuple[str, ...] = (),
        labels: LabelScale | None = None,
    ) -> Mapping:
        """The mapping for the sources of tables."""
        return Mapping(**self._given(), ts_unit=ts_unit, categories=categories, labels=labels)

    def of_events(self) -> EventFields | None:
        """The same for events of JSON; None if nothing is given, so that they have our own form."""
        given = self._given()
        for role in _OF_TABLES:
            given.pop(role)
        found = EventFields(**given)
        return found if found.given else None
