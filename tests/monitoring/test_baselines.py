"""Baselines as metrics, and the warning about a learner that is worse than one."""

import json
from random import Random

import pytest

from stream_rank.evaluation.standing import Standing
from stream_rank.monitoring.baseline_readings import BaselineReadings
from stream_rank.monitoring.catalogue import CATALOGUE
from stream_rank.runtime.constant_watch import ConstantWatch
from tests.pipeline.conftest import feed, loop_of


def ratings(count: int, grouped: bool, seed: int) -> list[bytes]:
    """Ratings that have nothing to do with their features, and much with their group."""
    generator, lines = Random(seed), []
    for _ in range(count):
        level = generator.randint(0, 3)
        event = {"x": {"a": generator.random()}, "y": level + generator.randint(1, 2)}
        lines.append(json.dumps(event | ({"group": level} if grouped else {})).encode())
    return lines


def test_counters_begin_with_the_process_and_gauges_are_of_the_run() -> None:
    loop = loop_of(["prank", "recursive-mprank"])
    feed(loop, ratings(500, False, 1), [100])
    readings = BaselineReadings(loop.scoreboard, True)
    first = readings.values()
    assert {f"stream_rank_{name}" for name in first} <= CATALOGUE.keys()
    places = {("median", "rank"), ("mean", "magnitude"), ("coin", "preference")}
    assert first["baseline_loss_total"] == dict.fromkeys(places, 0.0)
    assert first["baseline_loss"]["median", "rank"] == pytest.approx(1.0, rel=0.2)
    assert first["recent_baseline_loss"]["coin", "preference"] is None
    pair = b'{"preferred": {"a": 1}, "other": {"a": 2}}'
    feed(loop, [*ratings(1_000, True, 2), pair, pair], [100])
    then = readings.values()
    totals, terms = then["baseline_loss_total"], then["baseline_loss_terms_total"]
    assert terms["median", "rank"] == 1_000
    assert totals["coin", "preference"] == 1.0
    board = loop.scoreboard.boards["prank"].standing
    assert board.baseline == "group median"
    assert then["baseline_loss"]["group median", "rank"] == board.baseline_loss
    assert then["recent_baseline_loss"]["group median", "rank"] == board.recent_baseline_loss
    assert then["worse_than_constant"]["prank", "rank"] == 1.0
    assert first["worse_than_constant"]["prank", "rank"] == 0.0  # too few to say so
    for name, values in then.items():
        labels = CATALOGUE[f"stream_rank_{name}"].labels
        assert all(len(key) == len(labels) for key in values)


def test_it_is_said_once_and_again_after_it_was_better() -> None:
    watch = ConstantWatch()

    def told(recent: float, events: int = 2_000) -> int:
        standing = Standing("rank", events, 0.9, recent, "median", 1.2, 1.0)
        return len(watch.news([("prank", standing)]))

    assert told(1.5, events=900) == 0
    assert [told(loss) for loss in (1.5, 1.6, 0.99, 1.5, 0.8, 1.5, 1.5)] == [1, 0, 0, 0, 0, 1, 0]
