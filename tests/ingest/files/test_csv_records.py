"""CSV after RFC 4180: the records and cells that Python's reader finds, from any record on, in whatever pieces the bytes come."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stream_rank.codec.messages import messages
from stream_rank.errors import ConfigError, InputError
from stream_rank.ingest.chunk import MOST_BYTES, Columns
from stream_rank.ingest.files import lines as lines_module
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.csv_options import CsvOptions
from stream_rank.ingest.files.open_source import open_source
from stream_rank.learners.base.values import category_text, features_of
from tests.pipeline.conftest import Kept, loop_of

ODD_CELLS = [
    *("1", "-2.5", " 12 ", "1e5", "007", "-007", "00.5", "1,234", "N/A", "NA", "", " ", "nan", "inf"),
    *("+1", "0", "-0", ".5", "5.", "1_000", "0x10", "infinit", "nan(1)", 'a "b"', "x\ny", "x\r\ny"),
    *("é", "u" * 201, "9" * 30, "12345678901234567890", "17.0", "1e400", "\t3", "\n4", "a;b", "--1"),
]  # fmt: skip
CELLS = st.one_of(st.sampled_from(ODD_CELLS), st.text('ab1",;\n 0.e', max_size=5))


def read(
    path: Path, options: CsvOptions, mapping: Mapping | None = None, position: Any = None
) -> list[tuple[Any, Any]]:
    """What every record became, an object or a reason; and the position after it."""
    found: list[tuple[Any, Any]] = []
    source = open_source([str(path)], None, mapping, options=options)
    if position is not None:
        position = source.position_from(json.loads(json.dumps(position.to_json())))
    for chunk in source.chunks(position):
        assert isinstance(chunk, Columns)
        for record, (value, _) in enumerate(messages(chunk, None)):
            came = chunk.wrong[record] if record in chunk.wrong else json.loads(value)
            found.append((came, chunk.position_after(record + 1)))
        chunk.release()
    return found


def value_of(cell: str, na_values: tuple[str, ...]) -> Any:
    """A cell, slowly."""
    if cell == "" or cell in na_values:
        return None
    bare = cell.strip(" \t")
    if re.fullmatch("[+-]?0[0-9]+", bare) or not bare.isascii() or "_" in bare:
        return cell
    try:
        return float(bare) if bare == bare.strip() else cell
    except ValueError:
        return cell


def as_features(row: list[str], na_values: tuple[str, ...], users: bool) -> Any:
    x: dict[str, Any] = {}
    for name, cell in zip("abc", row, strict=True):
        value = value_of(cell, na_values)
        bare = cell.strip(" \t").lstrip("+-")
        if name == "a" and users and isinstance(value, float) and bare.isdigit():
            value = int(cell)
        if name == "a" and users and value is not None:
            try:
                value = category_text("a", value)
            except ValueError as error:
                return f"x: {error}"
        x[name] = value
    return features_of(x)


def written(rows: list[list[str]], delimiter: str, end: str, quoting: Any) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return file.getvalue().encode()


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    last=st.booleans(),
    bom=st.booleans(),
    na_values=st.sampled_from([(), ("NA", "N/A")]),
    users=st.booleans(),
    data=st.data(),
)
def test_what_python_writes_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[list[str]], delimiter: str, end: str,
    quoting: Any, last: bool, bom: bool, na_values: tuple[str, ...], users: bool, data: st.DataObject,
) -> None:  # fmt: skip
    content = written([["a", "b", "c"], *rows], delimiter, end, quoting)
    content = content if last else content.removesuffix(end.encode())
    path = tmp_path / "events.csv"
    path.write_bytes(b"\xef\xbb\xbf" * bom + content)
    options = CsvOptions(delimiter, True, na_values)
    mapping = Mapping(categories=("a",) if users else ())
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", data.draw(st.sampled_from([7, 40, 1 << 20])))
    monkeypatch.setattr(lines_module, "_MOST_LINES", data.draw(st.sampled_from([1, 2, 100])))
    found = read(path, options, mapping)
    assert len(found) == len(rows)
    for (came, _), row in zip(found, rows, strict=True):
        x = {} if isinstance(came, str) else came.get("x", {})
        expected = as_features(row, na_values, users)
        if isinstance(expected, str):
            assert came == expected
        else:
            assert repr(sorted(features_of(x).items())) == repr(sorted(expected.items()))
    begin = data.draw(st.integers(0, len(rows) - 1))
    rest = read(path, options, mapping, found[begin][1])
    assert repr(rest) == repr(found[begin + 1 :])


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    body=st.text('a1,"\n\r', max_size=60),
    header=st.sampled_from(["a,b", "a", "a,b,c"]),
    data=st.data(),
)
def test_nothing_is_lost_of_what_no_csv_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, header: str, data: st.DataObject
) -> None:
    """Every line is in a record, however the bytes come; and reading goes on from any of them."""
    path = tmp_path / "events.csv"
    path.write_bytes(f"{header}\n{body}".encode())
    options = CsvOptions(",", True)
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(lines_module, "_MOST_LINES", 1 << 14)
    whole = read(path, options)
    raws: list[bytes] = []
    for chunk in open_source([str(path)], options=options).chunks(None):
        assert isinstance(chunk, Columns)
        raws += [chunk.raw(record) for record in range(len(chunk))]
    given_lines = [line for line in body.encode().split(b"\n") if line.strip(b" \t\r")]
    seen = [line for raw in raws for line in raw.split(b"\n") if line.strip(b" \t\r")]
    assert [line.rstrip(b"\r") for line in seen] == [line.rstrip(b"\r") for line in given_lines]
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", data.draw(st.integers(1, 20)))
    monkeypatch.setattr(lines_module, "_MOST_LINES", data.draw(st.sampled_from([1, 3])))
    assert [came for came, _ in read(path, options)] == [came for came, _ in whole]
    if whole:
        begin = data.draw(st.integers(0, len(whole) - 1))
        rest = read(path, options, None, whole[begin][1])
        assert [came for came, _ in rest] == [came for came, _ in whole[begin + 1 :]]


def rejects_of(path: Path, **more: Any) -> tuple[int, list[tuple[str, bytes]]]:
    kept = Kept()
    loop = loop_of(["prank"], kept=kept)
    for chunk in open_source([str(path)], **more).chunks(None):
        for _ in loop.take(chunk) if chunk is not None else ():
            pass
    return loop.progress.counts.learned, [(reason, raw) for reason, _, raw in kept.rejects]


def test_records_that_do_not_fit_are_rejects_that_say_why(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(
        b'stars,text,y\n5,"good,\nvery good",4\n4,bad,3,2\n3,a"b",1\n2,"lost,1\n1,one\rtwo,1\n'
        b'4,"two\nlines",2,2\n5,\xff,1\n5,"said ""no""",2\n'
    )
    learned, rejects = rejects_of(path)
    assert learned == 2
    assert rejects == [
        ("4 cells, where the header has 3", b"4,bad,3,2"),
        ("quotes stand around whole cells only, and twice within them", b'3,a"b",1'),
        ("a quote begins a cell that does not end in a record of 3 cells", b'2,"lost,1'),
        ("a carriage return stands outside of quotes, and no newline after it", b"1,one\rtwo,1"),
        ("a quote begins a cell that does not end in a record of 3 cells", b'4,"two'),
        ("quotes stand around whole cells only, and twice within them", b'lines",2,2'),
        ("'utf-8' codec can't decode byte 0xff in position 2: invalid start byte", b"5,\xff,1"),
    ]


def test_a_quote_that_is_lost_costs_a_line(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    long = "x" * MOST_BYTES
    path.write_text(f'a,b,y\n1,"{long},2\n1,"\n' + "1,2,1\n" * 300_000 + f'1,"{long}\n2",2\n1,2,3')
    learned, rejects = rejects_of(path)
    assert learned == 300_001
    assert [reason for reason, _ in rejects] == [
        "longer than 1,000,000 bytes",
        "a quote begins a cell that does not end in a record of 3 cells",
        "longer than 1,000,000 bytes",
        "quotes stand around whole cells only, and twice within them",
    ]


@pytest.mark.parametrize(
    ("content", "delimiter", "names"),
    [
        ("a,b,y\n1,2,3\n", ",", "a b y"),
        ("a;b;y\n1,5;2,5;3\n", ";", "a b y"),
        ("a\tb\ty\n1\t2\t3\n", "\t", "a b y"),
        ('a|"b|,c"|y\n1|2|3\n', "|", "a b|,c y"),
        ("1,2,3\n4,5,6\n", ",", "0 1 2"),
        ("0,1,y\n4,5,6\n", ",", "0 1 y"),
        ("u1,i1,3\nu2,i2,4\n", ",", "0 1 2"),
        ("2019,2020,place\n1,2,3\n2,3,4\n", ",", "2019 2020 place"),
        ("user,item\nann,soap\n", ",", "user item"),
        ("x\n1\n2\n", ",", "x"),
        ("\n\na,y\n1,2\n", ",", "a y"),
        ("\n \n" * 50 + "a,y\n1,2\n", ",", "a y"),
        ("a,b;c,y\n1,2;3,1\n", ",", "a b;c y"),
    ],
)
def test_the_dialect_is_told(tmp_path: Path, content: str, delimiter: str, names: str) -> None:
    path = tmp_path / "events.csv"
    path.write_text(content)
    (_, position), *_ = read(path, CsvOptions())
    assert (position.at.delimiter, " ".join(position.at.header)) == (delimiter, names)
    (_, position), *_ = read(path, CsvOptions(header=False))
    assert position.at.header[0] == "0"


def test_settings_go_before_what_is_told(tmp_path: Path) -> None:
    path = tmp_path / "events.tsv"
    path.write_text("1;2\t3\n4;-\t6\n")
    mapping = Mapping(y="1")
    assert [came for came, _ in read(path, CsvOptions(na_values=("4;-",)), mapping)] == [
        {"x": {"0": "1;2"}, "y": 3.0},
        {"y": 6.0},
    ]
    (came, _), *_ = read(path, CsvOptions(";", na_values=("2\t3",)), Mapping(y="0"))
    assert came == {"y": 1.0}
    (came, _), *rest = read(path, CsvOptions(";", True), Mapping(y="1"))
    assert (came, rest) == ({"x": {"2\t3": "-\t6"}, "y": 4.0}, [])
    for delimiter in ("", ",,", '"', "\n", "é"):
        with pytest.raises(ConfigError, match="one character"):
            CsvOptions(delimiter)
    path = tmp_path / "events.csv"
    path.write_text("a,a\n1,2\n")
    with pytest.raises(InputError, match="twice"):
        read(path, CsvOptions())


def test_a_header_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text('"first\nname","y"\r\n"x\r\ny",3\r\n')
    assert [came for came, _ in read(path, CsvOptions())] == [
        {"x": {"first\nname": "x\r\ny"}, "y": 3.0}
    ]
