"""Every metric, once: its name, its kind, what it means, and its labels. Dashboards and alerts know no other names."""

from typing import Literal, NamedTuple

__all__ = ["CATALOGUE", "PROCESS", "Metric"]

Kind = Literal["counter", "gauge", "histogram"]


class Metric(NamedTuple):
    """A metric as Prometheus knows it."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()


def _named(*metrics: Metric) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


CATALOGUE = _named(
    # what comes, and what becomes of it
    Metric("stream_rank_records_total", "counter", "Records, by what became of them", ("outcome",)),
    Metric("stream_rank_rejects_total", "counter", "Records that could not be learned from, by what was wrong", ("reason",)),
    Metric("stream_rank_dead_letters_total", "counter", "Rejects that were sent to the dead-letter topic"),
    Metric("stream_rank_predictions_total", "counter", "Predictions of requests that were sent"),
    Metric("stream_rank_repeated_messages_total", "counter", "Messages that came again and were left out"),
    Metric("stream_rank_run_records", "gauge", "Records of the run, those before its last start included"),
    Metric("stream_rank_features", "gauge", "Features that are known"),
    Metric("stream_rank_waiting_events", "gauge", "Events whose labels have not come"),
    # how good the rules are
    Metric("stream_rank_learner_info", "gauge", "1, with the role of a learner and the kind of its loss", ("learner", "role", "loss")),
    Metric("stream_rank_scored_predictions_total", "counter", "Predictions that were compared with labels", ("learner",)),
    Metric("stream_rank_loss_total", "counter", "Sum of the losses: ranks off, or squared errors of differences", ("learner", "loss")),
    Metric("stream_rank_loss_terms_total", "counter", "Terms of that sum: predictions, or pairs of them", ("learner", "loss")),
    Metric("stream_rank_loss", "gauge", "Mean loss of all predictions of the run", ("learner", "loss")),
    Metric("stream_rank_recent_loss", "gauge", "Mean loss of the last predictions, as many as the window has", ("learner", "loss")),
    Metric("stream_rank_confusion_total", "counter", "Predictions by the rank that came and the one that was predicted, of up to 20 ranks", ("learner", "rank", "predicted")),
    Metric("stream_rank_drifts_total", "counter", "How often the loss was found to have grown", ("learner",)),
    # the rules themselves
    Metric("stream_rank_updates_total", "counter", "Mistakes of members, each of which moved one", ("learner",)),
    Metric("stream_rank_disagreement", "gauge", "Share of the members that do not vote as most do, for the last ratings", ("learner",)),
    Metric("stream_rank_margin", "gauge", "Mean distance of scores from the nearest wrong rank, for the last ratings", ("learner",)),
    Metric("stream_rank_threshold", "gauge", "Thresholds between ranks, of up to 20 ranks", ("learner", "threshold")),
    Metric("stream_rank_weight_norm", "gauge", "Euclidean length of the weights", ("learner",)),
    Metric("stream_rank_finite", "gauge", "1 if all numbers of the rule and its loss are finite, else 0", ("learner",)),
    # where it stands
    Metric("stream_rank_position", "gauge", "The offset that comes next", ("topic", "partition")),
    Metric("stream_rank_lag", "gauge", "Offsets between what comes next and the end", ("topic", "partition")),
    Metric("stream_rank_assigned_partitions", "gauge", "Partitions that are ours"),
    Metric("stream_rank_rebalances_total", "counter", "How often the group gave partitions or took them"),
    Metric("stream_rank_latency_seconds", "histogram", "From a message's time to when it was learned, of each chunk's first"),
    # where the time goes
    Metric("stream_rank_stage_duration_seconds", "histogram", "Time of each stage, a chunk or a snapshot at a time", ("stage",)),
    Metric("stream_rank_learn_duration_seconds", "histogram", "Time of each learner, a chunk at a time", ("learner",)),
    Metric("stream_rank_chunk_records", "histogram", "Records learned at a time"),
    # snapshots
    Metric("stream_rank_snapshots_total", "counter", "Snapshots written"),
    Metric("stream_rank_snapshot_age_seconds", "gauge", "Time since the last snapshot was written, or since the start"),
    Metric("stream_rank_snapshot_interval_seconds", "gauge", "Time between snapshots that was asked for"),
    Metric("stream_rank_snapshot_size_bytes", "gauge", "Size of the last snapshot"),
    Metric("stream_rank_snapshot_duration_seconds", "gauge", "Time that writing it took"),
    Metric("stream_rank_unsaved_records", "gauge", "Records that no snapshot has"),
    # how it is
    Metric("stream_rank_failures_total", "counter", "Tries that failed and are made again", ("what",)),
    Metric("stream_rank_client_warnings_total", "counter", "Warnings that Kafka's client logged"),
    Metric("stream_rank_tick_age_seconds", "gauge", "Time since the loop last turned"),
    Metric("stream_rank_ready", "gauge", "1 if restored and assigned, else 0"),
    Metric("stream_rank_resumed_after_records", "gauge", "Records that were behind the snapshot gone on from"),
    Metric("stream_rank_build_info", "gauge", "1, with the version and Kafka's client", ("version", "client")),
)  # fmt: skip
"""Counters count from when the process began: what goes on from a snapshot would else look to Prometheus like a jump."""

PROCESS = _named(
    Metric("process_start_time_seconds", "gauge", "When the process began, in seconds since 1970"),
    Metric("process_cpu_seconds_total", "counter", "Processor time of the process"),
    Metric("process_resident_memory_bytes", "gauge", "Memory of the process"),
    Metric("process_virtual_memory_bytes", "gauge", "Address space of the process"),
    Metric("process_open_fds", "gauge", "Files that it has open"),
    Metric("process_max_fds", "gauge", "Files that it may have open"),
)
"""What the Prometheus client's own collector adds."""
