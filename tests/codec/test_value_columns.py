"""Text, lists, booleans, structs and names in tables are the same events as in JSON, whatever is mixed."""

import json
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.event import Kind
from stream_rank.codec.form import EventForm
from stream_rank.codec.limits import Limits
from stream_rank.codec.messages import messages
from stream_rank.errors import FeatureError
from stream_rank.ingest.chunk import Chunk, as_records
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.columns import as_columns
from stream_rank.ingest.position import RowPosition
from stream_rank.learners.base.values import features_of
from tests.codec.test_order_columns import known_of

CATEGORIES = ("user", "flag", "size.item", "codes")
NUMBER, TEXT = pa.float64(), pa.string()
KINDS = {
    "n": NUMBER,
    "brand": TEXT,
    "large": pa.large_string(),
    "brand=ann": NUMBER,
    "flag": pa.bool_(),
    "on": pa.bool_(),
    "user": pa.int64(),
    "coded": pa.dictionary(pa.int8(), TEXT),
    "rank": pa.dictionary(pa.int8(), pa.int64()),
    "tags": pa.list_(TEXT),
    "codes": pa.list_(pa.int64()),
    "nothing": pa.null(),
    "size": pa.struct([("w", NUMBER), ("item", NUMBER), ("in", pa.struct([("t", TEXT)]))]),
}
TEXTS = st.sampled_from(["ann", "bob", "", " ", "é=1", 'q"\n', "u" * 200, "u" * 201])
NUMBERS = st.sampled_from([-0.0, 0.5, 17.0, 3.0, 1e131])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "n": NUMBERS,
    "brand": TEXTS,
    "large": TEXTS,
    "brand=ann": NUMBERS,
    "flag": st.booleans(),
    "on": st.booleans(),
    "user": st.sampled_from([17, 0, 2**63 - 1, -(2**63), 2**53 + 1]),
    "coded": TEXTS,
    "rank": st.integers(1, 3),
    "tags": st.lists(st.one_of(TEXTS, TEXTS, TEXTS, st.none()), max_size=3),
    "codes": st.lists(st.one_of(st.integers(1, 3), st.integers(1, 3), st.none()), max_size=3),
    "nothing": st.none(),
    "size": st.fixed_dictionaries(
        {},
        optional={
            "w": NUMBERS,
            "item": st.sampled_from([17.0, 0.25, -0.0]),
            "in": st.one_of(st.none(), st.fixed_dictionaries({"t": TEXTS})),
        },
    ),
}
ITEMS = st.lists(st.sampled_from([*KINDS]), max_size=4, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: VALUES[name] for name in names})
)
RATINGS = st.fixed_dictionaries(
    {"x": ITEMS}, optional={"y": st.sampled_from([1.0, 2.0, 9.0]), "id": st.sampled_from("uv")}
)
PREFERENCES = st.fixed_dictionaries(
    {"preferred": ITEMS, "other": ITEMS},
    optional={"context": st.fixed_dictionaries({"day": TEXTS}), "magnitude": st.just(2.0)},
)


def column(values: list[Any], kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


def table_of(events: list[dict[str, Any]], mapping: Mapping) -> Chunk:
    """As a table; with a row before, which is sliced off."""
    made = [events[-1], *events]
    columns: dict[str, Any] = {}
    roles = ("x",) if "x" in events[0] else ("preferred", "other")
    for role in roles:
        for name, kind in KINDS.items():
            place = name if role == "x" else f"{role}.{name}"
            columns[place] = column([event[role].get(name) for event in made], kind)
    if "x" in roles:
        columns["y"] = column([event.get("y") for event in made], NUMBER)
        columns["id"] = column([event.get("id") for event in made], TEXT)
    else:
        columns["magnitude"] = column([event.get("magnitude") for event in made], NUMBER)
        days = [event.get("context", {}).get("day") for event in made]
        columns["context.day"] = column(days, TEXT)
    batch = pa.RecordBatch.from_pydict(columns).slice(1)
    return as_columns(batch, mapping, "a table", RowPosition, str)


@settings(max_examples=300, deadline=None)
@given(
    chunks=st.one_of(
        st.lists(st.lists(RATINGS, min_size=1, max_size=6), min_size=1, max_size=3),
        st.lists(st.lists(PREFERENCES, min_size=1, max_size=6), min_size=1, max_size=3),
    ),
    most=st.sampled_from([3, 6, 100]),
    delayed=st.booleans(),
    min_count=st.sampled_from([1, 1, 2]),
    most_new=st.sampled_from([1, 2, 100]),
)
def test_values_in_tables_are_those_of_json(
    chunks: list[list[dict[str, Any]]], most: int, delayed: bool, min_count: int, most_new: int
) -> None:
    limits = Limits(
        n_ranks=5,
        max_features=most,
        min_count=min_count,
        max_new_features=most_new,
        delayed=delayed,
        named=True,
    )
    form, mapping = EventForm(frozenset(CATEGORIES)), Mapping(categories=CATEGORIES)
    ours, json_ones, again = (Decoder(limits, form=form) for _ in range(3))
    clean = True
    for events in chunks:
        lines = as_records([json.dumps(_as_json(event)).encode() for event in events])
        table = table_of(events, mapping)
        found, expected = known_of_all(ours.decode(table)), known_of_all(json_ones.decode(lines))
        assert found == expected
        sent = as_records([value for value, _ in messages(table, None)])
        clean = clean and not found["rejects"]
        if clean:
            assert known_of_all(again.decode(sent)) == expected


def _as_json(event: dict[str, Any]) -> dict[str, Any]:
    """An event of JSON; a row without features is a label that came later."""
    if {"y", "id"} <= event.keys():
        try:
            if not features_of(event["x"], CATEGORIES):
                return {"y": event["y"], "id": event["id"]}
        except FeatureError:
            pass
    return event


def known_of_all(batch: Any) -> Any:
    """What is learned of a batch, and what is predicted."""
    found = known_of(batch)
    found["rejects"] = [(record, _plain(reason)) for record, reason, _ in found["rejects"]]
    if not (batch.kinds < Kind.PREFERENCE).any():  # of several faults each names one
        found["rejects"] = [record for record, _ in found["rejects"]]
    del found["preferences"]
    for side, items in (("rows", batch.rows), ("others", batch.others)):
        # a feature that comes later in the chunk is known of a table, and not of lines: `met` says that it was not then
        beside = batch.unknown_features if side == "rows" else {}
        made = [beside.get(i, item) for i, item in enumerate(items.dicts())]
        found[side] = [sorted(item.items(), key=str) for item in made]
    return found


def _plain(reason: str) -> str:
    """Without the field, which the limits do not say; and of several faulty features each reader names another."""
    plain = reason.removeprefix("x: ").removeprefix("preferred: ").removeprefix("other: ")
    return "a feature" if plain.startswith("feature ") else plain


def test_a_faulty_value_is_rejected_in_the_words_of_json() -> None:
    made: list[dict[str, Any]] = [
        {"x": {"tags": [None]}},
        {"x": {"codes": [3, None]}},
        {"x": {"brand": "ann", "brand=ann": 1.0}},
        {"x": {"brand": " "}},
        {"x": {"size": {"w": 1e131}}},
    ]
    form, mapping = EventForm(frozenset(CATEGORIES)), Mapping(categories=CATEGORIES)
    lines = as_records([json.dumps(event).encode() for event in made])
    found = Decoder(Limits(), form=form).decode(table_of(made, mapping)).rejects
    expected = Decoder(Limits(), form=form).decode(lines).rejects
    assert [each.reason for each in found] == [each.reason for each in expected]
    assert len(found) == len(made)
