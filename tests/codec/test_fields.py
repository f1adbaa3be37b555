"""Fields of other people's events and envelopes: the scanner, the fast way and the slow one read the same."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stream_rank.codec import fast_json
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.envelope import Left
from stream_rank.codec.fields import Fields
from stream_rank.codec.form import EventForm
from stream_rank.codec.limits import Limits
from stream_rank.codec.schema import parse
from stream_rank.errors import ConfigError, EventError
from stream_rank.ingest.chunk import as_records
from tests.codec.test_schema import (
    IDS,
    NUMBERS,
    ROUNDS,
    TIMES,
    VALUES,
    by_scanner,
    in_place,
    same,
    zeros_unsigned,
)

FORMS = [
    Fields(
        y="stars", x=("price", "brand", "specs.*"), group="user.id", id="order", ts="created_at"
    ),
    Fields(y="stars", x=("price", "user", "specs"), group="user.id"),
    Fields(y="user.stars", x=("a.b.c", "price"), id="user.id"),
    Fields(y="stars"),
    Fields(x=("*",), group="user.id"),
    Fields(y="price", x=("price", "user.id"), group="user.id", id="order", ts="order"),
    Fields(preferred="winner.*", other="loser.*", magnitude="goals", tie="draw", context=("day",)),
    Fields(preferred="home_*", other="away_*", magnitude="goals"),
    Fields(preferred="*_home", other="*_away", ts="created_at"),
    Fields(tie="draw"),
]
KEYS = [
    *("stars", "price", "brand", "specs", "hp", "user", "id", "order", "created_at", "user.id", "a", "b", "c"),
    *("a.b", "b.c", "y", "x", "winner", "loser", "goals", "draw", "day", "home_elo", "away_elo", "elo_home"),
    *("elo_away", "preferred", "other", "context", "magnitude", "tie", "é", 'quo"te', "", "junk"),
]  # fmt: skip
LEAVES = st.one_of(VALUES, VALUES, NUMBERS, IDS, TIMES)
RECORDS: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(KEYS),
    st.recursive(
        LEAVES,
        lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=6,
    ),
    max_size=8,
)
GOOD: dict[str, Any] = {
    "stars": 4,
    "price": 12.5,
    "brand": "ann",
    "specs": {"hp": 70, "colour": ["red", "blue"]},
    "user": {"id": 17, "stars": 2},
    "winner": {"elo": 3},
    "loser": {"elo": 1, "form": {"last": "won"}},
    "home_elo": 1,
    "away_elo": 2,
    "elo_home": 3,
    "elo_away": 4,
    "day": "mon",
    "a": {"b": {"c": 1}},
    "preferred": {"a": 1},
    "other": {"a": True},
}


@st.composite
def records(draw: st.DrawFn) -> bytes:
    """An event of somebody else's, or nearly."""
    content = {**GOOD, **draw(RECORDS)}
    for key in draw(st.lists(st.sampled_from(sorted(GOOD)), max_size=8)):
        content.pop(key, None)
    return damaged(draw, json.dumps(content, ensure_ascii=draw(st.booleans())))


def damaged(draw: st.DrawFn, text: str) -> bytes:
    raw = bytearray(text.encode(errors="surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 2]))):
        raw[draw(st.integers(0, len(raw) - 1))] = draw(st.integers(0, 255))
    return bytes(raw)


def check(raw: bytes, form: EventForm) -> Any:
    try:
        expected = parse(raw, form)
    except (EventError, Left):
        expected = None
    found = fast_json.decode(raw, form)
    if found is not None:
        assert expected is not None
        assert same(zeros_unsigned(found), in_place(zeros_unsigned(expected), found))
    scanned = by_scanner(raw, form)
    if scanned is not None:
        assert expected is not None
        assert same(zeros_unsigned(scanned), in_place(zeros_unsigned(expected), scanned))
    return expected, scanned


@given(records(), st.sampled_from(FORMS), st.booleans())
@example(b'{"user": {"id": 1}, "user.id": 2, "price": 3, "stars": 1}', FORMS[0], False)
@example(b'{"pr\\u0069ce": 3, "price": 4, "stars": 1}', FORMS[0], False)
@example(b'{"price": 4, "stars": 1, "junk": [1 2]}', FORMS[0], False)
@example(b'{"price": 4, "stars": 1, "junk": "\\ud800"}', FORMS[0], False)
@example(b'{"price": 4, "stars": 1, "junk": "\xff"}', FORMS[0], False)
@example(b'{"price": 4, "stars": 1, "\xff": 1}', FORMS[0], False)
@example(b'{"price": 4, "stars": 1, "specs": {"hp": 1}, "specs": {"hp": 2}}', FORMS[0], False)
@example(b'{"home_elo": 4, "away_elo": 1, "home_elo": null}', FORMS[7], False)
@example(b'{"price": 4, "stars": 1, "created_at": 1.8e305}', FORMS[0], True)
@settings(max_examples=2_000 * ROUNDS, deadline=None)
def test_fields_are_read_the_same(raw: bytes, fields: Fields, categories: bool) -> None:
    named = frozenset({"user.id", "price", "elo"}) if categories else frozenset()
    check(raw, EventForm(named, "s" if categories else "ms", fields))


@st.composite
def enveloped(draw: st.DrawFn) -> bytes:
    """An event in an envelope, or nearly."""
    own = {"x": {"a": 1.0, "b": "ann"}, "y": 3}
    event = draw(
        st.one_of(st.just(own), st.just({"y": 2}), st.just({**own, "id": "u"}), st.none(), RECORDS)
    )
    event = draw(st.sampled_from([event, event, {**GOOD, **(event or {})}]))
    keys = ("payload", "after", "before", "data", "data_base64", "id", "time", "op", "specversion")
    outer: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(keys, LEAVES),
        )
    )
    outer |= draw(
        st.sampled_from(
            [
                {
                    "payload": {"before": None, "after": event, "op": "u"},
                    "schema": {"fields": [{}]},
                },
                {"before": {"x": 1}, "after": event},
                {"data": event, "id": "A-1", "time": "2026-01-31T12:00:00Z"},
                {"data": event},
                {},
            ]
        )
    )
    if draw(st.booleans()):
        for key in ("data_base64", "payload", "after", "data")[: draw(st.integers(0, 2))]:
            outer.pop(key, None)
    return damaged(draw, json.dumps(outer))


@given(
    enveloped(), st.sampled_from(["debezium", "cloudevents"]), st.sampled_from([None, *FORMS[:4]])
)
@example(b'{"payload": {"op": "c"}, "after": {"x": {"a": 1}, "y": 1}}', "debezium", None)
@example(
    b'{"after": {"x": {"a": 1}, "y": 1}, "payload": {"after": {"x": {"a": 2}, "y": 1}}}',
    "debezium",
    None,
)
@example(b'{"data": {"y": 1}, "id": "a"}', "cloudevents", None)
@example(
    b'{"data": {"x": {"a": 1}, "id": null}, "id": "a", "time": "2026-01-31T12:00:00Z"}',
    "cloudevents",
    None,
)
@settings(max_examples=1_500 * ROUNDS, deadline=None)
def test_envelopes_are_opened_the_same(raw: bytes, envelope: Any, fields: Fields | None) -> None:
    check(raw, EventForm(fields=fields, envelope=envelope))


@pytest.mark.parametrize(("fields", "event", "x"), [
    (FORMS[0], GOOD, {"price": 12.5, "brand=ann": 1.0, "specs.hp": 70.0, "specs.colour=red": 1.0, "specs.colour=blue": 1.0}),
    (FORMS[1], GOOD, {"price": 12.5, "specs.hp": 70.0, "specs.colour=red": 1.0, "specs.colour=blue": 1.0, "user.stars": 2.0, "user.id": 17.0}),
    (FORMS[2], {**GOOD, "a": 1, "a.b": {"c": 2}}, {"a.b.c": 2.0, "price": 12.5}),
    (FORMS[2], {**GOOD, "a": {"b": {"c": 2}}}, {"a.b.c": 2.0, "price": 12.5}),
    (FORMS[2], {"user.stars": 2, "a": {"b.c": 2}}, {"a.b.c": 2.0}),
    (FORMS[3], {"stars": 1, "a": {"b": [], "c": None}, "d": True}, {"d": 1.0}),
    (FORMS[5], GOOD, {"price": 12.5, "user.id": 17.0}),
    (FORMS[6], GOOD, {"elo": 3.0, "day=mon": 1.0}),
    (FORMS[7], GOOD, {"elo": 1.0}),
    (FORMS[8], GOOD, {"elo": 3.0}),
    (FORMS[9], GOOD, {"a": 1.0}),
])  # fmt: skip
def test_the_scanner_reads_fields(fields: Fields, event: Any, x: dict[str, float]) -> None:
    """Not all of them left to others."""
    expected, scanned = check(json.dumps(event).encode(), EventForm(fields=fields))
    assert expected is not None
    assert {**expected.x} == x
    assert scanned is not None


def test_the_scanner_passes_over_what_nobody_asked_for() -> None:
    """Keys that no event had before are no reason to ask."""
    decoder = Decoder(Limits(), form=EventForm(fields=Fields(y="stars", x=("price", "user.age"))))
    event = {"stars": 1, "price": 2, "user": {"age": 3}}
    decoder.decode(as_records([json.dumps(event).encode()]))
    asked: list[bytes] = []
    decoder._event = asked.append  # type: ignore[assignment, method-assign]
    lines = [
        json.dumps(
            {**event, f"new{i}": {"a": ["]", i]}, "user": {f"é{i}": None, "age": 4}}
        ).encode()
        for i in range(50)
    ]
    assert (
        len(decoder.decode(as_records([line.replace(b"\\u00e9", "é".encode()) for line in lines])))
        == 50
    )
    assert asked == []


@pytest.mark.parametrize(("form", "event", "words"), [
    (EventForm(fields=FORMS[0]), {**GOOD, "stars": "five"}, 'stars (y): Input should be a valid number, not "five"'),
    (EventForm(fields=FORMS[0]), {**GOOD, "user": {"id": [1]}}, "user.id (group): Input should be a valid"),
    (EventForm(fields=FORMS[0]), {**GOOD, "created_at": "soon"}, "created_at (ts): Value error, time 'soon'"),
    (EventForm(fields=FORMS[0]), {**GOOD, "price": [1, 2]}, "price,brand,specs.* (x): feature 'price' is a list"),
    (EventForm(fields=FORMS[0]), {**GOOD, "user.id": 3}, "user.id (group): stands in the event twice"),
    (EventForm(fields=FORMS[0]), {"stars": 2}, "price,brand,specs.* (x): Dictionary should have at least 1 item"),
    (EventForm(fields=FORMS[6]), {**GOOD, "draw": 1}, "draw (tie): Input should be a valid boolean, not 1"),
    (EventForm(fields=FORMS[6]), {**GOOD, "loser": {}}, "loser.* (other): Dictionary should have at least 1 item"),
    (EventForm(fields=FORMS[6]), {**GOOD, "winner": {"day": "mon"}}, "day (context): feature"),
    (EventForm(envelope="debezium"), {"op": "c"}, "after: Field required; with `envelope` debezium"),
    (EventForm(envelope="debezium"), {"payload": 3}, "payload.after: Field required"),
    (EventForm(envelope="debezium"), {"after": [1]}, "after: an object is needed"),
    (EventForm(envelope="debezium"), {"after": {"x": {"a": [1]}}}, "x: feature 'a' is a list"),
    (EventForm(envelope="cloudevents"), {"id": 1}, "data: Field required; with `envelope` cloudevents"),
    (EventForm(envelope="cloudevents"), {"data": "text"}, "data: an object is needed"),
    (EventForm(envelope="cloudevents"), {"data_base64": "eA=="}, "data_base64 cannot be read"),
    (EventForm(envelope="cloudevents"), {"data": {"x": [1]}, "time": "soon"}, "ts: Value error, time 'soon'"),
])  # fmt: skip
def test_reasons_name_the_field(form: EventForm, event: Any, words: str) -> None:
    raw = json.dumps(event).encode()
    with pytest.raises(EventError) as caught:
        parse(raw, form)
    assert words in str(caught.value)
    check(raw, form)


@pytest.mark.parametrize("fields", [
    {"x": ("a",), "preferred": "a*"}, {"preferred": "a"}, {"y": "a*"}, {"x": ("a*b*",)}, {"y": "a", "tie": "b"},
])  # fmt: skip
def test_fields_that_cannot_be(fields: Any) -> None:
    with pytest.raises(ConfigError, match="`fields`"):
        Fields(**fields)


def test_deletions_are_skipped_and_counted() -> None:
    form = EventForm(envelope="debezium")
    lines = [
        b'{"payload": {"after": {"x": {"a": 1}, "y": 2}}}',
        b'{"payload": {"before": {"x": {"a": 1}}, "after": null, "op": "d"}}',
        b"",
        b"null",
        b'{"payload": {"after": {"x": {"a": 2}, "y": 2}}}',
    ]
    for _ in range(2):
        batch = Decoder(Limits(), form=form).decode(as_records(lines, blank_is_nothing=False))
        assert batch.kinds.tolist() == [0, -1, -1, -1, 0]
        assert batch.rejects == []
    own = Decoder(Limits()).decode(as_records([b"", b"  ", b"null"], blank_is_nothing=False))
    assert own.kinds.tolist() == [-1]
    assert len(own.rejects) == 2


def test_an_envelope_gives_what_the_event_has_not() -> None:
    form = EventForm(envelope="cloudevents")
    event: dict[str, Any] = {"id": "A-1", "time": "1970-01-01T00:00:01Z", "data": {"x": {"a": 1}}}
    expected, scanned = check(json.dumps(event).encode(), form)
    assert scanned is not None
    assert (expected.id, expected.ts) == ("A-1", 1000)
    event["data"] |= {"id": 7, "ts": 5}
    expected, scanned = check(json.dumps(event).encode(), form)
    assert scanned is not None
    assert (expected.id, expected.ts) == (7, 5)
