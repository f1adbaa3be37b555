"""Rankings, choices and contexts: what they are as preferences, and what a stranger could send."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.fast_json import decode
from stream_rank.codec.limits import Limits
from stream_rank.codec.orders import check_pairs, pairs_of
from stream_rank.codec.schema import parse
from stream_rank.errors import EventError
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.open_source import open_source


def batch_of(*events: Any, limits: Limits | None = None) -> Any:
    return Decoder(limits or Limits()).decode(
        as_records([json.dumps(each).encode() for each in events])
    )


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.booleans())
def test_pairs_are_those_of_the_definition(sizes: list[int], every: bool) -> None:
    places = [place for place, size in enumerate(sizes) for _ in range(size)]
    expected = []
    for worse in range(len(places)):
        for better in range(worse):
            apart = places[worse] - places[better]
            if every or apart == 1 or (apart == 0 and worse - better == 1):
                expected.append((better, worse, apart == 0))
    which: Any = "all" if every else "adjacent"
    found = zip(*(each.tolist() for each in pairs_of(places, False, which)), strict=True)
    assert [*found] == expected
    check_pairs(tuple(places), False, which)


def test_the_first_event_may_have_a_context() -> None:
    """Written out beside every item it has more numbers than its line has room for."""
    event = {"ranking": [{"a": i} for i in range(40)], "context": {f"c{i}": 1 for i in range(20)}}
    first = batch_of(event, {"x": {"a": 1}, "y": 2}, {"x": {"c3": 1}, "y": 2})
    assert [len(first), len(first.rejects)] == [3, 0]
    preferred, _, _ = first.events(0, 1).preferences()
    assert [*preferred.dicts(0, 1)] == [{"a": 0.0, **{f"c{i}": 1.0 for i in range(20)}}]
    assert [*first.rows.dicts(1, 3)] == [{"a": 1.0}, {"c3": 1.0}]


def test_a_context_is_not_written_out_without_limit() -> None:
    """50 kB would become six million numbers, and a megabyte a hundred gigabytes."""
    event = {
        "ranking": [{"a": i} for i in range(2_000)],
        "context": {f"c{i}": 1 for i in range(3_000)},
    }
    (reject,) = batch_of(event).rejects
    assert (
        reject.reason == "context: 3,000 features beside 2,000 items are more than 100,000 in all"
    )


def test_the_reach_of_items_is_checked_in_their_number() -> None:
    far = {"chosen": {"a": 1}, "among": [{"a": 9e129}, {"a": -9e129}]}  # never compared
    assert not batch_of(far).rejects
    for wrong in (
        {"ranking": [{"a": 9e129}, {"a": 1}, {"a": -9e129}]},
        {"ranking": [{"a": 9e129, "b": 1}, {"b": 1}, {"a": -9e129}]},
        {"chosen": {"a": 9e129}, "among": [{"a": -9e129}]},
    ):
        (reject,) = batch_of(wrong).rejects
        assert "difference of the two items" in reject.reason
    assert not batch_of({"ranking": [{"a": 9e129}, {"b": -9e129}]}).rejects
    many = {"chosen": {"f0": 9e129}, "among": [{f"f{i}": 1.0} for i in range(1, 5_000)]}
    assert not batch_of(many).rejects  # of all pairs of 5,000 items it took minutes


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"x": {"item": [1]}, "y": 1}, "x: feature 'item'"),
        ({"x": {"a[0]": [None]}, "y": 1}, "x: feature 'a[0]'"),
        ({"ranking": [{"place": [1]}, {"a": 1}]}, "ranking.0: feature 'place'"),
        ({"ranking": [[{"object": [1]}, {"a": 1}]]}, "ranking.0.0: feature 'object'"),
        ({"chosen": {"list": [[]]}, "among": [{"a": 1}]}, "chosen: feature 'list'"),
        (
            {"chosen": {"a": 1}, "among": [{"b": 2}, {"a.b": {"c": [1]}}]},
            "among.1: feature 'a.b.c'",
        ),
        ({"preferred": {"a": 1}, "other": {"a": None, "b": ""}}, "other: "),
        ({"x": [1, "2"], "y": 1}, "x.1"),
        ({"x": {"a": 1}, "y": 1, "id": 1.5}, "id"),
    ],
)
def test_a_reason_names_the_field_whatever_it_is_called(event: Any, field: str) -> None:
    with pytest.raises(EventError) as caught:
        parse(json.dumps(event).encode())
    assert str(caught.value).startswith(field)
    assert decode(json.dumps(event).encode()) is None


def test_a_rejected_row_of_a_table_is_no_one_elses(tmp_path: Path) -> None:
    """What it alone has is not known; the rows before and after it are learned as they are."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        "preferred.a,other.b,other.a,magnitude\n1,1,,-1\n1,,2,1\n3,,4,1\n5,7,,-1\n6,,1,1\n"
    )
    decoder, found = Decoder(Limits()), []
    for chunk in open_source([str(path)]).chunks(None):
        assert chunk is not None
        batch = decoder.decode(chunk)
        found += list(zip(batch.rows.dicts(), batch.others.dicts(), strict=True))
    assert found == [
        ({"a": 1.0}, {"a": 2.0}),
        ({"a": 3.0}, {"a": 4.0}),
        ({"a": 6.0}, {"a": 1.0}),
    ]


def test_what_has_a_role_is_no_feature(tmp_path: Path) -> None:
    path = tmp_path / "matches.csv"
    path.write_text("preferred.elo,other.elo,context.day,preferred.margin,tie\n2,1,6,3,false\n")
    mapping = Mapping(magnitude="preferred.margin")
    (chunk,) = open_source([str(path)], None, mapping).chunks(None)
    assert chunk is not None
    batch = Decoder(Limits()).decode(chunk)
    assert [*batch.rows.dicts()] == [{"elo": 2.0, "day": 6.0}]
    assert [*batch.others.dicts()] == [{"elo": 1.0, "day": 6.0}]
    assert batch.labels.tolist() == [3.0]


def test_all_pairs_of_a_hundred_items_are_as_many_as_an_event_may_be() -> None:
    check_pairs(tuple(range(100)), False, "all")
    assert len(pairs_of(range(100), False, "all")[0]) == len([*combinations(range(100), 2)])
    with pytest.raises(EventError, match="`ranking_pairs` may be adjacent"):
        check_pairs(tuple(range(101)), False, "all")
    check_pairs(tuple(range(5_000)), False, "adjacent")
