"""Tables of rankings and choices: lists of items in a row are the same events as in JSON."""

import datetime
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from stream_rank.checkpoint.model_file import state_digest
from stream_rank.codec.form import EventForm
from stream_rank.codec.messages import messages
from stream_rank.errors import InputError
from stream_rank.ingest.files import arrow_file
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.open_source import open_source
from tests.ingest.files.test_preference_tables import learned
from tests.ingest.files.test_sources import learned as run

BOTH_ALONE = Mapping(ranking="ranking", chosen="chosen", among="among")
BOTH = Mapping(ranking="ranking", chosen="chosen", among="among", context=("day",))
NUMBER = pa.float64()
STRUCT = pa.struct([("late", pa.float32()), ("b", pa.int64()), ("a", NUMBER), ("c", NUMBER)])


def an_item(generator: random.Random, number: int) -> dict[str, float]:
    item = {"a": generator.randint(-8, 8) / 4, "b": generator.randint(-8, 8)}
    if generator.random() < 0.4 and number > 20:
        item[generator.choice(["late", "c"])] = 1.5
    return item


def events(n_events: int = 300) -> list[dict[str, Any]]:
    """Rankings with ties, and choices, of which some have the chosen item among the others."""
    generator = random.Random(5)
    made = []
    for number in range(n_events):
        items = [an_item(generator, number) for _ in range(generator.randint(2, 5))]
        event: dict[str, Any] = {"ts": 1000 * number}
        if generator.random() < 0.5:
            places: list[Any] = [items.pop(0)]
            while items:
                equal, items = items[:2], items[2:]
                places.append(equal if len(equal) > 1 and generator.random() < 0.5 else equal[0])
                places += equal[1:] if places[-1] is equal[0] else []
            event["ranking"] = places
        else:
            event |= {"chosen": items[0], "among": items[generator.randint(0, 1) :]}
        if generator.random() < 0.3:
            event["context"] = {"day": generator.randint(1, 7)}
        made.append(event)
    return made


def as_places(ranking: list[Any] | None) -> list[Any] | None:
    """A ranking whose places are all lists."""
    if ranking is None:
        return None
    return [[each] if _is_item(each) else each for each in ranking]


def _is_item(each: Any) -> bool:
    """Whether it is an object, or a list of numbers."""
    return isinstance(each, dict) or (len(each) > 0 and isinstance(each[0], int | float))


def rows_of(made: list[dict[str, Any]]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {
        role: [event.get(role) for event in made] for role in ("ranking", "chosen", "among", "ts")
    }
    rows["ranking"] = [as_places(each) for each in rows["ranking"]]
    return rows | {"day": [event.get("context", {}).get("day") for event in made]}


def table_of(made: list[dict[str, Any]], item: Any, of: Any = pa.list_) -> Any:
    rows = rows_of(made)
    kinds = {"ranking": of(pa.list_(item)), "chosen": item, "among": of(item), "day": NUMBER}
    return pa.table({name: pa.array(column, kinds.get(name)) for name, column in rows.items()})


def in_text(made: list[dict[str, Any]]) -> Any:
    """As JSON in the cells."""
    rows = rows_of(made)
    for role in ("ranking", "chosen", "among"):
        rows[role] = [None if each is None else json.dumps(each) for each in rows[role]]
    return pa.table(rows)


def written(path: Path, made: list[Any]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in made))
    return path


def write_arrow(table: Any, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        for batch in table.to_batches(max_chunksize=90):
            file.write_batch(batch)


def test_tables_are_the_same_stream_as_json(tmp_path: Path) -> None:
    made = events()
    expected = learned(written(tmp_path / "events.jsonl", made))
    assert expected["counts"]["learned"] == len(made)
    pairs = pa.map_(pa.string(), NUMBER)
    pq.write_table(table_of(made, STRUCT), tmp_path / "structs.parquet", row_group_size=70)
    pq.write_table(table_of(made, pairs, pa.large_list), tmp_path / "maps.parquet")
    write_arrow(table_of(made, STRUCT, pa.large_list), tmp_path / "structs.arrow")
    write_arrow(table_of(made, pairs), tmp_path / "maps.arrow")
    write_arrow(in_text(made), tmp_path / "text.arrow")
    pa_csv.write_csv(in_text(made), tmp_path / "text.csv")
    for path in sorted(tmp_path.glob("*.[apc]*")):
        assert learned(path, BOTH) == expected, path.name


def test_items_may_be_lists_of_numbers(tmp_path: Path) -> None:
    made: list[dict[str, Any]] = [
        {"ranking": [[1, 2.5], [0.5], [3, 1, 4]]},
        {"ranking": [[-0.0, 1], [2, 1]]},
        {"chosen": [1, 2], "among": [[3], [1, 2], [1, 2]]},
    ]
    expected = learned(written(tmp_path / "events.jsonl", made))
    assert expected["counts"]["learned"] == 3
    for name, item in (("lists", pa.list_(NUMBER)), ("large", pa.large_list(pa.float32()))):
        rows = {role: [each.get(role) for each in made] for role in ("ranking", "chosen", "among")}
        kinds = {"ranking": pa.list_(item), "chosen": item, "among": pa.list_(item)}
        flat = pa.table({role: pa.array(column, kinds[role]) for role, column in rows.items()})
        pq.write_table(flat, tmp_path / f"{name}.parquet")
        assert learned(tmp_path / f"{name}.parquet", BOTH_ALONE) == expected, name
        pq.write_table(table_of(made, item), tmp_path / f"{name}-of-places.parquet")
        assert learned(tmp_path / f"{name}-of-places.parquet", BOTH) == expected, name


def test_items_may_have_text(tmp_path: Path) -> None:
    """In structs and maps, beside a context that has some; and numbers that are names."""
    made: list[dict[str, Any]] = [
        {"ranking": [{"by": "ann", "user": 17}, {"by": "bob", "tags": ["x", "y", "x"]}]},
        {"ranking": [{"by": "bob", "in": {"at": "home"}}, {"n": 1.5}], "context": {"day": "mon"}},
        {"ranking": [{"by": "ann"}, {"by": "", "user": 2**53 + 1}], "context": {"day": "tue"}},
        {"ranking": [{"by": "ann"}, {"by": ""}], "context": {"day": "tue"}},
    ]
    form = EventForm(frozenset(["user"]))
    expected = learned(written(tmp_path / "events.jsonl", made), form=form)
    assert expected["counts"]["learned"] == 3
    text, inner = pa.string(), pa.struct([("at", pa.string())])
    kinds = {"n": NUMBER, "by": text, "user": pa.int64(), "tags": pa.list_(text), "in": inner}
    item = pa.struct([*kinds.items()])
    table = pa.table(
        {
            "ranking": pa.array([event["ranking"] for event in made], pa.list_(item)),
            "context.day": [event.get("context", {}).get("day") for event in made],
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    mapping = Mapping(ranking="ranking", categories=("user",))
    assert learned(tmp_path / "events.parquet", mapping, form=form) == expected
    words = [{"ranking": [{"by": "ann", "at": "home"}, {"by": "bob"}]}] * 3
    pairs = [[[*map(tuple, each.items())] for each in event["ranking"]] for event in words]
    kind = pa.list_(pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table({"ranking": pa.array(pairs, kind)}), tmp_path / "events.parquet")
    expected = learned(written(tmp_path / "events.jsonl", words))
    assert expected["counts"]["learned"] == 3
    assert learned(tmp_path / "events.parquet", mapping) == expected


def test_a_chosen_item_may_have_columns_of_its_own(tmp_path: Path) -> None:
    mapping = Mapping(chosen="took_*", among="offers")
    path = tmp_path / "choices.csv"
    path.write_text(
        "took_a,took_b,offers,context.day,id\n"
        '1.5,,"[{""a"": 1}, {""b"": 2}, {""a"": 1.5}]",6,u\n'
        '2,1,"[{""a"": 1}]",,v\n'
    )
    made: list[dict[str, Any]] = [
        {"chosen": {"a": 1.5}, "among": [{"a": 1}, {"b": 2}, {"a": 1.5}], "context": {"day": 6}},
        {"chosen": {"a": 2.0, "b": 1.0}, "among": [{"a": 1}]},
    ]
    (chunk,) = (each for each in open_source([str(path)], None, mapping).chunks(None) if each)
    assert [json.loads(value) for value, _ in messages(chunk, None)] == [
        {**event, "id": name} for event, name in zip(made, "uv", strict=True)
    ]
    expected = learned(written(tmp_path / "events.jsonl", made))
    assert learned(path, mapping) == expected
    columns = {"took_a": [1.5, 2], "took_b": [None, 1], "context.day": [6, None]}
    among = pa.array([each["among"] for each in made], pa.list_(STRUCT))
    pq.write_table(pa.table({**columns, "offers": among}), tmp_path / "choices.parquet")
    assert learned(tmp_path / "choices.parquet", mapping) == expected


def test_bad_rows_are_rejects_with_the_words_of_json(tmp_path: Path) -> None:
    item, most = {"a": 1.0}, [{"a": float(i)} for i in range(102)]
    made: list[dict[str, Any]] = [
        {"ranking": [[item], [{"b": 2}]]},
        {"ranking": [[item]]},
        {"ranking": [[item], [{}]]},
        {"ranking": [[item], [None]]},
        {"ranking": [[item], []]},
        {"ranking": []},
        {"ranking": [[{"a": 9e129}], [{"b": 1}], [{"a": -9e129}]]},
        {"ranking": [[{"a": 1e131}], [item]]},
        {"ranking": [[each] for each in most]},
        {"ranking": [[item], [{"day": 1, "b": 1}]], "context": {"day": 3}},
        {"ranking": [[item], [item]], "chosen": item},
        {"chosen": item, "among": [item]},
        {"chosen": item},
        {"among": [item]},
        {"chosen": item, "among": []},
        {"chosen": item, "among": [item, None]},
        {"chosen": {}, "among": [item]},
        {"chosen": item, "among": [item, item, {"b": 1.0}]},
    ]
    kind = pa.struct([(name, NUMBER) for name in ("a", "b", "day")])
    expected = learned(written(tmp_path / "events.jsonl", made))
    assert [expected["counts"][what] for what in ("learned", "rejects")] == [2, 16]
    for name, table in (("structs", table_of(made, kind)), ("text", in_text(made))):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        assert learned(tmp_path / f"{name}.parquet", BOTH) == expected, name


def test_what_only_a_table_can_have(tmp_path: Path) -> None:
    """A number that is none, a key twice, a hole in a list, no list at all, and text that is not JSON."""
    path = tmp_path / "events.arrow"
    good = [{"a": 1.0}, {"b": 2.0}]
    pairs, mapping = pa.map_(pa.string(), NUMBER), Mapping(ranking="order")
    for column, reasons in (
        (pa.array([good, [{"a": float("nan")}, {"b": 1.0}]], pa.list_(STRUCT)), ["ranking.0: feature 'a' is nan; a finite number is needed"]),
        (pa.array([None, good], pa.list_(STRUCT)), ["ranking: Input should be a valid list, not null"]),
        (pa.array([[[1.0, None], [2.0]], [[1.0], [2.0]]]), ["ranking.0.1: Input should be a valid number, not null"]),
        (pa.array([[[("a", 1.0), ("a", 2.0)], [("a", 3.0), ("b", None)]]], pa.list_(pairs)), []),
        (pa.array(["[1", json.dumps(good)]), ["ranking: not JSON: EOF while parsing a list at line 1 column 2"]),
        (pa.array(['[{"a": [1]}, {"a": 1}]']), ["ranking.0: feature 'a' is a list of more than texts; give numbers names of their own, as in 'a.0', or list it in `categories`"]),
        (pa.array([None, None]), ["ranking: Input should be a valid list, not null"] * 2),
    ):  # fmt: skip
        write_arrow(pa.table({"order": column}), path)
        found = learned(path, mapping)
        assert found["reasons"] == reasons, column
        assert found["counts"]["learned"] == len(column) - len(reasons)
        (chunk,) = (each for each in open_source([str(path)], None, mapping).chunks(None) if each)
        assert len([*messages(chunk, None)]) == len(column)


def test_a_context_is_not_written_out_without_limit(tmp_path: Path) -> None:
    items = pa.array([[{"a": float(i)} for i in range(2_000)]], pa.list_(STRUCT))
    context = {f"context.c{i}": [1.0] for i in range(60)}
    pq.write_table(pa.table({"order": items, **context}), tmp_path / "events.parquet")
    assert learned(tmp_path / "events.parquet", Mapping(ranking="order"))["reasons"] == [
        "context: 60 features beside 2,000 items are more than 100,000 in all"
    ]


def test_rows_longer_than_any_event_are_rejects(tmp_path: Path) -> None:
    """Without making objects of them."""
    path, one = tmp_path / "events.arrow", pa.array([{"a": 1.0}], STRUCT)
    items = pa.concat_arrays([one] * 2).take(pa.array([0] * 600_000))
    lists = pa.ListArray.from_arrays(pa.array([0, 600_000], pa.int32()), items)
    write_arrow(pa.table({"order": lists}), path)
    found = learned(path, Mapping(ranking="order"))["reasons"]
    assert found == ["1,200,000 items and numbers are more than 500,000"]
    write_arrow(pa.table({"order": pa.array([" " * 1_000_001])}), path)
    found = learned(path, Mapping(ranking="order"))["reasons"]
    assert found == ["ranking: longer than 1,000,000 bytes"]


def test_rows_with_long_lists_come_in_small_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk has so many numbers, wherever they are; and which rows are together makes no difference."""
    monkeypatch.setattr(arrow_file, "_NUMBERS", 1 << 10)
    made = [{"ranking": [{"a": float(i), "b": 1} for i in range(40)]} for _ in range(100)]
    mapping, table = Mapping(ranking="order"), pa.table({"order": [e["ranking"] for e in made]})
    expected = learned(written(tmp_path / "events.jsonl", made))
    pq.write_table(table, tmp_path / "events.parquet")
    write_arrow(table, tmp_path / "events.arrow")
    for name in ("events.parquet", "events.arrow"):
        source = open_source([str(tmp_path / name)], None, mapping)
        assert max(0 if each is None else len(each) for each in source.chunks(None)) < 20, name
        assert learned(tmp_path / name, mapping) == expected, name


def test_a_run_goes_on_at_any_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_file, "_NUMBERS", 200)
    table = table_of(events(), STRUCT)
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=70)
    write_arrow(table, tmp_path / "events.arrow")
    whole = state_digest(run([str(tmp_path / "events.arrow")], mapping=BOTH).contestants[0].model)
    for path in (tmp_path / "events.parquet", tmp_path / "events.arrow"):
        for until in (1, 64, 75, 250):
            part = run([str(path)], until=until, mapping=BOTH)
            stored = json.loads(json.dumps(part.progress.position.to_json()))
            part.progress.position = open_source([str(path)], None, BOTH).position_from(stored)
            assert run([str(path)], part, mapping=BOTH).progress.counts.learned == 300
            assert state_digest(part.contestants[0].model) == whole, (path.name, until)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (Mapping(ranking="best"), "has no column 'best'; it has 'order'"),
        (Mapping(ranking="day"), "'day' of .* is of int64; `fields` ranking is of lists of items"),
        (Mapping(ranking="when"), "'when.at' of .* is of date32.*; numbers, booleans, text"),
        (Mapping(ranking="days"), "'days' of .* has items of int64; items are needed that are"),
        (Mapping(ranking="order", y="day"), "has y, which is of other events, beside ranking"),
        (Mapping(ranking="order", tie="day"), "has tie, which is of other events"),
        (Mapping(chosen="pick_*", among="order"), "no column 'pick_\\*' of the chosen item"),
        (Mapping(among="order"), "no column 'chosen.\\*' of the chosen item"),
        (Mapping(chosen="day", among="order"), "'day' of .* has items of int64"),
        (Mapping(x=("order",)), "as in `fields` ranking=a"),
    ],
)
def test_what_the_columns_cannot_be(tmp_path: Path, mapping: Mapping, words: str) -> None:
    columns = {"order": [[{"a": 1.0}, {"a": 2.0}]], "day": [1], "days": [[1]]}
    when = [[{"at": datetime.date(2026, 1, 2)}]]
    pq.write_table(pa.table({**columns, "when": when}), tmp_path / "events.parquet")
    with pytest.raises(InputError, match=words):
        learned(tmp_path / "events.parquet", mapping)
