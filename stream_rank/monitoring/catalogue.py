"""The catalogue of metrics: name, type, help and labels. Dashboards and alerts use only these."""

from typing import Literal, NamedTuple

__all__ = ["CATALOGUE", "PROCESS", "Metric"]

Kind = Literal["counter", "gauge", "histogram"]


class Metric(NamedTuple):
    """A metric of Prometheus."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()


def _named(*metrics: Metric) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


CATALOGUE = _named(
    # records
    Metric("stream_rank_records_total", "counter", "Records, by outcome", ("outcome",)),
    Metric("stream_rank_rejects_total", "counter", "Rejected records, by reason", ("reason",)),
    Metric("stream_rank_dead_letters_total", "counter", "Rejects sent to the dead-letter topic"),
    Metric("stream_rank_predictions_total", "counter", "Predictions of requests sent to the predictions topic"),
    Metric("stream_rank_repeated_messages_total", "counter", "Redelivered messages, which were skipped"),
    Metric("stream_rank_passed_messages_total", "counter", "Messages that were passed over, since the setting `skip` names them"),
    Metric("stream_rank_run_records", "gauge", "Records of the run, including those before the last start"),
    Metric("stream_rank_features", "gauge", "Known features"),
    Metric("stream_rank_dropped_features_total", "counter", "Features left out of learned events, since they were not let in (`max_features`, `max_new_features`, `min_count`)"),
    Metric("stream_rank_expired_features_total", "counter", "Features that gave their place to others, since they came no more (`expire_after`)"),
    Metric("stream_rank_waiting_events", "gauge", "Events that wait for a label"),
    # losses
    Metric("stream_rank_learner_info", "gauge", "1, with the role of a learner and the kind of its loss", ("learner", "role", "loss")),
    Metric("stream_rank_scored_predictions_total", "counter", "Predictions that were compared with labels", ("learner",)),
    Metric("stream_rank_scored_preferences_total", "counter", "Preferences that were predicted before they were learned", ("learner",)),
    Metric("stream_rank_loss_total", "counter", "Sum of the losses: ranks off, squared errors of differences, or preferences in the wrong order", ("learner", "loss")),
    Metric("stream_rank_loss_terms_total", "counter", "Terms of that sum: predictions, pairs of them, or preferences", ("learner", "loss")),
    Metric("stream_rank_loss", "gauge", "Mean loss of all predictions of the run", ("learner", "loss")),
    Metric("stream_rank_recent_loss", "gauge", "Mean loss of the last predictions, over the window", ("learner", "loss")),
    Metric("stream_rank_baseline_loss_total", "counter", "Sum of what always the same answer would have lost, as stream_rank_loss_total", ("baseline", "loss")),
    Metric("stream_rank_baseline_loss_terms_total", "counter", "Terms of that sum: predictions, pairs of them, or preferences", ("baseline", "loss")),
    Metric("stream_rank_baseline_loss", "gauge", "Mean of what always the same answer would have lost, over the run", ("baseline", "loss")),
    Metric("stream_rank_recent_baseline_loss", "gauge", "The same of the last predictions, over the window", ("baseline", "loss")),
    Metric("stream_rank_worse_than_constant", "gauge", "1 if the best baseline had less loss over the window, and after 1,000 predictions, else 0", ("learner", "loss")),
    Metric("stream_rank_preference_log_loss", "gauge", "Mean log-loss of the last preferences, over the window", ("learner",)),
    Metric("stream_rank_preference_brier_score", "gauge", "Mean Brier score of the last preferences, over the window", ("learner",)),
    Metric("stream_rank_coverage", "gauge", "Share of the last labels within the prediction sets, over the window: 0.9 is asked for", ("learner",)),
    Metric("stream_rank_set_size", "gauge", "Mean number of ranks in the last prediction sets, over the window", ("learner",)),
    Metric("stream_rank_rank_loss_by_group", "gauge", "Mean over groups, such as users, of each one's mean rank loss, over the run", ("learner",)),
    Metric("stream_rank_recall_at_10", "gauge", "Share of the likes that were asked about, over the run, whose item was among the first ten of 101", ("learner", "by")),
    Metric("stream_rank_ndcg_at_10", "gauge", "Mean discounted gain of the same: 1 where the item came first, less further down, 0 beyond ten", ("learner", "by")),
    Metric("stream_rank_recall_questions", "gauge", "Likes that were asked about, over the run: one in 32", ("learner",)),
    Metric("stream_rank_confusion_total", "counter", "Predictions by true and predicted rank, for up to 20 ranks", ("learner", "rank", "predicted")),
    Metric("stream_rank_drifts_total", "counter", "Detected drifts: significant increases of the loss", ("learner", "loss")),
    # learned rules
    Metric("stream_rank_updates_total", "counter", "Updates of members, one per mistake", ("learner",)),
    Metric("stream_rank_disagreement", "gauge", "Share of the members that disagree with the majority, for the last ratings", ("learner",)),
    Metric("stream_rank_margin", "gauge", "Mean distance of scores from the nearest wrong rank, for the last ratings", ("learner",)),
    Metric("stream_rank_threshold", "gauge", "Thresholds between ranks, for up to 20 ranks, once a rating was predicted", ("learner", "threshold")),
    Metric("stream_rank_weight_norm", "gauge", "Euclidean norm of the weights", ("learner",)),
    Metric("stream_rank_finite", "gauge", "1 if all numbers of the rule and its loss are finite, else 0", ("learner",)),
    # position
    Metric("stream_rank_position", "gauge", "The next offset", ("topic", "partition")),
    Metric("stream_rank_lag", "gauge", "Offsets between the next one and the end of the partition, as brokers last said", ("topic", "partition")),
    Metric("stream_rank_assigned_partitions", "gauge", "Assigned partitions"),
    Metric("stream_rank_missing_partitions", "gauge", "Partitions that other members of the consumer group have had for longer than the session timeout: they are not learned"),
    Metric("stream_rank_rebalances_total", "counter", "How often partitions were assigned or revoked"),
    Metric("stream_rank_record_age_seconds", "gauge", "Time since the last records were learned, or since the start"),
    Metric("stream_rank_usual_gap_seconds", "gauge", "Time that usually passes between two arrivals of records: nine tenths of the time lie in gaps no longer; 150 as long as fewer than ten are known"),
    Metric("stream_rank_latency_seconds", "histogram", "From the timestamp of a chunk's first message until the chunk was learned"),
    # durations
    Metric("stream_rank_stage_duration_seconds", "histogram", "Time of each stage, per chunk or snapshot", ("stage",)),
    Metric("stream_rank_learn_duration_seconds", "histogram", "Time of each learner, per chunk", ("learner",)),
    Metric("stream_rank_chunk_records", "histogram", "Records per chunk"),
    # snapshots
    Metric("stream_rank_snapshots_total", "counter", "Snapshots written"),
    Metric("stream_rank_snapshot_age_seconds", "gauge", "Time since the last snapshot was written, or since the start"),
    Metric("stream_rank_snapshot_interval_seconds", "gauge", "Configured time between snapshots"),
    Metric("stream_rank_snapshot_size_bytes", "gauge", "Size of the last snapshot"),
    Metric("stream_rank_snapshot_duration_seconds", "gauge", "Time of writing the last snapshot"),
    Metric("stream_rank_unsaved_records", "gauge", "Records since the last snapshot"),
    # health
    Metric("stream_rank_failures_total", "counter", "Failed attempts, which are retried", ("what",)),
    Metric("stream_rank_failing", "gauge", "1 while the last attempt failed, else 0", ("what",)),
    Metric("stream_rank_kafka_silence_seconds", "gauge", "Time since a broker last answered anything, or since the start"),
    Metric("stream_rank_client_warnings_total", "counter", "Warnings that Kafka's client logged"),
    Metric("stream_rank_tick_age_seconds", "gauge", "Time since the last iteration of the loop"),
    Metric("stream_rank_ready", "gauge", "1 if restored, partitions are assigned and Kafka answers, or if standing by and able to lead at once; else 0"),
    Metric("stream_rank_leading", "gauge", "1 if this process has the lease of the run's snapshots, 0 if it stands by or could not renew it", ("run",)),
    Metric("stream_rank_lease_number", "gauge", "The fencing number of the lease, which grows whenever another process takes it", ("run",)),
    Metric("stream_rank_resumed_after_records", "gauge", "Records before the snapshot that the run was resumed from"),
    Metric("stream_rank_build_info", "gauge", "1, with the version and the Kafka client", ("version", "client")),
)  # fmt: skip
"""Counters start at 0 with the process: continued from a snapshot, they would look like a counter reset to Prometheus."""

PROCESS = _named(
    Metric(
        "process_start_time_seconds", "gauge", "Start time of the process, in seconds since 1970"
    ),
    Metric("process_cpu_seconds_total", "counter", "Processor time of the process"),
    Metric("process_resident_memory_bytes", "gauge", "Memory of the process"),
    Metric("process_virtual_memory_bytes", "gauge", "Address space of the process"),
    Metric("process_open_fds", "gauge", "Open file descriptors"),
    Metric("process_max_fds", "gauge", "Limit of open file descriptors"),
)
"""The metrics of the Prometheus client's process collector."""
