"""Jester's rows of the magnitude-preserving paper's tables, with fewer trials and users than the command."""

from pathlib import Path

import numpy as np
import pytest

from simulators.__main__ import main
from simulators.jester import (
    METRICS,
    Group,
    Ratings,
    groups,
    load,
    measure,
    report,
    scores,
    split,
    tune,
)
from stream_rank import M1D, MSD, Misranking
from tests.conftest import research_data

JESTER = "jester/jester-data-1.csv.gz"


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return load(research_data(JESTER))


def invented(folder: Path) -> Path:
    """Users whose tastes are three, with few ratings and with many, in the form of the file."""
    generator = np.random.default_rng(0)
    tastes = generator.normal(size=(3, 100)) * 4
    lines = []
    for user in range(1500):
        wanted = generator.integers(20, 100)
        rated = generator.permutation(100)[:wanted]
        row = np.full(100, 99.0)
        values = tastes[user % 3][rated] + generator.normal(0, 2, wanted)
        row[rated] = np.round(np.clip(values, -10, 10), 2)
        lines.append(",".join(map(str, [wanted, *row])))
    file = folder / "jokes.csv"
    file.write_text("\n".join(lines))
    return file


def test_the_protocol_on_invented_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = invented(tmp_path)
    assert report(load(file), trials=1, users=6) == 0
    shown = capsys.readouterr().out
    for group in groups():
        for way in ("on-line", "one pass", "batch"):
            assert any(
                line.startswith(group.name) and way in line for line in shown.splitlines()
            ), shown
    ratings, group = load(file), next(groups())
    user = int(np.flatnonzero(ratings.counts >= 50)[0])
    jokes = split(ratings, group, user, np.random.default_rng(1))
    again = split(ratings, group, user, np.random.default_rng(1))
    assert (jokes.X == again.X).all()
    assert jokes.X.shape[1] == jokes.others.shape[1] == 300
    both = sorted([*jokes.y, *jokes.other_y])
    assert both == sorted(ratings.given[user][~np.isnan(ratings.given[user])])
    assert abs(len(jokes.y) - len(jokes.other_y)) <= 1
    assert not np.isnan(jokes.X).any()
    on_line, batch = (scores(jokes, 100.0, 100.0, way) for way in ("on-line", "batch"))
    assert on_line - on_line.mean() == pytest.approx(batch - batch.mean(), abs=0.5)


def test_a_file_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "other.csv"
    for content in ("not,a,file\n", "3,1.0,2.0,3.0\n", ""):
        file.write_text(content)
        assert main(["jester", "--data", str(file)]) == 2
        assert "other.csv, line" in (told := capsys.readouterr().err)
        assert "a count and then 100 ratings" in told


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jester", "--data", "nowhere.csv"]) == 2
    assert "nowhere.csv cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "group", [group for group in groups() if group.required], ids=lambda g: g.name
)
def test_the_papers_figures_are_reached(ratings: Ratings, group: Group) -> None:
    assert (MSD, M1D, Misranking) == METRICS
    setting = tune(ratings, group, 20, seed=10_000)
    generator = np.random.default_rng(0)
    users = generator.choice(np.flatnonzero(ratings.counts >= 50), 120, replace=False)
    found = measure(ratings, group, users, setting, ("on-line", "batch"), generator)
    assert group.required is not None
    assert (found[0] <= group.required).all(), found
    assert found[0] == pytest.approx(found[1], rel=0.02)
