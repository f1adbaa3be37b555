"""Every metric, once: its name, its kind, what it means, and its labels."""

from typing import Literal, NamedTuple

__all__ = ["CATALOGUE", "Metric"]

Kind = Literal["counter", "gauge"]


class Metric(NamedTuple):
    """A metric as Prometheus knows it."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()


CATALOGUE = {
    metric.name: metric
    for metric in (
        Metric("stream_rank_records_total", "counter", "Records, by what became of them", ("outcome",)),
        Metric("stream_rank_predictions_scored_total", "counter", "Predictions whose labels came", ("learner",)),
        Metric("stream_rank_loss", "gauge", "Rank loss or magnitude loss of all predictions", ("learner",)),
        Metric("stream_rank_recent_loss", "gauge", "The same of the last predictions", ("learner",)),
        Metric("stream_rank_position", "gauge", "The offset that comes next", ("topic", "partition")),
        Metric("stream_rank_lag", "gauge", "Offsets between what comes next and the end", ("topic", "partition")),
        Metric("stream_rank_assigned_partitions", "gauge", "Partitions that are ours"),
        Metric("stream_rank_rebalances_total", "counter", "How often the group gave partitions or took them"),
        Metric("stream_rank_repeated_messages_total", "counter", "Messages that came again and were left out"),
        Metric("stream_rank_failures_total", "counter", "Tries that failed", ("what",)),
        Metric("stream_rank_client_warnings_total", "counter", "Warnings that Kafka's client logged"),
        Metric("stream_rank_snapshots_total", "counter", "Snapshots written"),
        Metric("stream_rank_snapshot_age_seconds", "gauge", "Seconds since the last snapshot was written"),
        Metric("stream_rank_snapshot_size_bytes", "gauge", "Size of the last snapshot"),
        Metric("stream_rank_snapshot_duration_seconds", "gauge", "How long writing it took"),
        Metric("stream_rank_tick_age_seconds", "gauge", "Seconds since the loop last turned"),
        Metric("stream_rank_ready", "gauge", "1 if restored and assigned, else 0"),
        Metric("stream_rank_resumed_after_records", "gauge", "Records that were behind the snapshot gone on from"),
        Metric("stream_rank_build_info", "gauge", "1, with the version", ("version",)),
    )
}  # fmt: skip
