"""Tables of preferences: two items in a row are the same events as in JSON."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from stream_rank.checkpoint.model_file import state_digest
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.form import OWN_FORM, EventForm
from stream_rank.codec.messages import messages
from stream_rank.errors import InputError
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.open_source import open_source
from tests.pipeline.conftest import Kept, loop_of

ALL = ["prank", "oap-bpm:n_members=9", "recursive-mprank", "pairwise-ranker"]


def events(n_events: int = 300) -> list[dict[str, Any]]:
    """Preferences and ties, features among them that are in some of the items only."""
    generator = random.Random(2)
    made = []
    for number in range(n_events):
        items = []
        for _ in range(2):
            item = {"a": generator.randint(-8, 8) / 4, "b": generator.randint(-8, 8) / 4}
            if generator.random() < 0.5 and number > 20:
                item["late"] = 1.0
            items.append(item)
        event: dict[str, Any] = {"preferred": items[0], "other": items[1], "ts": 1000 * number}
        if generator.random() < 0.2:
            event["tie"] = True
        elif generator.random() < 0.8:
            event["magnitude"] = generator.randint(1, 4) / 2
        made.append(event)
    return made


def table_of(made: list[dict[str, Any]]) -> pa.Table:
    """As `pandas.json_normalize` flattens them."""
    rows = []
    for event in made:
        row = {"magnitude": event.get("magnitude"), "tie": event.get("tie"), "ts": event["ts"]}
        for role in ("preferred", "other"):
            row |= {f"{role}.{name}": event[role].get(name) for name in ("a", "b", "late")}
        rows.append(row)
    return pa.Table.from_pylist(rows)


def learned(
    path: Path, mapping: Mapping | None = None, form: EventForm = OWN_FORM
) -> dict[str, Any]:
    kept = Kept()
    loop = loop_of(ALL, kept=kept)
    loop.decoder = Decoder(loop.decoder.limits, form=form)
    for chunk in open_source([str(path)], None, mapping).chunks(None):
        for _ in loop.take(chunk) if chunk is not None else ():
            pass
    return {
        "states": [state_digest(each.model) for each in loop.contestants],
        "boards": {name: board.summary() for name, board in loop.scoreboard.boards.items()},
        "counts": loop.progress.counts.as_dict(),
        "reasons": [reason for reason, _, _ in kept.rejects],
    }


def test_tables_are_the_same_stream_as_json(tmp_path: Path) -> None:
    made = events()
    lines = tmp_path / "events.jsonl"
    lines.write_text("".join(json.dumps(event) + "\n" for event in made))
    table = table_of(made)
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=70)
    pa_csv.write_csv(table, tmp_path / "events.csv")
    expected = learned(lines)
    assert expected["counts"]["learned"] == len(made)
    assert expected["boards"]["prank"]["preference_ties"] > 20
    for name in ("events.parquet", "events.csv"):
        assert learned(tmp_path / name) == expected, name


def test_patterns_say_which_columns_are_whose(tmp_path: Path) -> None:
    path = tmp_path / "matches.csv"
    path.write_text("home_elo,home_rest,away_elo,goals,day\n1.5,3,1.25,2,6\n1,1,2,0,7\n2,,1,,1\n")
    mapping = Mapping(preferred="home_*", other="away_*", magnitude="goals", context=("day",))
    (chunk,) = (each for each in open_source([str(path)], None, mapping).chunks(None) if each)
    made = [json.loads(value) for value, _ in messages(chunk, None)]
    assert made == [
        {"preferred": {"elo": 1.5, "rest": 3.0, "day": 6.0}, "other": {"elo": 1.25, "day": 6.0}, "magnitude": 2.0},
        {"preferred": {"elo": 1.0, "rest": 1.0, "day": 7.0}, "other": {"elo": 2.0, "day": 7.0}, "magnitude": 0.0},
        {"preferred": {"elo": 2.0, "day": 1.0}, "other": {"elo": 1.0, "day": 1.0}, "magnitude": 1.0},
    ]  # fmt: skip


def test_bad_rows_are_rejects_with_the_field(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(
        "preferred.a,other.a,magnitude,tie\n1,2,1,\n,2,1,\n1,,1,\n1,2,-1,\n1,2,1,true\n1,2,0,false\n1,2,,perhaps\n1,2,,true\n"
    )
    found = learned(path)
    assert found["counts"]["learned"] == 2
    assert found["reasons"] == [
        "preferred: Dictionary should have at least 1 item after validation, not 0",
        "other: Dictionary should have at least 1 item after validation, not 0",
        "magnitude: Input should be a number from 0, a tie, on",
        "tie: a tie has no magnitude, or one of 0",
        "tie: a magnitude of 0 is a tie",
        "tie: Input should be true or false, not 'perhaps'",
    ]


def test_an_item_is_none_for_its_context(tmp_path: Path) -> None:
    """The row is rejected in the words of JSON, whatever the items share."""
    made: list[dict[str, Any]] = [
        {"preferred": {}, "other": {"a": 1.0}, "context": {"day": "mon"}},
        {"preferred": {"a": 1.0}, "other": {}, "context": {"day": "mon"}},
        {"preferred": {"a": 1.0}, "other": {"by": "ann"}, "context": {"day": "mon"}},
    ]
    lines = tmp_path / "events.jsonl"
    lines.write_text("".join(json.dumps(event) + "\n" for event in made))
    path = tmp_path / "events.csv"
    path.write_text("preferred.a,other.a,other.by,context.day\n,1,,mon\n1,,,mon\n1,,ann,mon\n")
    expected = learned(lines)
    assert expected["counts"]["learned"] == 1
    assert learned(path) == expected


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (Mapping(preferred="home_*", other="guest_*"), "no column 'guest_\\*' of the other item"),
        (Mapping(preferred="home_*"), "no column 'other.\\*' of the other item"),
        (Mapping(preferred="home", other="away_*"), "no column 'home' of the preferred item"),
        (Mapping(preferred="home_*", other="away_*", y="goals"), "x or y, which are of ratings"),
        (Mapping(preferred="home_*", other="away_*", magnitude="score"), "no column 'score'"),
        (Mapping(tie="goals"), "`fields` tie is of preferences"),
    ],
)
def test_what_the_columns_cannot_be(tmp_path: Path, mapping: Mapping, words: str) -> None:
    path = tmp_path / "matches.csv"
    path.write_text("home_elo,away_elo,goals\n1.5,1.25,2\n")
    with pytest.raises(InputError, match=words):
        learned(path, mapping)
