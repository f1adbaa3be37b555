"""Metrics of a daemon that is stopped and goes on: counters as Prometheus wants them."""

from pathlib import Path
from random import Random

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.daemon.conftest import Daemon, Topic, wait_for

pytestmark = pytest.mark.long(22)

_LEARNED = (
    *("records", "rejects", "scored_predictions", "scored_preferences", "loss", "loss_terms"),
    *("confusion", "updates", "drifts"),
)


def metrics(daemon: Daemon) -> dict[str, float]:
    """The sums of all series of each name, and of a name and each kind of loss."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(daemon.get("/metrics")[1]):
        for sample in family.samples:
            names = [sample.name]
            if "loss" in sample.labels:
                names.append(f"{sample.name} {sample.labels['loss']}")
            for name in names:
                found[name] = found.get(name, 0.0) + sample.value
    return found


def once(daemon: Daemon, name: str, value: float | None = None) -> dict[str, float]:
    """All of them, once one is as it should be, or there is any of it; what only the loop may look at comes a second later."""

    def found() -> dict[str, float]:
        seen = metrics(daemon)
        good = seen.get(name, 0.0) > 0 if value is None else seen.get(name) == value
        return seen if good else {}

    good: dict[str, float] = wait_for(found)
    return good


def test_counters_begin_anew_with_the_process(topic: Topic, tmp_path: Path) -> None:
    """What goes on from 700 after having been at 1,000 would be 700 new events to Prometheus."""
    event = b'{"x": {"a": 1.5, "b": -0.5}, "y": %d}'
    learners = ["prank", "online-mprank"]
    topic.send([event % (i % 5 + 1) for i in range(1_000)])
    with Daemon(tmp_path, [topic.name], topic.address, learners=learners) as daemon:
        before = once(daemon, "stream_rank_scored_predictions_total", 2_000)
        assert before["stream_rank_records_total"] == 1_000
        assert before["stream_rank_confusion_total"] == 1_000  # of prank
        once(daemon, "stream_rank_updates_total")  # which is looked at less often
        assert before["stream_rank_resumed_after_records"] == 0
        assert daemon.end() == 0
    with Daemon(tmp_path, [topic.name], topic.address, learners=learners) as daemon:
        after = once(daemon, "stream_rank_ready", 1.0)
        assert after["stream_rank_run_records"] == 1_000
        assert after["stream_rank_resumed_after_records"] == 1_000
        for name in _LEARNED:
            assert after[f"stream_rank_{name}_total"] == 0, name
        topic.send([event % (i % 5 + 1) for i in range(500)])
        then = once(daemon, "stream_rank_scored_predictions_total", 1_000)
        assert then["stream_rank_records_total"] == 500
        assert then["stream_rank_confusion_total"] == 500
        assert then["stream_rank_run_records"] == 1_500
        assert then["stream_rank_latency_seconds_count"] >= 1


def test_preferences_are_counted_beside_ratings(topic: Topic, tmp_path: Path) -> None:
    """Their counters are there, at 0, before the first of them: else Prometheus would not see how they came to grow."""
    preference = b'{"preferred": {"a": %d.5, "b": -0.5}, "other": {"a": -1.5}, "magnitude": 2}'
    tie = b'{"preferred": {"a": 1}, "other": {"a": 1}, "tie": true}'
    learners = ["prank", "online-mprank"]
    with Daemon(tmp_path, [topic.name], topic.address, learners=learners) as daemon:
        before = once(daemon, "stream_rank_ready", 1.0)
        for name in ("loss", "loss_terms", "drifts"):
            assert before[f"stream_rank_{name}_total preference"] == 0, name
        for name in ("loss preference", "recent_loss preference", "preference_log_loss"):
            assert f"stream_rank_{name}" not in before, "there is no mean of nothing"
        topic.send([preference % (i % 7) for i in range(300)] + [tie] * 100)
        after = once(daemon, "stream_rank_scored_preferences_total", 800)
        assert after["stream_rank_loss_terms_total preference"] == 800
        assert 0 < after["stream_rank_loss_total preference"] < 400
        assert after["stream_rank_recent_loss preference"] == pytest.approx(
            after["stream_rank_loss preference"]
        )
        assert after["stream_rank_preference_log_loss"] > 0
        assert after["stream_rank_preference_brier_score"] > 0
        assert after["stream_rank_finite"] == 2
        assert after["stream_rank_scored_predictions_total"] == 0
        assert "stream_rank_loss rank" not in after
        assert "stream_rank_threshold" not in after, "all are where they began"
        topic.send([b'{"x": {"a": 1.5}, "y": 3}'] * 10)
        wait_for(lambda: "stream_rank_threshold" in metrics(daemon))


def test_a_learner_that_is_worse_than_a_constant_is_told_of_once(
    topic: Topic, tmp_path: Path
) -> None:
    generator, event = Random(1), b'{"x": {"price": %d}, "y": %d}'
    events = [event % (generator.randint(1, 9_999), generator.randint(1, 5)) for _ in range(1_500)]
    with Daemon(tmp_path, [topic.name], topic.address) as daemon:
        once(daemon, "stream_rank_ready", 1.0)
        topic.send(events)
        after = once(daemon, "stream_rank_worse_than_constant rank", 1.0)
        once(daemon, "stream_rank_scored_predictions_total", 1_500)
        assert (
            after["stream_rank_recent_loss rank"] > after["stream_rank_recent_baseline_loss rank"]
        )
        found = daemon.learned(1_500)["learners"]["prank"]
        assert found["worse_than_constant"]
        assert (found["baseline"], found["skill"] < 0) == ("median", True)
        words = "prank is worse than always answering the median"
        wait_for(lambda: daemon.said(words))
        lines = len(daemon.lines())
        wait_for(lambda: len(daemon.lines()) > lines + 2)
        assert daemon.log.count(words) == 1
        assert daemon.end() == 0
