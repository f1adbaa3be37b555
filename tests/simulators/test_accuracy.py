"""The table of all learners, and calibration, on small data that is made here."""

import csv
import gzip
from pathlib import Path
from random import Random

import pytest

from simulators import accuracy, calibration
from simulators.__main__ import main
from simulators.accuracy import MARK, STREAMS, loss_of


@pytest.fixture(autouse=True)
def as_a_person_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STREAM_RANK_PREPARATION", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of the same form as the real ones."""
    generator = Random(3)
    for name in ("ordinal-sets", "cystic-fibrosis", "movielens-100k", "jester"):
        (tmp_path / name).mkdir()
    with gzip.open(tmp_path / "ordinal-sets/car.csv.gz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["size", "price", "y"])
        for _ in range(900):
            size, price = generator.gauss(0, 1), generator.gauss(5, 2)
            score = size - 0.5 * (price - 5) + generator.gauss(0, 0.5)
            rows.writerow([f"{size:.3f}", f"{price:.3f}", 1 + sum(score > e for e in (-1, 0, 1))])
    marks = [generator.choice([0, 1, 2]) for _ in range(4_829)]
    fours = [
        "".join(str(min(2, max(0, m + generator.choice([-1, 0, 0, 1])))) for _ in range(4))
        for m in marks
    ]
    lines = [f"QN {i:05}\nQU What?\nNR 00001\nRD  {i:4} {four}" for i, four in enumerate(fours)]
    (tmp_path / "cystic-fibrosis/cfquery.txt.gz").write_bytes(
        gzip.compress("\n".join(lines).encode())
    )
    merits = [generator.gauss(3, 1) for _ in range(310)]
    stars = [
        f"{p}\t{film}\t{min(5, max(1, round(merit + generator.gauss(0, 0.7))))}\t{film}"
        for p in range(8)
        for film, merit in enumerate(merits)
    ]
    (tmp_path / "movielens-100k/u.data.gz").write_bytes(gzip.compress("\n".join(stars).encode()))
    return tmp_path


@pytest.mark.long(10)
def test_a_table_of_learners_and_streams(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "SETS", {"car": 4})
    readme = folder / "README.md"
    readme.write_text(f"before\n<!-- {MARK} -->\nold\n<!-- end -->\nafter\n")
    learners = ["scale | ordinal-logit", "river.dummy.PriorClassifier"]
    streams = [name for name in STREAMS if name != "Jester"]
    assert accuracy.report(folder, 1, readme, learners, streams, lambda _: None) == 0
    before, _, head, _, ours, constant, _, after = readme.read_text().splitlines()
    assert (before, after) == ("before", "after")
    assert head == f"| learner | {' | '.join(streams)} |"
    assert ours.startswith(r"| `scale \| ordinal-logit` | **")
    better = [float(cell.strip(" *")) for cell in ours.split("|")[3:-1]]
    worse = [float(cell.strip(" *")) for cell in constant.split("|")[2:-1]]
    assert len(better) == len(worse) == len(streams)
    assert all(one < 0.8 * other for one, other in zip(better, worse, strict=True))


def test_trials_are_those_of_the_papers(folder: Path) -> None:
    (marks,) = STREAMS["cystic fibrosis"][0](folder, 1)
    assert (len(marks.learned), len(marks.asked), marks.n_ranks) == (4_247, 582, 3)
    assert {len(x) for x, _ in marks.learned} == {3}
    films, *_ = STREAMS["MovieLens"][0](folder, 1)
    assert (len(films.learned), len(films.asked)) == (210, 90)
    assert {len(x) for x, _ in films.learned} == {7}
    same = films._replace(asked=films.learned)
    assert loss_of("scale | nearest-ranks", same, 1) < loss_of("scale | nearest-ranks", films, 1)


@pytest.mark.long(12)
def test_calibration_is_told_and_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "CURVES", ("car",))
    said: list[str] = []
    code = calibration.report(folder, folder / "new/curves.svg", ["car"], said.append)
    found = {line[:44].strip(): line[44:].split() for line in said if len(line) > 44}
    assert 0.89 <= float(found["coverage after a sudden drift"][0]) <= 0.91
    assert float(found["RPS over that of the true posterior"][0]) < 1.01
    missed = [
        what
        for what, (here, *_) in found.items()
        if what.startswith("cover") and not 0.89 <= float(here) <= 0.91
    ]
    assert code == bool(missed)
    picture = (folder / "new/curves.svg").read_text()
    assert picture.count("<polyline") == 3
    assert 'xmlns="http://www.w3.org/2000/svg"' in picture


def test_a_folder_without_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("accuracy", "calibration"):
        assert main([command, "--data", str(tmp_path)]) == 2
        assert "--data says where the data sets are" in capsys.readouterr().err
