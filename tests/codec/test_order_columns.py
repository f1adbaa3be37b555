"""Rankings and choices by columns are the same events as in JSON, whatever is mixed."""

import json
from typing import Any

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stream_rank.codec.batch import Batch
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.ingest.chunk import Chunk, as_records
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.columns import as_columns
from stream_rank.ingest.position import RowPosition

MAPPING = Mapping(ranking="ranking", chosen="chosen", among="among", context=("c", "d"))
NAMES = ["a", "b", "c", "late", "é"]
NUMBER = pa.float64()
STRUCT = pa.struct([(name, NUMBER) for name in NAMES])
MAP = pa.map_(pa.string(), NUMBER)

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float), st.sampled_from([-0.0, 0.5, 6e129, -6e129, 1e131, 5e-324])
)
ITEMS = st.dictionaries(st.sampled_from(NAMES), NUMBERS, max_size=4).map(
    lambda item: {name: item[name] for name in NAMES if name in item}  # as a struct has them
)
MAYBE_ITEMS = st.one_of(ITEMS, ITEMS, ITEMS, st.none())
PLACES = st.lists(st.lists(MAYBE_ITEMS, min_size=0, max_size=3), max_size=4)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A ranking or a choice, most of the time."""
    form = draw(st.sampled_from(["ranking", "ranking", "choice", "choice", "any"]))
    event: dict[str, Any] = {}
    if form != "choice":
        event["ranking"] = draw(st.one_of(PLACES, st.none()) if form == "any" else PLACES)
    if form != "ranking":
        among = draw(st.lists(MAYBE_ITEMS, max_size=4))
        given_there: Any = st.sampled_from(among or [None])
        chosen = draw(given_there if draw(st.booleans()) else MAYBE_ITEMS)
        event |= {"chosen": chosen, "among": among}
    if draw(st.booleans()):
        event["context"] = draw(st.dictionaries(st.sampled_from("cd"), NUMBERS, min_size=1))
    event |= {"ts": draw(st.integers(0, 10**12)), "id": draw(st.sampled_from(["u", 7, None]))}
    return event | {"group": draw(st.sampled_from(["x", None]))}


def columns_of(events: list[dict[str, Any]], item: Any) -> Chunk:
    """As a table; every second time with rows before, which are sliced off."""
    made = [*events[:1], *events]
    kinds = {"ranking": pa.list_(pa.list_(item)), "chosen": item, "among": pa.list_(item)}
    columns = {role: [event.get(role) for event in made] for role in kinds}
    table: dict[str, Any] = {
        role: pa.array(_as_pairs(column) if item is MAP else column, kinds[role])
        for role, column in columns.items()
    }
    for name in ("c", "d"):
        shared = [event.get("context", {}).get(name) for event in made]
        table[name] = pa.array(shared, NUMBER)
    table["ts"] = pa.array([event["ts"] for event in made])
    for name in ("id", "group"):
        given = [None if event[name] is None else str(event[name]) for event in made]
        table[name] = pa.array(given, pa.string())
    batch = pa.RecordBatch.from_pydict(table).slice(1)
    return as_columns(batch, MAPPING, "a table", RowPosition, str)


def _as_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return list(value.items())
    return [_as_pairs(each) for each in value] if isinstance(value, list) else value


def lines_of(events: list[dict[str, Any]]) -> Chunk:
    lines = []
    for event in events:
        kept = {name: value for name, value in event.items() if value is not None}
        if not kept.keys() & {"ranking", "chosen", "among"}:
            kept["ranking"] = None
        kept |= {"id": str(event["id"])} if event["id"] is not None else {}
        lines.append(json.dumps(kept).encode())
    return as_records(lines)


def known_of(batch: Batch) -> Any:
    """Everything that is learned of a batch."""
    preferences: dict[str, Any] = {}
    if len(batch):
        preferred, others, magnitudes = batch.preferences()
        for side, items in (("preferred", preferred), ("others", others)):
            preferences[side] = [sorted(item.items(), key=str) for item in items.dicts()]
        preferences |= {"met": preferred.met.tolist(), "magnitudes": magnitudes.tolist()}
    return {
        "preferences": preferences,
        "names": batch.rows.names,
        "kinds": batch.kinds.tolist(),
        "records": batch.records.tolist(),
        "times": batch.times.tolist(),
        **{
            name: [None] * len(batch) if given is None else given.tolist()
            for name, given in (("ids", batch.ids), ("groups", batch.groups))
        },
        "rejects": [(each.record, each.reason, each.kind) for each in batch.rejects],
        "known": batch.names_met,
        "all met": batch.rows.met.tolist(),
    }


_TWICE = {
    "chosen": {"a": 0.0, "b": 0.0}, "among": [{"a": 0.0}, {"a": 0.0}], "ts": 0, "id": None, "group": None,
}  # fmt: skip
"""A choice that brings a name often enough before it ends."""


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(rows(), min_size=1, max_size=6), min_size=1, max_size=3),
    st.sampled_from([STRUCT, MAP]),
    st.sampled_from([2, 4, 100]),
    st.sampled_from(["all", "adjacent"]),
    st.sampled_from([10.0, 1e130]),
    st.sampled_from([1, 1, 2]),
    st.sampled_from([1, 3, 100]),
)
@example([[_TWICE]], STRUCT, 2, "all", 10.0, 2, 1)
def test_columns_are_the_events_of_json(
    chunks: list[list[dict[str, Any]]],
    item: Any,
    most: int,
    pairs: Any,
    largest: float,
    min_count: int,
    most_new: int,
) -> None:
    limits = Limits(
        max_features=most,
        max_new_features=most_new,
        min_count=min_count,
        grouped=True,
        named=True,
        ranking_pairs=pairs,
        largest=largest,
    )
    ours, json_ones = Decoder(limits), Decoder(limits)
    for events in chunks:
        found = known_of(ours.decode(columns_of(events, item)))
        assert found == known_of(json_ones.decode(lines_of(events)))
