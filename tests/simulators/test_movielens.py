"""Films: a small world that is made here, and MovieLens where it is."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from simulators.__main__ import main
from simulators.movielens import one_person, recall, report
from simulators.movielens.contenders import CONTENDERS
from simulators.movielens.ratings import load
from tests.conftest import research_data

pytestmark = pytest.mark.long(15)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings as MovieLens writes them, out of order."""
    found, generator = tmp_path_factory.mktemp("films"), np.random.default_rng(3)
    tastes, films = generator.normal(size=(60, 3)), generator.normal(size=(200, 3))
    lines = []
    for when in range(4_000):
        u, i = int(60 * generator.random() ** 1.5), int(200 * generator.random() ** 1.5)
        score = tastes[u] @ films[i] + films[i, 0] + 0.5 + generator.logistic(0, 0.5)
        stars = 1 + int(np.searchsorted([-2.0, -0.7, 0.7, 2.0], score))
        lines.append(f"{u + 1}\t{i + 1}\t{stars}\t{880_000_000 + 60 * when}\n")
    generator.shuffle(lines)
    with gzip.open(found / "u.data.gz", "wt") as file:
        file.writelines(lines)
    marks = ["|".join("1" if films[i, 0] > g / 10 else "0" for g in range(19)) for i in range(200)]
    rows = (f"{i + 1}|Film {i}|01-Jan-1995||url|{marks[i]}\n" for i in range(200))
    (found / "u.item").write_text("".join(rows), "latin-1")
    return found


def test_one_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["movielens", "--data", str(folder)])
    printed = capsys.readouterr().out
    assert "4,000 ratings" in printed
    assert all(name in printed for name in CONTENDERS)
    assert "recall" in printed
    assert "PRank" not in printed  # nobody rated more than 300 films


def test_they_come_in_the_order_of_time_with_their_genres(folder: Path) -> None:
    ratings = load(folder)
    assert (np.diff(ratings.times) > 0).all()
    (first, *_) = ratings.events(features=True)
    assert first["genre"] == ratings.genres[first["item"]]
    assert len(ratings.part(10)) == 10


def test_ours_is_ahead(folder: Path) -> None:
    ratings = load(folder)
    found = {}
    for name in ("damped means of both", "River's BiasedMF", "OrdinalFactors"):
        forecast = CONTENDERS[name](ratings)
        assert forecast is not None
        found[name] = report.losses(forecast, ratings)
        if forecast.shares is not None:
            calibrated = report.calibration_by_rank(forecast, ratings)
            assert all(abs(expected - came) < 0.02 for _, expected, came in calibrated)
    ours = found.pop("OrdinalFactors")
    assert all(ours["rank loss"] < each["rank loss"] for each in found.values())


def test_candidates_hold_one_film_among_others_that_are_new_to_the_user(folder: Path) -> None:
    ratings = load(folder)
    asked = [each for each in recall.questions(ratings) if each.candidates]
    assert asked
    assert asked == [each for each in recall.questions(ratings) if each.candidates]
    assert asked != [each for each in recall.questions(ratings, seed=2) if each.candidates]
    rated: dict[int, set[int]] = {}
    for question in recall.questions(ratings):
        if question.candidates:
            assert question.candidates[0] == question.item
            assert len(set(question.candidates)) == 101
            assert not set(question.candidates[1:]) & rated.get(question.user, set())
        rated.setdefault(question.user, set()).add(question.item)
    also = [each for each in recall.questions(ratings, by_ratings=True) if each.candidates]
    assert all(len(set(each.candidates)) == 101 for each in also)
    times = np.bincount(ratings.items)
    often, alike = (
        np.mean([times[each.candidates[1:]].mean() for each in some]) for some in (also, asked)
    )
    assert often > alike
    found = recall.recalls(ratings)
    assert found["OrdinalFactors"].recall > 0.1  # by chance it is a tenth
    assert all(0 <= each.ndcg <= each.recall <= 1 for each in found.values())


def test_movielens() -> None:
    ratings = load(research_data("movielens-100k/u.data.gz").parent)
    forecast = CONTENDERS["OrdinalFactors"](ratings)
    assert forecast is not None
    found = report.losses(forecast, ratings)
    assert found["rank loss"] <= report.MOST_RANK_LOSS
    assert found["MAE"] <= report.MOST_ERROR
    assert found["log-loss"] <= report.MOST_LOG_LOSS
    people = one_person.losses(ratings, trials=12)
    assert people["OAP-BPM"][0] < report.MOST_SHARE * people["PRank"][0]
    told = CONTENDERS["OrdinalFactors, genres and time"](ratings)
    assert told is not None
    assert report.losses(told, ratings)["rank loss"] < found["rank loss"]


@pytest.mark.parametrize("text", ["1\t2\t0\t4\n", "1\t2\n", "a\tb\tc\td\n"])
def test_what_is_no_stream_of_ratings(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["movielens", "--data", str(tmp_path)]) == 2
    (tmp_path / "u.data").write_text(text)
    assert main(["movielens", "--data", str(tmp_path)]) == 2
    assert "u.data" in capsys.readouterr().err
