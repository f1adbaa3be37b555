"""Reading matches, and scoring forecasts of them."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from simulators.__main__ import main
from simulators.football.matches import Matches, load, log_loss, misordered
from tests.simulators.football.conftest import HEAD, LATER, lines

MATCH = "1990-01-01,A,B,1,0,Cup,FALSE"


def test_matches_come_by_date_and_those_to_come_are_counted(league: Matches) -> None:
    assert len(league) == 1600
    assert league.unplayed == len(LATER)
    assert (np.diff(league.days) == np.timedelta64(1, "D")).all()
    assert len(league.teams) == 16
    assert 0.1 < (league.outcome == 0).mean() < 0.4
    assert 0.2 < league.neutral.mean() < 0.3
    first = min(lines(1600)).split(",")
    assert [league.teams[league.home[0]], league.teams[league.away[0]]] == first[1:3]
    assert league.margin[0] == int(first[3]) - int(first[4])


def test_matches_of_a_day_stay_in_the_files_order(tmp_path: Path) -> None:
    file = tmp_path / "day.csv"
    days = [f"1990-01-01,T{i},U{i},1,0,Cup,FALSE" for i in range(9)]
    file.write_text("\n".join([HEAD, *days]))
    matches = load(file)
    assert [matches.teams[team] for team in matches.home] == [f"T{i}" for i in range(9)]


def test_parameters_are_chosen_on_none_that_learners_are_compared_on(league: Matches) -> None:
    assert league.tuning.stop == league.last_half.start == 800
    assert league.last_half.stop == len(league)
    known = league.until(league.tuning.stop)
    assert len(known) == 800
    assert known.teams == league.teams
    assert (known.margin == league.margin[:800]).all()


def test_losses_are_what_they_say_one_by_one(league: Matches) -> None:
    generator = np.random.default_rng(1)
    leads = np.round(generator.normal(size=len(league)), 1)
    chances = generator.dirichlet([2, 1, 1], size=len(league))
    wrong = decided = 0.0
    surprise = 0.0
    for row in range(800, 1600):
        outcome, lead = league.outcome[row], leads[row]
        surprise -= np.log(chances[row][{1: 0, 0: 1, -1: 2}[outcome]])
        if outcome:
            decided += 1
            wrong += 0.5 if lead == 0 else float((lead > 0) != (outcome > 0))
    assert misordered(league, leads, league.last_half) == pytest.approx(wrong / decided)
    assert log_loss(league, chances, league.last_half) == pytest.approx(surprise / 800)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there is no column date, home_team, away_team, home_score, away_score, neutral"),
        (HEAD.replace("neutral", "place"), "there is no column neutral; date, home_team,"),
        (f"{HEAD}\n{MATCH.replace('1,0', '1,')}", "line 2: away_score is ''; a whole number or NA"),
        (f"{HEAD}\n{MATCH}\n{MATCH.replace('1,0', '-1,0')}", "line 3: home_score is '-1'"),
        (f"{HEAD}\n{MATCH.replace('FALSE', '')}", "line 2: neutral is ''; TRUE or FALSE"),
        (f"{HEAD}\n{MATCH.replace('1990-01-01', '1.1.90')}", "line 2: date is '1.1.90'; a day"),
        (f"{HEAD}\n1990-01-01,A", "line 2: home_score is ''"),
        (f"{HEAD}\n{LATER[0]}", "there are not enough matches that somebody won"),
        (f'{HEAD}\n"1990-01-01', "is not a file of matches"),
        (b"\xff\xfe\x00", "is not a file of matches"),
    ],
)
def test_another_file_is_refused_with_what_is_wrong(
    content: str | bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["football", "--data", str(file)]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("other.csv is not a file of matches: ")
    assert message in shown


@pytest.mark.parametrize(
    "content", [b"date,home", gzip.compress(b"date" * 999)[:-9]], ids=["plain", "cut off"]
)
def test_a_file_that_cannot_be_unpacked(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.csv.gz"
    file.write_bytes(content)
    assert main(["football", "--data", str(file)]) == 2
    assert "it cannot be unpacked" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["football", "--data", "nowhere.csv"]) == 2
    assert "nowhere.csv is not a file of matches" in capsys.readouterr().err
