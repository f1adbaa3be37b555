"""The schema of record, the compiled decoder and the scanner accept the same events and read the same in them."""

import json
import os
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stream_rank.codec import fast_json as wire
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.form import OWN_FORM, EventForm
from stream_rank.codec.limits import Limits
from stream_rank.codec.schema import json_schema, parse
from stream_rank.errors import EventError
from stream_rank.ingest.chunk import as_records

ROUNDS = 67 if os.environ.get("SOAK") else 1
"""Half a million fuzzed events in all, where there is time."""

NAMES = ["a", "b", "feature_with_a_long_name", "é", 'quo"te', "tab\t", 0, 1, 2]

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.integers(-(10**20), 10**20),
    st.sampled_from([0, -0.0, 1e22, 1e308, 5e-324, 123456789012345678]),
)
FORMS = [
    [],
    ["x", "y"],
    ["preferred", "other"],
    ["preferred", "other", "magnitude"],
    ["ranking"],
    ["chosen", "among"],
]
STRANGE = st.sampled_from(
    [
        "NaN",
        "1e999",
        "-Infinity",
        "true",
        "null",
        '"1"',
        "[1]",
        "{}",
        "01",
        "1.",
        "-",
        "1e5",
        "9" * 25,
    ]
)
WORDS = st.sampled_from(
    [
        "",
        " ",
        "ann",
        "é",
        "tab\t",
        'quo"te',
        "17",
        "17.0",
        "true",
        "-0",
        "w" * 200,
        "é" * 201,
        "w\n" * 120,
    ]
)
VALUES = st.one_of(
    NUMBERS,
    NUMBERS,
    st.booleans(),
    st.none(),
    WORDS,
    st.lists(WORDS, max_size=3),
    st.lists(st.one_of(WORDS, NUMBERS, st.booleans(), st.none()), max_size=2),
    st.sampled_from(
        [
            {},
            {"b": 1},
            {"b": "ann", "": 2},
            {"b": {"c": [{}]}},
            {"b": {"c": {"d": None, "e": True}}},
        ]
    ),
)
"""What may stand under a feature's name, and some that may not."""
DOTTED = [*(n for n in NAMES if isinstance(n, str)), "a.b", "a=ann", "user"]
FEATURES = st.one_of(
    st.dictionaries(st.sampled_from(DOTTED), VALUES, max_size=5),
    st.dictionaries(st.sampled_from(DOTTED), NUMBERS, max_size=5),
    st.lists(NUMBERS, max_size=4),
)
TIMES = st.one_of(
    st.integers(-(10**15), 10**15),
    st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    st.sampled_from(
        ["2026-02-29T00:00:00Z", "2024-02-29T23:59:59.999999+05:30", "2026-01-01T00:00:00", "soon",
         "2026-01-01t00:00:00z", "0001-01-01T00:00:00+01:00", "2026-01-01T00:00:60Z", 1.5]
    ),
)  # fmt: skip
IDS = st.one_of(st.text(max_size=4), st.integers(-(2**64), 2**64), st.booleans(), st.none())


@st.composite
def texts(draw: st.DrawFn, unique: bool = True) -> bytes:
    """JSON that is an event, or nearly."""
    keys = draw(
        st.lists(
            st.sampled_from(
                [
                    "x",
                    "y",
                    "id",
                    "ts",
                    "group",
                    "preferred",
                    "other",
                    "magnitude",
                    "tie",
                    "context",
                    "ranking",
                    "chosen",
                    "among",
                    "z",
                ]
            ),
            unique=unique,
            max_size=4,
        )
    )
    # most of these are an event's own keys, or few would be valid
    keys += [key for key in draw(st.sampled_from(FORMS)) if not unique or key not in keys]
    parts = []
    for key in keys:
        if draw(st.integers(0, 12)) == 0:
            value = draw(STRANGE)
        elif key in ("x", "preferred", "other", "chosen", "context"):
            value = json.dumps(draw(FEATURES), ensure_ascii=draw(st.booleans()))
        elif key == "among":
            value = json.dumps(draw(st.lists(FEATURES, max_size=3)))
        elif key == "ranking":
            value = json.dumps(
                draw(st.lists(st.one_of(FEATURES, st.lists(FEATURES, max_size=3)), max_size=3))
            )
        elif key == "tie":
            value = json.dumps(draw(st.booleans()))
        elif key in ("y", "magnitude", "z"):
            value = json.dumps(draw(st.one_of(NUMBERS, st.sampled_from([0, 1, 2.5]))))
        else:
            value = json.dumps(draw(TIMES if key == "ts" else IDS))
        space = draw(st.sampled_from(["", " ", "\n\t "]))
        parts.append(f'"{key}"{space}:{space}{value}')
    text = "{" + draw(st.sampled_from([",", ", "])).join(parts) + "}"
    raw = bytearray(text.encode(errors="surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        place = draw(st.integers(0, len(raw) - 1))
        raw[place] = draw(st.integers(0, 255))
    return bytes(raw)


def by_schema(raw: bytes, form: EventForm = OWN_FORM) -> Event | None:
    try:
        return parse(raw, form)
    except EventError:
        return None


def same(one: Any, other: Any) -> bool:
    """Equal, NaN being equal to itself."""
    return repr(one) == repr(other)


def zeros_unsigned(event: Event) -> Event:
    """JSON's -0 is a whole number to some and -0.0 to others."""

    def plain(item: dict[Any, float]) -> dict[Any, float]:
        return {name: value + 0.0 for name, value in item.items()}

    items = tuple(map(plain, event.items))
    return event._replace(x=plain(event.x), other=plain(event.other), y=event.y + 0.0, items=items)


def by_scanner(raw: bytes, form: EventForm = OWN_FORM) -> Event | None:
    """What the scanner reads, which knows all that came in the event before; None if it leaves it to others."""
    limits = Limits(delayed=True, grouped=True, largest=1.8e308)
    decoder = Decoder(limits, FeatureIndex(NAMES), form)
    decoder.decode(as_records([raw]))
    decoder._event = lambda raw: (_ for _ in ()).throw(EventError("left"))  # type: ignore[method-assign]
    batch = decoder.decode(as_records([raw]))
    if not len(batch):
        return None
    (x,) = batch.rows.dicts()
    (other,) = batch.others.dicts()
    group = None if batch.groups is None else batch.groups[0]
    return Event(
        Kind(int(batch.kinds[0])), x, other, float(batch.labels[0]), None if batch.ids is None else batch.ids[0], int(batch.times[0]), group
    )  # fmt: skip


@given(texts())
@example(b'{"x": {"a": 1}, "y": 3} ')
@example(b'\xef\xbb\xbf{"x": {"a": 1}, "y": 3}')
@example(b'{"x": {"tab\t": 1}, "y": 3}')
@example(b'{"x": {"a": 1}, "y": 3, "id": "\\ud800"}')
@example(b'{"preferred": {"a": 1}, "other": {"a": 2}, "tie": true, "magnitude": 1}')
@example(b'{"preferred": {"a": 1}, "other": {"a": 2}, "tie": false, "magnitude": 0}')
@example(b'{"preferred": {"a": 1}, "other": [1, 2], "tie": null, "magnitude": null}')
@example(b'{"preferred": {"a": 1}, "other": {"b": 1}, "context": {"a": 1}}')
@example(b'{"ranking": [[1, 2]]}')
@example(b'{"ranking": [[[1], {"a": 2}], {"b": 1}], "context": {"c": 1}}')
@example(b'{"ranking": [[1, {"a": 2}]]}')
@example(b'{"chosen": {"a": 1}, "among": [{"a": 1}]}')
@example(b'{"chosen": {"a": 1}, "among": [{"b": 1}, {"a": 1}]}')
@example(b'{"x": {"user": -0}, "y": 1}')
@example(b'{"x": {"user": 17.0, "a": "b"}, "y": 1}')
@example(b'{"x": {"user": [17, "17"]}, "y": 1}')
@example(b'{"x": {"a": 1, "a": null}, "y": 1}')
@example(b'{"x": {"a": "ann", "a": "bob"}, "y": 1}')
@example(b'{"x": {"a": {"b": 1}, "a.b": 1}, "y": 1}')
@example(b'{"x": {"a": "ann", "a=ann": 1}, "y": 1}')
@example(b'{"preferred": {"a": "ann"}, "other": {"a": "bob"}, "context": {"a": "ann"}}')
@example(b'{"preferred": {"a": ""}, "other": {"a": "bob"}, "context": {"c": "ann"}}')
@settings(max_examples=3_000 * ROUNDS, deadline=None)
def test_three_readers_read_the_same(raw: bytes) -> None:
    for form in (OWN_FORM, EventForm(frozenset({"user", "a", "a.b"}), "s")):
        expected = by_schema(raw, form)
        found = wire.decode(raw, form)
        assert (found is None) == (expected is None)
        if expected is not None and found is not None:
            assert same(zeros_unsigned(found), zeros_unsigned(expected))
        scanned = by_scanner(raw, form)
        if scanned is not None:
            assert expected is not None
            assert same(zeros_unsigned(scanned), in_place(zeros_unsigned(expected), scanned))


def in_place(event: Event, other: Event) -> Event:
    """The event with its features in the order of another, which makes no difference."""

    def ordered(item: dict[Any, float], like: dict[Any, float]) -> dict[Any, float]:
        return {name: item[name] for name in like} if item.keys() == like.keys() else item

    return event._replace(x=ordered(event.x, other.x), other=ordered(event.other, other.other))


@given(texts(unique=False))
@example(b'{"x": {"a": 1}, "y": 3, "x": {"b": 2}}')
@example(b'{"x": {"a": 1, "a": 2}, "y": 3}')
@example(b'{"y": 1e999, "y": 1, "id": 3}')
@settings(max_examples=1_000 * ROUNDS, deadline=None)
def test_of_keys_that_come_twice_the_last_counts(raw: bytes) -> None:
    """To the schema; the others may leave such events to it."""
    expected = by_schema(raw)
    for found in (wire.decode(raw), by_scanner(raw)):
        if found is not None:
            assert expected is not None
            assert same(zeros_unsigned(found), in_place(zeros_unsigned(expected), found))


def test_the_scanner_reads_plain_events() -> None:
    """Not all of them left to others."""
    generator = random.Random(1)
    for _ in range(300):
        x = {name: generator.gauss(0, 3) for name in ("b", "a")}
        event = {"x": x, "y": 3, "id": "u7", "ts": "2026-11-18T20:00:00.25Z", "group": 12}
        found = by_scanner(json.dumps(event).encode())
        assert found is not None
        assert found.x == x
        assert (found.id, found.group, found.ts) == ("u7", 12, 1795032000250)
    assert by_scanner(b'{"x":[1,2.5,-3e2],"y":1}') is not None


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "not JSON"),
        (b"[1]", "an event is a JSON object"),
        (b'{"x": {"a": NaN}, "y": 1}', "not JSON"),
        (b'{"x": {"a": 1e999}, "y": 1}', "x: feature 'a' is inf; a finite number is needed"),
        (b'{"x": {"a": [1, 2]}, "y": 1}', "x: feature 'a' is a list of more than texts; give numbers names of their own"),
        (b'{"x": {}, "y": 1}', "x: Dictionary should have at least 1 item"),
        (b'{"x": [], "y": 1}', "x: List should have at least 1 item"),
        (b'{"x": {"a": 1}, "y": "3"}', 'y: Input should be a valid number, not "3"'),
        (b'{"x": {"a": 1}, "y": 1, "stars": 4}', "stars: Extra inputs are not permitted"),
        (b'{"y": 1}', "x: Field required"),
        (b'{"preferred": {"a": 1}}', "other: Field required"),
        (b'{"x": {"a": 1}, "ts": "soon"}', "ts: Value error, time 'soon' is not of the form"),
        (b'{"preferred": [1], "other": [2], "magnitude": -1}', "magnitude: Input should be greater than or equal to 0"),
        (b'{"preferred": [1], "other": [2], "magnitude": 1, "tie": true}', "tie: a tie has no magnitude"),
        (b'{"preferred": [1], "other": [2], "magnitude": 0, "tie": false}', "tie: a magnitude of 0 is a tie"),
        (b'{"preferred": [1], "other": [2], "tie": 1}', "tie: Input should be a valid boolean, not 1"),
        (b'{"preferred": [1], "other": [2], "context": {"a": [null]}}', "context: feature 'a' is a list of more than texts"),
        (b'{"preferred": {"a": 1}, "other": {"b": 1}, "context": {"a": 2}}', "context: feature 'a' is an item's too"),
        (b'{"x": [1], "y": 1, "context": {"a": 2}}', "context: Extra inputs are not permitted"),
        (b'{"x": [1], "y": 1, "tie": true}', "tie: Extra inputs are not permitted"),
        (b'{"ranking": []}', "ranking: List should have at least 1 item"),
        (b'{"ranking": [{"a": 1}]}', "ranking: two items at least are ranked"),
        (b'{"ranking": [[{"a": 1}]]}', "ranking: two items at least are ranked"),
        (b'{"ranking": [{"a": 1}, {"b": null}]}', "ranking.1: Dictionary should have at least 1 item"),
        (b'{"ranking": [{"a": 1}, [{"b": 1}, 3]]}', "ranking.1.1: Input should be a valid"),
        (b'{"ranking": [{"a": 1}, 3]}', "ranking.1: Input should be a valid"),
        (b'{"ranking": [{"a": 1}, {}]}', "ranking.1: Dictionary should have at least 1 item"),
        (b'{"ranking": 3}', "ranking: Input should be a valid list, not 3"),
        (b'{"chosen": {"a": 1}}', "among: Field required"),
        (b'{"among": [{"a": 1}]}', "chosen: Field required"),
        (b'{"chosen": {"a": 1}, "among": []}', "among: List should have at least 1 item"),
        (b'{"chosen": {"a": 1}, "among": [{"a": 1}]}', "among: nothing but the chosen item"),
        (b'{"chosen": {"a": 1}, "among": [{"a": [1]}]}', "among.0: feature 'a' is a list"),
    ],
)  # fmt: skip
def test_reasons_say_what_is_wrong(raw: bytes, words: str) -> None:
    with pytest.raises(EventError) as caught:
        parse(raw)
    assert words in str(caught.value)
    assert wire.decode(raw) is None


def test_the_scanner_reads_plain_preferences() -> None:
    """What it leaves is right too, but slow."""
    for text in (
        b'{"preferred": {"a": 1, "b": 2}, "other": {"a": 3}}',
        b'{"other": {"b": 2}, "magnitude": 2.5, "preferred": {"b": 3}, "id": 7, "ts": 0}',
        b'{"preferred": [1, 2], "other": [3], "tie": true, "group": "g"}',
        b'{"preferred": [1, 2], "other": [3], "magnitude": 0}',
        b'{"preferred": [1, 2], "other": [3], "magnitude": null}',
        b'{"preferred": {"a": 1}, "other": {"a": 3}, "tie": false}',
        b'{"preferred": {"a": 1}, "other": {"a": 3}, "context": {"day": "mon", "c": 2}}',
    ):
        found = by_scanner(text)
        assert found is not None
        assert same(found, parse(text))
    for text in (
        b'{"preferred": {"a": 1}, "other": {"a": 3}, "magnitude": -1}',
        b'{"preferred": {"a": 1}, "other": {"a": 3}, "magnitude": 1, "tie": true}',
        b'{"preferred": {"a": 1}, "other": {"a": 3}, "tie": false, "magnitude": 0}',
        b'{"preferred": {"a": 1}, "other": {"a": 3}, "y": 1}',
        b'{"preferred": {"a": 1}, "magnitude": 1}',
        b'{"x": {"a": 1}, "tie": true}',
    ):
        assert by_scanner(text) is None


def test_schema_names_every_key() -> None:
    text = json.dumps(json_schema())
    for key in (
        "x",
        "y",
        "preferred",
        "other",
        "magnitude",
        "tie",
        "context",
        "ranking",
        "chosen",
        "among",
        "id",
        "ts",
        "group",
    ):
        assert f'"{key}"' in text


def test_limits() -> None:
    limits = Limits(n_ranks=5, largest=1e6, longest=1e9, max_features=3)
    decoder = Decoder(limits)
    raw = [
        b'{"x": {"a": 1, "b": 2}, "y": 5}',
        b'{"x": {"a": 1, "b": 2}, "y": 6}',
        b'{"x": {"a": 1, "b": 2}, "y": 0}',
        b'{"x": {"a": 1, "b": 2}, "y": 2.5}',
        b'{"x": {"a": 2e6}, "y": 2}',
        b'{"x": {"a": 9e5}, "y": 2}',
        b'{"x": {"c": 1, "d": 2}, "y": 2}',
        b'{"id": 3, "y": 2}',
        b'{"x": {"e": 1}, "y": 2}',
        b'{"preferred": {"a": 9e5}, "other": {"a": -9e5}}',
        b"   ",
    ]
    for _ in range(2):  # the first time by the slow way, the second by the scanner
        batch = decoder.decode(as_records(raw))
        assert batch.records.tolist() == [0, 6, 8]
        assert [*batch.rows.dicts()] == [{"a": 1.0, "b": 2.0}, {"c": 1.0}, {}]
        assert len(batch) + len(batch.rejects) == 10
        reasons = " | ".join(reject.reason for reject in batch.rejects)
        for words in ("6 is not one of the ranks 1..5", "ranks count from 1", "label 2.5", "2e+06".replace("2e+06", "2000000.0"),
                      "sum of squares", "`delay`"):  # fmt: skip
            assert words in reasons
        assert [reject.raw for reject in batch.rejects] == [raw[r.record] for r in batch.rejects]
    assert decoder.index.names == ["a", "b", "c"]
    assert decoder.index.admission.dropped == 4  # d and e, twice


def test_nothing_is_read_that_is_too_long() -> None:
    long = b'{"x": {"a": 1}, "y": 1' + b" " * 1_000_000 + b"}"
    batch = Decoder(Limits()).decode(as_records([long, b'{"x": [1], "y": 1}']))
    assert batch.rejects[0].reason == "longer than 1,000,000 bytes"
    assert np.array_equal(batch.records, [1])
