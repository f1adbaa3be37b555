"""Jester's rows of the magnitude-preserving paper's tables, with fewer trials and users than the command."""

from pathlib import Path

import numpy as np
import pytest

from simulators import jester
from simulators.__main__ import main
from simulators.jester import WAYS, groups, load, report
from simulators.mp_tables import errors, scores, tune
from simulators.people import Group, Ratings, split
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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(way._replace(settings=way.settings[:1]) for way in WAYS)
    monkeypatch.setattr(jester, "WAYS", few)
    file = invented(tmp_path)
    assert report(load(file), trials=1, users=6) == 0
    shown = capsys.readouterr().out
    for group in groups():
        for way in WAYS:
            assert f"{group.name:7}{way.name:11}" in shown
    assert "NOT within what is asked" not in shown
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
    on_line, batch = (scores(jokes, way, (100.0, 100.0)) for way in ("on-line", "batch"))
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
    people = np.random.default_rng(0).choice(jester.testers(ratings), 140, replace=False)
    generator = np.random.default_rng(0)
    splits = [split(ratings, group, user, generator) for user in people]
    setting = tune(splits[:20], WAYS[0])
    found = [errors(each, "on-line", setting) for each in splits[20:]]
    few = splits[20:50]
    batch = np.mean([errors(each, "batch", setting) for each in few], axis=0)
    boosted = np.mean([errors(each, "RankBoost", (30.0,)) for each in few], axis=0)
    ours, theirs = np.mean(found, axis=0), np.mean(found[: len(few)], axis=0)
    assert group.required is not None
    assert (ours <= group.required).all(), ours
    assert theirs == pytest.approx(batch, rel=0.02)
    assert (theirs[:2] < boosted[:2]).all()
