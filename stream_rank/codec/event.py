"""`Event`: what is decoded one by one, of values whose types were already checked."""

from collections.abc import Sequence
from enum import IntEnum
from math import isfinite
from typing import Any, NamedTuple

from stream_rank.codec.form import OWN_FORM, EventForm
from stream_rank.errors import EventError, FeatureError
from stream_rank.ingest.chunk import MOST_SHARED
from stream_rank.ingest.timestamps import NO_TIME, moment_of
from stream_rank.learners.base.values import LONGEST_NAME, features_of

__all__ = [
    *("COMPARISONS", "NO_FEATURES", "Event", "Kind", "comparison_of", "event_of", "place_form"),
]


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


def place_form(given: Any) -> str:
    """A list of items is a place that they share; a list of numbers is an item."""
    is_place = isinstance(given, list) and given and isinstance(given[0], dict | list)
    return "place" if is_place else "item"


NO_FEATURES = "x: Dictionary should have at least 1 item after validation, not 0"
"""The message for an event without features."""


def _named(features: Any, place: str, form: EventForm) -> dict[Any, float]:
    """Features by name, those of a list by index; -0.0 becomes 0.0, as the integer -0 of JSON does.

    Raises an `EventError` that names the place, if a value is none of a feature, or nothing is left that is not missing.
    """
    if isinstance(features, list):
        return {index: float(value) + 0.0 for index, value in enumerate(features)}
    try:
        found = features_of(features, form.categories)
        for name, value in found.items():
            if len(name) > LONGEST_NAME:  # type: ignore[arg-type]
                raise FeatureError(
                    f"the feature {str(name)[:40]!r}... has a name of {len(name):,} characters; "  # type: ignore[arg-type]
                    f"at most {LONGEST_NAME} are needed"
                )
            if not isfinite(value):
                raise FeatureError(f"feature {name!r} is {value}; a finite number is needed")
    except FeatureError as error:
        raise FeatureError(f"{place}: {error}") from None
    if not found and place != "context":
        raise EventError(NO_FEATURES.replace("x:", f"{place}:", 1))
    return found


def _checked(name: str | int | None, role: str) -> str | int | None:
    """An id or a group, which is kept and must not be too long."""
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        raise EventError(
            f"{role}: text of {len(name):,} characters, and at most {LONGEST_NAME} are needed"
        )
    return name


def event_of(
    kind: Kind,
    x: Any = None,
    y: float | None = None,
    name: str | int | None = None,
    ts: float | str | None = None,
    group: str | int | None = None,
    form: EventForm = OWN_FORM,
) -> Event:
    """An event of values whose types are already checked; an `EventError` if it cannot be learned from."""
    moment = NO_TIME if ts is None else moment_of(ts, form.ts_unit)
    features = {} if x is None else _named(x, "x", form)
    label = float("nan") if y is None else float(y) + 0.0
    return Event(kind, features, {}, label, _checked(name, "id"), moment, _checked(group, "group"))


def comparison_of(
    kind: Kind,
    given: Sequence[Any],
    context: Any = None,
    magnitude: float | None = None,
    tie: bool | None = None,
    name: str | int | None = None,
    ts: float | str | None = None,
    group: str | int | None = None,
    form: EventForm = OWN_FORM,
) -> Event:
    """A preference, a ranking or a choice, of values whose types are already checked.

    `given` are two items; or places, each an item or a list of equal ones; or the chosen item and then the others. An
    `EventError` if the parts contradict each other, or cannot be learned from.
    """
    moment = NO_TIME if ts is None else moment_of(ts, form.ts_unit)
    shared = {} if context is None else _named(context, "context", form)
    more = _checked(name, "id"), moment, _checked(group, "group")
    if kind is Kind.PREFERENCE:
        preferred, other = (
            _beside(shared, _named(item, place, form))
            for place, item in zip(("preferred", "other"), given, strict=True)
        )
        label = 0.0 if tie else 1.0 if magnitude is None else float(magnitude) + 0.0
        return Event(kind, preferred, other, label, *more)
    several = [place_form(each) == "place" if kind is Kind.RANKING else False for each in given]
    count = sum(len(each) if equals else 1 for each, equals in zip(given, several, strict=True))
    if count * len(shared) > MOST_SHARED:
        raise EventError(
            f"context: {len(shared):,} features beside {count:,} items are more than {MOST_SHARED:,} in all"
        )
    items: list[dict[Any, float]] = []
    places: list[int] = []
    for place, (each, equals) in enumerate(zip(given, several, strict=True)):
        if kind is Kind.RANKING:
            where = f"ranking.{place}"
        else:
            where = f"among.{place - 1}" if place else "chosen"
        if equals:
            found = [_named(item, f"{where}.{i}", form) for i, item in enumerate(each)]
        else:
            found = [_named(each, where, form)]
        items += (_beside(shared, item) for item in found)
        places += [place] * len(found)
    if kind is Kind.CHOICE:
        chosen = items[0]
        if chosen in items[1:]:  # it may be listed among what there was to choose from
            del items[items.index(chosen, 1)]
            places.pop()
        if len(items) == 1:
            raise EventError("among: nothing but the chosen item")
        places = [min(place, 1) for place in places]
    return Event(kind, {}, {}, float("nan"), *more, tuple(items), tuple(places))


def _beside(context: dict[Any, float], item: dict[Any, float]) -> dict[Any, float]:
    """An item with the features that all items of the event share."""
    if not context:
        return item
    twice = context.keys() & item.keys()
    if twice:
        raise EventError(f"context: feature {min(twice, key=str)!r} is an item's too")
    return {**item, **context}
