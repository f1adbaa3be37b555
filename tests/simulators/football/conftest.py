"""A league of sixteen teams, with strengths that nobody is told."""

import gzip
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from simulators.football.matches import Matches, load

HEAD = "date,home_team,away_team,home_score,away_score,tournament,neutral"
LATER = ["2031-01-01,Team 1,Team 2,NA,NA,Cup,TRUE", "2031-01-02,Team 3,Team 2,NA,NA,Cup,FALSE"]


def lines(n_matches: int, seed: int = 1) -> list[str]:
    """The lines of a file, in no order of date."""
    generator = np.random.default_rng(seed)
    strengths = generator.normal(size=16)
    found = []
    for number in range(n_matches):
        home, away = generator.choice(16, 2, replace=False)
        neutral = generator.random() < 0.25
        ahead = strengths[home] - strengths[away] + (0.0 if neutral else 0.35)
        goals = generator.poisson(1.3 * np.exp([ahead / 2, -ahead / 2]))
        day = date(1990, 1, 1) + timedelta(days=number)
        sides = f"Team {home},Team {away},{goals[0]},{goals[1]}"
        found.append(f"{day},{sides},Cup,{str(neutral).upper()}")
    return [*generator.permutation(found).tolist(), *LATER]


@pytest.fixture(scope="session")
def league_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("league") / "results.csv.gz"
    file.write_bytes(gzip.compress("\n".join([HEAD, *lines(1600)]).encode()))
    return file


@pytest.fixture(scope="session")
def league(league_file: Path) -> Matches:
    return load(league_file)
