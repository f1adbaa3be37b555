"""Streams that are the same on every machine.

They are made of whole numbers of `random.Random`, divided by powers of two, and written with all digits: nothing that a
mathematical library rounds comes into them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.recorded.variants import SCORES, VARIANTS, Variant

__all__ = ["STREAMS", "Stream", "features", "rank_of", "write_table"]

Event = dict[str, Any]
_BEGIN = 1_700_000_000_000


@dataclass
class Stream:
    """What is replayed, and how."""

    name: str
    lines: list[bytes]
    arguments: Sequence[str] = ("--window", "60")
    variants: Sequence[Variant] = field(default_factory=lambda: VARIANTS)
    n_ranks: int | None = 5
    form: str = "jsonl"
    events: list[Event] | None = None
    """The same as rows of a table, where it can be one."""
    alone: bool = True
    """Whether learners are also replayed by themselves, which must not change what they learn."""


def features(generator: Random, n_features: int) -> list[float]:
    """Multiples of 1/8 from -2 to 2."""
    return [generator.randint(-16, 16) / 8 for _ in range(n_features)]


def rank_of(x: Sequence[float], generator: Random, turned: bool = False) -> int:
    """A rank from 1 to 5 by a rule with noise, in whole numbers."""
    score = sum(int(8 * value) * (3 - place % 5) for place, value in enumerate(x[:6]))
    score += generator.randint(-6, 6)
    return min(max((-score if turned else score) // 16 + 3, 1), 5)


def _named(x: Sequence[float]) -> dict[str, float]:
    return {f"f{place}": value for place, value in enumerate(x)}


def _lines(events: list[Event]) -> list[bytes]:
    return [json.dumps(event).encode() for event in events]


def _dense() -> Stream:
    generator, events = Random(1), []
    for _ in range(700):
        x = features(generator, 6)
        events.append({"x": _named(x), "y": rank_of(x, generator)})
    return Stream("dense", _lines(events), events=events)


def _sparse() -> Stream:
    """Features that come late, and one of many categories in every event."""
    generator, events = Random(2), []
    for number in range(350):
        x = _named(features(generator, 2))
        for _ in range(generator.randint(0, 3)):
            x[f"late{generator.randint(0, 1 + number // 8)}"] = generator.randint(1, 16) / 8
        x[f"color={generator.randint(0, 12)}"] = 1.0
        events.append({"x": x, "y": rank_of([*x.values()], generator)})
    return Stream("sparse", _lines(events), events=events)


def _groups() -> Stream:
    generator, events = Random(3), []
    for number in range(500):
        x, group = features(generator, 6), generator.randint(0, 11)
        event: Event = {"x": _named(x), "y": rank_of(x, generator), "ts": _BEGIN + 997 * number}
        if group:  # the others are of none
            event["group"] = f"user {group}"
        events.append(event)
    return Stream("groups", _lines(events), events=events)


def _between() -> Stream:
    """The same, of which only some are in time."""
    stream = _groups()
    arguments = ["--window", "60", "--from", "2023-11-14T22:14:20Z", "--to", "2023-11-14T22:18:00Z"]
    return Stream("between", stream.lines, arguments, events=stream.events, alone=False)


def _preferences() -> Stream:
    """Pairs of items that share some of their features, between ratings."""
    generator, events = Random(4), []
    for _ in range(350):
        x, z = features(generator, 6), features(generator, 6)
        if generator.randint(0, 2):
            events.append({"x": _named(x), "y": rank_of(x, generator)})
            continue
        quiet = Random(0)
        better, worse = (x, z) if rank_of(x, quiet) >= rank_of(z, quiet) else (z, x)
        first, second = _named(better), _named(worse)
        for item in (first, second):
            del item[f"f{generator.randint(0, 5)}"]
            if not generator.randint(0, 3):
                item[f"only{generator.randint(0, 30)}"] = 0.5
        event: Event = {"preferred": first, "other": second}
        if generator.randint(0, 1):
            event["magnitude"] = generator.randint(1, 24) / 8
        if generator.randint(0, 1):
            event["group"] = generator.randint(1, 4)
        events.append(event)
    return Stream("preferences", _lines(events))


def _compared() -> Stream:
    """Ties, rankings with equals, choices and contexts, between ratings and labels that come late."""
    generator, events = Random(14), []
    for number in range(240):
        items = [_named(features(generator, 4)) for _ in range(4)]
        if not generator.randint(0, 3):
            items[0][f"only{generator.randint(0, 30)}"] = 0.5
        dice = generator.randint(0, 9)
        event: Event
        if dice < 2:
            event = {"preferred": items[0], "other": items[1], "tie": True}
        elif dice < 4:
            event = {"preferred": items[0], "other": items[1], "magnitude": dice - 2}
        elif dice < 6:
            event = {"ranking": [items[0], items[1:3], items[3]], "context": {"day": 0.5}}
        elif dice < 7:
            event = {"chosen": items[0], "among": items}
        elif dice < 8:
            event = {"x": items[0], "id": number}
        elif dice < 9:
            event = {"id": number - 1, "y": 1 + number % 5}
        else:
            event = {"x": items[0], "y": rank_of(list(items[0].values())[:4], generator)}
        events.append(event)
    return Stream("compared", _lines(events), ["--window", "60", "--delay", "30"], alone=False)


def _late() -> Stream:
    """Labels under the id of their features: some come after others pushed them out, some are of nobody."""
    generator, events = Random(5), []
    open_: list[tuple[str, int]] = []
    for number in range(500):
        dice = generator.randint(0, 99)
        if dice < 42 or not open_:
            x, name = features(generator, 5), f"r{number}"
            event: Event = {"id": name, "x": _named(x), "ts": _BEGIN + 1000 * number}
            if generator.randint(0, 1):
                event["group"] = f"user {generator.randint(0, 5)}"
            if number > 200 and dice < 10:
                event["x"][f"late{dice}"] = 1.0
            events.append(event)
            open_.append((name, rank_of(x, generator)))
        elif dice < 80:
            name, y = open_.pop(generator.randint(max(0, len(open_) - 40), len(open_) - 1))
            events.append({"id": name, "y": y})
        elif dice < 84:
            events.append({"id": f"nobody {number}", "y": 3})
        elif dice < 87:
            name, y = open_[-1]  # the same id again: who waited is dropped
            events.append({"id": name, "x": _named(features(generator, 5))})
        else:
            x = features(generator, 5)
            event = {"x": _named(x), "y": rank_of(x, generator)}
            if dice < 92:
                event["id"] = f"known {number}"
            events.append(event)
    return Stream(
        "late", _lines(events), ["--window", "60", "--delay", "30"], events=events, alone=False
    )


def _scores() -> Stream:
    """Labels that are no ranks."""
    generator, events = Random(6), []
    for number in range(400):
        x = features(generator, 6)
        y = sum(value * (3 - place) for place, value in enumerate(x)) + generator.randint(-8, 8) / 4
        event = {"x": _named(x), "y": y, "ts": _BEGIN + 1000 * number}
        if generator.randint(0, 3):
            event["group"] = f"race {generator.randint(0, 6)}"
        if not generator.randint(0, 9):
            del event["y"]
            event["id"] = f"q{number}"
        events.append(event)
    return Stream("scores", _lines(events), variants=SCORES, n_ranks=None, events=events)


_GARBAGE = [
    b'{"x": {"f0": 1.0}, "y": 9}',
    b'{"x": {"f0": 1.0}, "y": 0}',
    b'{"x": {"f0": 1.0}, "y": 2.5}',
    b'{"x": {"f0": NaN}, "y": 2}',
    b'{"x": {"f0": 1e999}, "y": 2}',
    b'{"x": {"f0": "much"}, "y": 2}',
    b'{"x": {"f0": 1e200}, "y": 2}',
    b'{"x": {}, "y": 2}',
    b'{"x": [], "y": 2}',
    b'{"id": -1, "y": 2}',
    b'{"y": 2}',
    b'{"preferred": {"f0": 1}, "other": {}}',
    b'{"preferred": {"f0": 1}, "other": {"f0": 2}, "magnitude": -1}',
    b'{"preferred": {"f0": 1e60}, "other": {"f0": -1e60}, "magnitude": 1e30}',
    b'{"x": {"f0": 1.0}, "y": 2, "ts": "yesterday"}',
    b'{"x": {"f0": 1.0}, "y": 2, "more": 1}',
    b'{"x": {"f0": 1.0}, "y": 2',
    b"[1]",
    b"text",
    b"\xff\xfe\x00",
    b"",
    b"   ",
    b"null",
]
_ODD = [
    b'{"y": 3, "x": {"f1": -0.0, "f0": 0}}',
    b'{"x": {"f0": 0.1, "f1": 1e-3, "f2": 123456789.123456789e-9}, "y": 4}\r',
    b' { "x" : { "f0" : 1 , "caf\\u00e9" : 2 } , "y" : 3.0 } ',
    '{"x": {"f0": 1, "café": -1}, "y": 2, "group": "naïve"}'.encode(),
    b'{"x": [0.3333333333333333, 2], "y": 2, "ts": "2023-11-14T22:13:20.5+01:00"}',
    b'{"x": {"f0": 0.25}, "y": null, "id": "later"}',
    b'{"x": {"f0": 0.25}, "id": 7, "group": "a"}',
    b'{"preferred": [1, 0.5], "other": {"f1": 0.75}, "magnitude": null}',
]
"""Events that are good, in forms that are read in other ways."""


def _mixed() -> Stream:
    generator = Random(7)
    lines: list[bytes] = []
    waiting: list[tuple[Any, int]] = []
    for number in range(550):
        x = _named(features(generator, 3))
        if generator.randint(0, 9) < 3:
            x[f"rare{generator.randint(0, min(number // 10, 50))}"] = 1.0
        y = rank_of([*x.values()], generator)
        dice, time = generator.randint(0, 99), _BEGIN + 1000 * number
        event: Any
        if dice < 55:
            event = {"x": x, "y": y, "ts": time, "group": ["a", "b", 3][generator.randint(0, 2)]}
        elif dice < 65:
            event = {"preferred": x, "other": {"f0": 0.5}, "magnitude": 1.5, "ts": time}
        elif dice < 75:
            event = {"x": x, "id": number, "ts": time}
            waiting.append((number, y))
        elif dice < 84 and waiting:
            name, label = waiting.pop(generator.randint(0, len(waiting) - 1))
            event = {"id": name, "y": label}
        elif dice < 87:
            event = {"x": [1.0, generator.random()], "y": y}
        elif dice < 90:
            event = {"x": x}
        elif dice < 93:
            lines.append(_ODD[generator.randint(0, len(_ODD) - 1)])
            continue
        else:
            lines.append(_GARBAGE[number % len(_GARBAGE)])
            continue
        lines.append(json.dumps(event).encode())
    return Stream("mixed", lines, ["--window", "200", "--delay", "20"], alone=False)


def _turned() -> Stream:
    """A rule that turns around, after as many events as drift detection wants before it looks."""
    names = ("prank", "oap-bpm", "widrow-hoff", "online-mprank", "recursive-mprank")
    plain = [each for each in VARIANTS if each.name in names and not each.parameters]
    few = [*plain, Variant("online-mprank", {"budget": 20})]
    generator, events = Random(8), []
    for number in range(13_000):
        x = features(generator, 3)
        events.append({"x": _named(x), "y": rank_of(x, generator, turned=number >= 8_500)})
    return Stream("turned", _lines(events), ["--window", "300"], few, events=events, alone=False)


def _cells() -> Stream:
    """CSV of which some lines are not what the header says."""
    generator, asked = Random(9), 0
    lines = [b"a,b,y,ts,group,id"]
    for number in range(300):
        a, b = features(generator, 2)
        good = f"{a},{b},{rank_of([a, b], generator)},{_BEGIN + number},g{number % 3},i{number}"
        bad = [
            *(f"{a},{b}", f"{a},{b},9,,,", f"much,{b},2,,,", f"{a},nan,2,,,", f"{a},{b},NaN,,,"),
            *(f"{a},,{number % 5 + 1},,,", f",,3,,,i{asked}", f'{a},{b},3,,"one, two",', ""),
            *(f"{a},{b},3,tomorrow,,", f"{a},{b},,,,i{number}", f'{a},{b},3,,"',),
        ]  # fmt: skip
        dice = generator.randint(0, 3 * len(bad))
        line = bad[dice] if dice < len(bad) else good
        if line == f"{a},{b},,,,i{number}":
            asked = number
        lines.append(line.encode())
    return Stream("cells", lines, ["--window", "60", "--delay", "9"], form="csv", alone=False)


def _rows() -> Stream:
    """A table with labels and features that cannot be."""
    generator, events = Random(10), []
    for number in range(300):
        x = features(generator, 3)
        event: Event = {"x": _named(x), "y": float(rank_of(x, generator)), "ts": _BEGIN + number}
        dice = generator.randint(0, 29)
        if dice < 3:
            event["y"] = [7.0, 2.5, float("nan")][dice]
        elif dice < 6:
            event["x"]["f1"] = [float("nan"), float("inf"), 1e200][dice - 3]
        elif dice == 6:
            event["x"] = {}
        events.append(event)
    return Stream("rows", [], form="parquet", events=events, alone=False)


STREAMS = {
    make.__name__.removeprefix("_"): make
    for make in (
        *(_dense, _sparse, _groups, _between, _preferences, _compared, _late),
        *(_scores, _mixed, _turned, _cells, _rows),
    )
}
"""How to make every stream."""


def write_table(events: list[Event], path: Path, rows: int) -> None:
    """Events as CSV, Parquet or Arrow, so many rows a group; features that an event has not are missing."""
    names = sorted({name for event in events for name in event.get("x", {})})
    roles = [role for role in ("y", "ts", "group", "id") if any(role in each for each in events)]
    columns = {name: [event.get("x", {}).get(name) for event in events] for name in names}
    columns |= {role: [event.get(role) for event in events] for role in roles}
    if path.suffix == ".csv":
        lines = [",".join(columns)]
        cells = zip(*columns.values(), strict=True)
        lines += [",".join("" if cell is None else str(cell) for cell in row) for row in cells]
        path.write_text("\n".join(lines) + "\n")
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"ts": pa.int64(), "group": pa.string(), "id": pa.string()}
    table = pa.table(
        {name: pa.array(column, kinds.get(name, pa.float64())) for name, column in columns.items()}
    )
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=rows)
        return
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
