"""From readings to what Prometheus reads."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from stream_rank.monitoring.exporter import Exporter
from stream_rank.pipeline.histogram import Histogram


def test_readings_become_lines() -> None:
    times = Histogram([0.1, 1.0])
    for seconds in (0.05, 0.5, 0.7, 9.0):
        times.add(seconds)
    text = Exporter(
        lambda: {
            "stream_rank_records_total": {("learned",): 7, ("rejected",): 0},
            "stream_rank_loss": {("prank", "rank"): 0.25, ("bpm", "rank"): None},
            "stream_rank_latency_seconds": {(): times},
        }
    ).text()
    said = {family.name: family for family in text_string_to_metric_families(text.decode())}
    assert {tuple(s.labels.items()): s.value for s in said["stream_rank_records"].samples} == {
        (("outcome", "learned"),): 7.0,
        (("outcome", "rejected"),): 0.0,
    }
    assert [s.labels["learner"] for s in said["stream_rank_loss"].samples] == ["prank"]
    found = {
        (s.name, s.labels.get("le")): s.value for s in said["stream_rank_latency_seconds"].samples
    }
    assert found == {
        ("stream_rank_latency_seconds_bucket", "0.1"): 1.0,
        ("stream_rank_latency_seconds_bucket", "1"): 3.0,
        ("stream_rank_latency_seconds_bucket", "+Inf"): 4.0,
        ("stream_rank_latency_seconds_count", None): 4.0,
        ("stream_rank_latency_seconds_sum", None): pytest.approx(10.25),
    }


def test_a_name_that_is_not_in_the_catalogue_is_an_error() -> None:
    with pytest.raises(KeyError, match="stream_rank_recrods_total"):
        Exporter(lambda: {"stream_rank_recrods_total": {(): 1.0}}).text()
