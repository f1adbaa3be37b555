"""Forecasts are made before a match is learned, and know nothing of its outcome."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from simulators.football import learner
from simulators.football.davidson import follow
from simulators.football.forecasts import Forecasts
from simulators.football.matches import Matches, log_loss, misordered
from simulators.football.peers import elo, glicko, weng_lin
from stream_rank import RecursiveMPRank

Array = npt.NDArray[Any]
SETTING = learner.Setting(0.999, 0.1)


class Player:
    """glicko2's class in so far as it is used, with Elo's rule; it keeps what it was given."""

    def __init__(self) -> None:
        self.rating, self.rd = 1500.0, 350.0
        self.seen: list[tuple[float, float, float]] = []

    def update_player(self, ratings: list[float], rds: list[float], scores: list[float]) -> None:
        self.seen.append((ratings[0], rds[0], scores[0]))
        self.rating += 30 * (scores[0] - 1 / (1 + 10 ** ((ratings[0] - self.rating) / 400)))
        self.rd = max(50.0, self.rd * 0.95)


class PlackettLuce:
    """openskill's class in so far as it is used, with a perceptron's rule."""

    def rating(self, mu: float = 25.0) -> SimpleNamespace:
        return SimpleNamespace(mu=mu)

    def predict_win(self, sides: list[list[SimpleNamespace]]) -> list[float]:
        chance = 1 / (1 + np.exp(sides[1][0].mu - sides[0][0].mu))
        return [chance, 1 - chance]

    def predict_draw(self, sides: list[list[SimpleNamespace]]) -> float:
        return 0.25

    def rate(
        self, sides: list[list[SimpleNamespace]], scores: list[float]
    ) -> list[list[SimpleNamespace]]:
        lead = sum(one.mu for one in sides[0]) - sum(one.mu for one in sides[1])
        move = 0.1 * (np.sign(scores[0] - scores[1]) - np.tanh(lead))
        return [
            [SimpleNamespace(mu=one.mu + sign * move) for one in side]
            for sign, side in zip((1, -1), sides, strict=True)
        ]


class Elo:
    """penaltyblog's class in so far as it is used."""

    def __init__(self, k: float, home_field_advantage: float) -> None:
        self.k, self.hfa = k, home_field_advantage
        self.ratings: dict[int, float] = {}

    def get_team_rating(self, team: int) -> float:
        return self.ratings.get(team, 1500.0)

    def _expected(self, home: int, away: int) -> float:
        lead = self.get_team_rating(home) - self.get_team_rating(away) + self.hfa
        return float(1 / (1 + 10 ** (-lead / 400)))

    def calculate_match_probabilities(self, home: int, away: int) -> dict[str, float]:
        won = self._expected(home, away)
        return {"home_win": won * 0.7, "draw": 0.3, "away_win": (1 - won) * 0.7}

    def update_ratings(self, home: int, away: int, result: int) -> None:
        move = self.k * (1 - result / 2 - self._expected(home, away))
        self.ratings[home] = self.get_team_rating(home) + move
        self.ratings[away] = self.get_team_rating(away) - move


GLICKO = cast("ModuleType", SimpleNamespace(Player=Player))
OPENSKILL = cast("ModuleType", SimpleNamespace(models=SimpleNamespace(PlackettLuce=PlackettLuce)))
PENALTYBLOG = cast("ModuleType", SimpleNamespace(ratings=SimpleNamespace(Elo=Elo)))

EVERYBODY: dict[str, Callable[[Matches], Forecasts]] = {
    "learner": lambda matches: learner.forecasts(matches, SETTING, goals=False),
    "learner by goals": lambda matches: learner.forecasts(matches, SETTING, goals=True),
    "elo": lambda matches: elo.by_library(PENALTYBLOG, matches, elo.Setting(30, 80), goals=True),
    "glicko": lambda matches: glicko.forecasts(GLICKO, matches),
    "glicko at home": lambda matches: glicko.forecasts(GLICKO, matches, 60.0),
    "weng-lin": lambda matches: weng_lin.forecasts(OPENSKILL, matches),
    "weng-lin at home": lambda matches: weng_lin.forecasts(OPENSKILL, matches, ground=True),
}


@pytest.mark.parametrize("name", EVERYBODY)
def test_a_match_is_foretold_from_those_before_it(name: str, league: Matches) -> None:
    """Another result of the last match changes nothing that was said, and of an earlier one only what comes after."""
    some = league.until(600)
    said = EVERYBODY[name](some)
    for row in (599, 300):
        for result in (-3.0, 0.0, 3.0):
            margin = some.margin.copy()
            margin[row:] = result
            again = EVERYBODY[name](replace(some, margin=margin))
            assert again.leads[: row + 1] == pytest.approx(said.leads[: row + 1], abs=1e-9)
            assert again.chances[: row + 1] == pytest.approx(said.chances[: row + 1], abs=1e-9)
            if said.own is not None:
                assert again.own is not None
                assert again.own[: row + 1] == pytest.approx(said.own[: row + 1], abs=1e-9)


@pytest.mark.parametrize("name", EVERYBODY)
def test_strengths_are_learned(name: str, league: Matches) -> None:
    said, part = EVERYBODY[name](league), league.last_half
    assert misordered(league, said.leads, part) < 0.36
    frequencies = [(league.outcome[: part.start] == outcome).mean() for outcome in (1, 0, -1)]
    constant = np.tile(frequencies, (len(league), 1))
    assert log_loss(league, said.chances, part) < log_loss(league, constant, part) - 0.03
    for chances in (said.chances, said.own):
        if chances is not None:
            drawn = int(np.flatnonzero(league.outcome == 0)[0])  # nobody knows of draws before
            assert (chances >= 0).all()
            assert (chances[drawn + 1 :] > 0).all()
            assert chances.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("name", EVERYBODY)
def test_on_no_ones_ground_the_sides_may_be_exchanged(name: str, league: Matches) -> None:
    nowhere = league.until(300)
    nowhere = replace(nowhere, neutral=np.ones(300, dtype=bool))
    exchanged = replace(nowhere, home=nowhere.away, away=nowhere.home, margin=-nowhere.margin)
    said, again = EVERYBODY[name](nowhere), EVERYBODY[name](exchanged)
    assert again.leads == pytest.approx(-said.leads, abs=1e-6)
    assert again.chances == pytest.approx(said.chances[:, ::-1], abs=1e-6)


@pytest.mark.parametrize(
    "name", ["learner", "learner by goals", "elo", "glicko at home", "weng-lin at home"]
)
def test_being_at_home_counts_where_it_is_somebodys_ground(name: str, league: Matches) -> None:
    leads = EVERYBODY[name](league).leads[league.last_half]
    neutral = league.neutral[league.last_half]
    unit = np.abs(leads).mean()
    assert leads[~neutral].mean() > leads[neutral].mean() + 0.15 * unit


@pytest.mark.parametrize("goals", [False, True])
def test_the_learner_is_asked_and_then_taught_match_by_match(league: Matches, goals: bool) -> None:
    some = league.until(300)
    model = RecursiveMPRank(forgetting=SETTING.forgetting, regularization=SETTING.regularization)
    leads = []
    for row in range(len(some)):
        home = {int(some.home[row]): 1.0}
        if not some.neutral[row]:
            home[len(some.teams)] = 1.0
        away = {int(some.away[row]): 1.0}
        leads.append(model.utility_one(home) - model.utility_one(away))
        margin = some.margin[row]
        sides = (home, away) if margin >= 0 else (away, home)
        model.learn_pair(*sides, magnitude=abs(margin) if goals else float(margin != 0))
    assert learner.forecasts(some, SETTING, goals).leads.tolist() == leads


def test_the_learners_setting_is_the_best_before_the_last_half(
    league: Matches, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [learner.Setting(0.999, 0.1), learner.Setting(0.9, 0.1), learner.Setting(0.999, 1000.0)]
    monkeypatch.setattr(learner, "settings", lambda: few)
    chosen = learner.choose(league, goals=True)
    losses = {
        each: log_loss(league, learner.forecasts(league, each, True).chances, league.tuning)
        for each in few
    }
    assert chosen == min(losses, key=losses.__getitem__) == few[0]
    late = league.margin.copy()
    late[league.last_half] *= -1
    assert learner.choose(replace(league, margin=late), goals=True) == chosen


@pytest.mark.parametrize("goals", [False, True])
def test_elo_is_the_librarys(league: Matches, goals: bool) -> None:
    setting = elo.Setting(40, 60)
    said = elo.by_library(PENALTYBLOG, league, setting, goals)
    assert elo.forecasts(league, setting, goals) == pytest.approx(said.leads, abs=1e-6)
    chosen = elo.choose(league, goals)
    best = misordered(league, elo.forecasts(league, chosen, goals), league.last_half)
    assert best <= misordered(league, said.leads, league.last_half) + 1e-9


def test_far_wins_count_more_by_goals() -> None:
    one = np.zeros(5, dtype=np.int64)
    matches = Matches(("a", "b"), one, one, one + 1, np.array([0.0, 1, 2, -3, 5]), one == 0)
    assert elo._weights(matches, goals=True) == [1, 1, 1.5, 1.75, 2]
    assert elo._weights(matches, goals=False) == [1] * 5


def test_glicko_learns_both_sides_from_what_they_were(league: Matches) -> None:
    players: list[Player] = []

    def player() -> Player:
        players.append(Player())
        return players[-1]

    matches = replace(league.until(1), neutral=np.array([False]))
    glicko.forecasts(cast("ModuleType", SimpleNamespace(Player=player)), matches, home=100.0)
    score = (matches.outcome[0] + 1) / 2
    assert players[matches.home[0]].seen == [(1400.0, 350.0, score)]
    assert players[matches.away[0]].seen == [(1600.0, 350.0, 1 - score)]


@pytest.mark.parametrize(("slope", "width"), [(1.0, 0.5), (3.0, 2.0)])
def test_davidsons_chances_come_near_those_that_made_the_outcomes(
    slope: float, width: float
) -> None:
    generator = np.random.default_rng(2)
    leads = generator.normal(size=20_000)
    weights = np.column_stack(
        [np.exp(slope * leads / 2), np.full(20_000, width), np.exp(-slope * leads / 2)]
    )
    true = weights / weights.sum(axis=1)[:, None]
    drawn = (generator.random(20_000)[:, None] > true.cumsum(axis=1)).sum(axis=1)
    chances = follow(leads * 250, 1 - drawn)
    assert np.abs(chances - true)[2000:].mean() < 0.02
    assert follow(leads * 1e-3, 1 - drawn) == pytest.approx(chances, abs=1e-9)


def test_davidsons_chances_bear_leads_that_are_far_out() -> None:
    leads = np.array([0.0, 0.0, 1e-300, 1e12, -1e12, 5.0])
    chances = follow(leads, np.array([0, 1, -1, -1, 1, 0]))
    assert np.isfinite(chances).all()
    assert chances.sum(axis=1) == pytest.approx(1)
