"""Files as their publishers ship them: small made ones, and the real ones where they are."""

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulators.__main__ import main
from simulators.readers.command import READERS
from stream_rank.codec.schema import parse
from tests.conftest import research_data

MADE = {
    "movielens-100k": {
        "u.data": "1\t5\t3\t200\n2\t5\t4\t100\n",
        "u.item": "5|Ash (1995)|01-Jan-1995||http://x|0|1|0|0|0|1" + "|0" * 13 + "\n",
    },
    "movielens-1m": {"ratings.dat": "1::5::3::200\n2::5::3.5::100\n", "movies.dat": "5::Ash (1995)::Action|Comedy\n"},
    "movielens-latest": {
        "ratings.csv": "userId,movieId,rating,timestamp\n1,5,3.0,200\n2,5,3.5,100\n",
        "movies.csv": 'movieId,title,genres\n5,"Ash, a tree (1995)",Action|Comedy\n',
    },
    "jester": {"jester-data-1.csv": "\n".join(",".join(["1", *["99"] * 98, "-7.5", "3"]) for _ in range(3)) + "\n"},
    "eachmovie": {"Vote.txt": "1\t5\t0.6\t1\t2/5/96 8:07:20\n2\t5\t1\t1\t1/5/96 0:00:00\n2\t6\t0\t0.5\t1/5/96 0:00:00\n"},
    "book-crossing": {"BX-Book-Ratings.csv": '"User-ID";"ISBN";"Book-Rating"\n"1";"05X";"0"\n"1";"06X";"7"\n'},
    "netflix": {"mv_0000001.txt": "1:\n7,3,2005-09-06\n8,5,2004-01-01\n"},
    "letor": {"train.txt": "2 qid:10 1:0.5 2:1 #docid = 4\n0 qid:10 1:0 2:1\n"},
    "mslr": {"test.txt": "4 qid:1 1:3 2:0\n"},
    "ohsumed": {"S1.txt": "1 qid:1 1:0.5\n", "S2.txt": "0 qid:2 1:0.25\n"},
    "cystic-fibrosis": {"cfquery": "QN 00001 \nQU What are the\n   effects?\nNR 00002\nRD  139 1222  151 2211\n    7 0001\n\n"},
    "pairs": {"results.csv": "date,home_team,away_team,home_score,away_score\n2020-01-02,a,b,1,1\n2020-01-01,a,c,0,2\n2020-01-03,a,c,NA,NA\n"},
}  # fmt: skip
FIRST: dict[str, dict[str, Any]] = {
    "movielens-100k": {"x": {"user": "2", "item": "5", "genre": ["Action", "Comedy"], "year": 1995}, "y": 4, "group": "2", "ts": 100_000},
    "movielens-1m": {"x": {"user": "2", "item": "5", "genre": ["Action", "Comedy"], "year": 1995}, "y": 4, "group": "2", "ts": 100_000},
    "movielens-latest": {"x": {"user": "2", "item": "5", "genre": ["Action", "Comedy"], "year": 1995}, "y": 7, "group": "2", "ts": 100_000},
    "eachmovie": {"x": {"user": "2", "item": "5"}, "y": 6, "group": "2", "ts": 820_800_000_000},
    "book-crossing": {"x": {"user": "1", "item": "06X"}, "y": 7, "group": "1"},
    "netflix": {"x": {"user": "7", "item": "1"}, "y": 3, "group": "7", "ts": 1_125_964_800_000},
    "letor": {"x": {"1": 0.5, "2": 1.0}, "y": 3, "group": "10"},
    "ohsumed": {"x": {"1": 0.5}, "y": 2, "group": "1"},
    "cystic-fibrosis": {"x": {"query": "q1", "document": "d139", "judge": "j1"}, "y": 2, "group": "q1"},
    "pairs": {"preferred": {"name": "c"}, "other": {"name": "a"}, "magnitude": 2.0, "ts": "2020-01-01T00:00:00Z"},
}  # fmt: skip
COUNTS = {"jester": 6, "cystic-fibrosis": 12, "book-crossing": 1, "mslr": 1}


def folder_of(kind: str, tmp_path: Path) -> Path:
    folder = tmp_path / kind
    folder.mkdir()
    for name, text in MADE[kind].items():
        (folder / name).write_text(text)
    return folder


def lines(capsys: pytest.CaptureFixture[str], kind: str, path: Path) -> list[str]:
    code = main(["events", kind, str(path)])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "stream-rank replay events.jsonl --" in said.err
    return said.out.splitlines()


def test_made_files_are_read_in_folders_archives_and_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(MADE) == set(READERS)
    for kind, files in MADE.items():
        folder = folder_of(kind, tmp_path)
        main_file = folder / next(iter(files))
        whole = lines(capsys, kind, folder)
        assert len(whole) == COUNTS.get(kind, 2), kind
        for line in whole:
            parse(line.encode())  # raises unless it is an event
        if kind in FIRST:
            assert json.loads(whole[0]) == FIRST[kind]
        if len(files) == 1:
            packed = folder / f"{main_file.name}.gz"
            packed.write_bytes(gzip.compress(main_file.read_bytes()))
            assert lines(capsys, kind, packed) == whole
        if kind.startswith("movielens"):
            archive = tmp_path / f"{kind}.zip"
            with zipfile.ZipFile(archive, "w") as file:
                for name, text in files.items():
                    file.writestr(f"ml/{name}", text)
            assert lines(capsys, kind, archive) == whole


WRONG: dict[str, Callable[[str], str]] = {
    "movielens-100k": lambda text: text.replace("\t3\t", "\t9\t"),
    "movielens-1m": lambda text: text.replace("::", ","),
    "movielens-latest": lambda text: text.replace("3.0", "3.2"),
    "jester": lambda text: text.replace(",99,99", ",99"),
    "eachmovie": lambda text: text.replace("2/5/96", "yesterday"),
    "book-crossing": lambda text: text.replace("ISBN", "Title"),
    "netflix": lambda text: text.replace("1:\n", ""),
    "letor": lambda text: text.replace("qid:10", "10"),
    "ohsumed": lambda text: text.replace("1:0.5", "1:high"),
    "cystic-fibrosis": lambda text: text.replace("1222", "1232"),
    "pairs": lambda text: text.replace("home_team", "team"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_is_told_what_was_expected(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(kind, tmp_path)
    file = folder / next(iter(MADE[kind]))
    file.write_text(WRONG[kind](file.read_text()))
    assert main(["events", kind, str(file)]) == 2
    said = capsys.readouterr().err
    assert file.name in said
    assert "expected" in said or "must be" in said


def test_what_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", "netflix", str(tmp_path)]) == 2
    assert "has no mv_*.txt" in capsys.readouterr().err
    assert main(["events", "eachmovie", str(tmp_path)]) == 2
    assert "has no Vote.txt; it has person, movie" in capsys.readouterr().err
    assert main(["events", "letor", str(tmp_path / "none")]) == 2
    assert "is neither a file nor a folder" in capsys.readouterr().err
    (tmp_path / "broken.zip").write_bytes(b"PK")
    assert main(["events", "movielens-1m", str(tmp_path / "broken.zip")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "file", "whole_folder", "count"),
    [
        ("movielens-100k", "movielens-100k/u.data.gz", True, 100_000),
        ("ohsumed", "ohsumed-letor3/QueryLevelNorm/S1.txt.gz", False, 2_500),
        ("cystic-fibrosis", "cystic-fibrosis/cfquery.txt.gz", False, 19_000),
        ("pairs", "international-football/results.csv.gz", False, 40_000),
    ],
)
def test_real_files(
    kind: str, file: str, whole_folder: bool, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = research_data(file)
    found = lines(capsys, kind, path.parent if whole_folder else path)
    assert count <= len(found) < 1.3 * count
    for line in found[::997]:
        parse(line.encode())
