"""What Prometheus is told of a query: names of the catalogue, and no counter that falls."""

import re
from pathlib import Path

import pytest

from stream_rank.config.spark import ShardConfig
from stream_rank.monitoring.catalogue import CATALOGUE
from stream_rank.monitoring.exporter import Exporter
from stream_rank.spark.progress import Progress, losses_of

TOLD = {
    "durationMs": {"triggerExecution": 1500},
    "sources": [
        {
            "endOffset": '{"ratings":{"0":40,"1":2}}',
            "latestOffset": {"ratings": {"0": 50, "1": 2}},
        }
    ],
}
SUMS = {
    "records": 42,
    "learned": 40,
    "rejected": 2,
    "rejects_label": 2,
    "loss_0": 10.0,
    "terms_0": 40,
}


def test_a_query_is_told_by_the_names_of_the_catalogue() -> None:
    progress = Progress({"prank": "rank"}, 10.0)
    assert b"stream_rank_ready 0.0" in Exporter(progress.readings).text()
    progress.triggered(TOLD, SUMS)
    progress.triggered({}, dict.fromkeys(SUMS))  # nothing came
    progress.idle()
    text = Exporter(progress.readings).text().decode()
    for line in (
        'stream_rank_records_total{outcome="learned"} 40.0',
        'stream_rank_rejects_total{reason="label"} 2.0',
        'stream_rank_lag{partition="0",topic="ratings"} 10.0',
        'stream_rank_position{partition="1",topic="ratings"} 2.0',
        'stream_rank_recent_loss{learner="prank",loss="rank"} 0.25',
        'stream_rank_learner_info{learner="prank",loss="rank",role="champion"} 1.0',
        "stream_rank_snapshots_total 2.0",
        "stream_rank_ready 1.0",
    ):
        assert line in text, line
    progress.failed()
    assert b"stream_rank_ready 0.0" in Exporter(progress.readings).text()


@pytest.mark.parametrize("told", [None, "", "{", {"ratings": 7}, '{"a": {"b": "c"}}'])
def test_offsets_that_are_none_are_not_told(told: object) -> None:
    progress = Progress({}, 10.0)
    progress.triggered({"sources": [{"endOffset": told, "latestOffset": told}]}, {})
    assert progress.readings()["stream_rank_position"] == {}


def test_learners_are_named_with_the_kind_of_their_loss() -> None:
    config = ShardConfig.model_validate(
        {"learners": ["raw | prank", "raw | recursive-mprank"], "n_ranks": 5}
    )
    assert losses_of(config) == {"raw | prank": "rank", "raw | recursive-mprank": "magnitude"}


def test_the_fleet_dashboard_finds_what_it_asks_for() -> None:
    """But for drifts, which the shards detect and keep."""
    (fleet,) = Path("dashboards/grafana").rglob("fleet.json")
    asked = set(re.findall(r"(?<![\w:])stream_rank_\w+", fleet.read_text()))
    known = set(Progress({"prank": "rank"}, 10.0).readings())
    assert asked - known == {"stream_rank_drifts_total"}
    assert known <= CATALOGUE.keys()
