"""Prediction sets of a run: what the estimator's are, however the stream is cut, and after a start."""

import json
from typing import Any

import numpy as np
import pytest

from stream_rank import Hedge, OrdinalLogit, PRank, PredictionSets, Scale
from stream_rank.evaluation.set_board import SetBoard
from stream_rank.learners.base.state import digest_of
from tests.pipeline.conftest import feed, loop_of, mixed

SPECS = ["ordinal-logit", "scale | hedge(ordinal-logit, prank)", "prank"]


def test_sets_of_a_run_are_those_of_the_estimator() -> None:
    lines = [line for line in mixed(500, seed=3) if b'"y"' in line and b'"x": {"' in line]
    lines = [line for line in lines if json.loads(line)["y"] != 9]
    loop = loop_of(SPECS)
    feed(loop, lines, [90])
    committee = Hedge([Scale() | OrdinalLogit(5), Scale() | PRank(5)])
    boards: Any = loop.scoreboard.boards
    assert boards["prank"].sets is None
    assert "coverage" not in boards["prank"].summary()
    for name, learner in zip(SPECS, (OrdinalLogit(5), committee), strict=False):
        model, sizes = PredictionSets(learner), []
        for line in lines:
            event = json.loads(line)
            sizes.append(len(model.predict_set_one(event["x"])))
            model.learn_one(event["x"], event["y"])
        found = boards[name].summary()
        assert found["coverage"] == model.covered
        assert found["set_size"] == sum(sizes) / len(lines)
        assert found["recent_set_size"] == pytest.approx(np.mean(sizes[-50:]))
        assert boards[name].arrays()["set_sums"][0] == model.level


@pytest.mark.parametrize("delay", [0, 10])
def test_cuts_and_starts_make_no_difference(delay: int) -> None:
    lines, found = mixed(400), []
    for sizes in ([400], [1], [3, 1, 64, 7]):
        loop = loop_of(SPECS, delay)
        feed(loop, lines, sizes)
        found.append(digest_of(*loop.scoreboard.dump()))
    assert found[0] == found[1] == found[2]
    state = loop.scoreboard.dump()
    board: Any = loop.scoreboard.boards["ordinal-logit"]
    late = loop.progress.counts.labels
    assert board.sets.events == board.events - late  # of late labels nothing is kept
    assert bool(late) == bool(delay)
    other = loop_of(SPECS, delay)
    other.scoreboard.load(state)
    assert digest_of({}, other.scoreboard.dump().arrays) == digest_of({}, state.arrays)


def test_many_ranks_are_given_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, found = mixed(300), []
    for most in (1 << 19, 16):
        monkeypatch.setattr("stream_rank.pipeline.loop._MOST_SHARES", most)
        loop = loop_of(SPECS, 10)
        feed(loop, lines, [300])
        found.append(digest_of(*loop.scoreboard.dump()))
    assert found[0] == found[1]


def test_sets_that_no_events_lead_to_are_refused() -> None:
    board = SetBoard(10)
    board.count(np.full((30, 3), 1 / 3), np.ones(30))
    good = board.arrays()
    for place, number in ((0, 2.1), (1, 0.5), (2, 31.0)):
        bad = {name: array.copy() for name, array in good.items()}
        bad["set_sums"][place] = number
        with pytest.raises(ValueError, match="sets"):
            SetBoard(10).restore(bad)
    with pytest.raises(ValueError, match="another size"):
        SetBoard(9).restore(good)
    SetBoard(10).restore(good)
