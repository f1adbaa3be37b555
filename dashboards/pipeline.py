"""From the topic to the snapshot: rate, lag, where the time goes, and what goes wrong."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import Scale, lines
from dashboards.queries import (
    AT,
    increase,
    mean,
    metric,
    ours,
    per_second,
    quantile,
    scored,
)

__all__ = ["pipeline"]

_BUSY = ("decoding", "learning", "scoring", "snapshotting")
_OUTCOMES = {"learned": "green", "requested": "blue", "skipped": "#8E8E8E", "rejected": "red"}
_REASONS = {
    "unreadable": "red",
    "schema": "orange",
    "feature": "yellow",
    "label": "purple",
    "unmatched": "blue",
}
_STAGES = {
    "polling": "#8E8E8E",
    "decoding": "blue",
    "learning": "green",
    "scoring": "yellow",
    "snapshotting": "purple",
}
_FAILED = {
    "kafka": "red",
    "snapshots": "purple",
    "schema_registry": "orange",
    "client's warnings": "yellow",
    "messages again": "blue",
    "messages passed over": "#8E8E8E",
}
"""Colours of what is the same on every daemon, and on every panel."""


def pipeline() -> Dashboard:
    """The dashboard."""
    stage = f"sum by (stage) ({per_second('stage_duration_seconds_sum')})"
    daemons = f"scalar(count({metric('ready')}))"
    learned = f"sum by (learner) ({scored()})"
    return framed(
        "stream-rank-pipeline",
        "stream-rank: Pipeline",
        "Whether events get through, how fast, and what holds them up.",
        {
            "Is it well?": [
                *map(states.tile, (states.UP, states.KAFKA, states.LEARNING, states.KEEPS_UP)),
                *(states.tile(each, 8) for each in (states.REJECTS, states.SAVED, states.RESTARTS)),
                states.alerts(),
                states.over_time(
                    "Since when",
                    "The same against time, for each daemon: green is well, blue worth knowing, grey not known, red is what to look at. "
                    "Where there is nothing, nobody asked it.",
                    (states.UP, states.KAFKA, states.LEARNING, states.SAVED, states.RESTARTS),
                ),
            ],
            "How well?": [
                lines(
                    "Records",
                    "Records a second, by what became of them.",
                    "recps",
                    {"{{outcome}}": f"sum by (outcome) ({per_second('records_total')})"},
                    stacked=True,
                    about=1,
                    colours=_OUTCOMES,
                ),
                lines(
                    "Lag",
                    "Offsets between what comes next and the end of each partition, as brokers last said: while Kafka is silent nobody knows more.",
                    "short",
                    {"{{topic}} {{partition}}": f"sum by (topic, partition) ({metric('lag')})"},
                    about=10,
                    many=True,
                ),
                lines(
                    "From message to rule",
                    "Time from a message's timestamp to when it was learned, for the first message of each chunk.",
                    "s",
                    {
                        "99 of 100 within": quantile(0.99, "latency_seconds"),
                        "half within": quantile(0.5, "latency_seconds"),
                    },
                    scale=Scale.DECADES,
                ),
                lines(
                    "Silence",
                    "Seconds since a broker last answered, and since the last records came, beside the time that usually passes between two "
                    "arrivals. Kafka counts as unreachable from 15 s of its silence on: the line.",
                    "s",
                    {
                        f"Kafka {AT}": metric("kafka_silence_seconds"),
                        f"records {AT}": metric("record_age_seconds"),
                        f"usual gap {AT}": metric("usual_gap_seconds"),
                    },
                    width=24,
                    level=15,
                ),
                lines(
                    "Where each second goes",
                    "Share of the time that is spent at each stage; what is missing to 100 % is waiting for events.",
                    "percentunit",
                    {
                        name: f"{stage.replace('{', '{' + f'stage={chr(34)}{name}{chr(34)}, ', 1)} / {daemons}"
                        for name in _BUSY
                    },
                    width=12,
                    stacked=True,
                    scale=Scale.WHOLE,
                    colours=_STAGES,
                ),
                lines(
                    "Learning time an event",
                    "What each learner takes for a rating or a preference, predicting included.",
                    "s",
                    {
                        "{{learner}}": f"sum by (learner) ({per_second('learn_duration_seconds_sum')}) / ({learned} > 0)"
                    },
                    width=12,
                    scale=Scale.DECADES,
                    many=True,
                    nothing="Nothing was learned within the time shown",
                ),
            ],
            "Why?": [
                lines(
                    "Rejects",
                    "Records that could not be learned from a second, by what was wrong: no JSON, no event, a feature, a label, "
                    "or a label that no event waits for.",
                    "recps",
                    {"{{reason}}": f"sum by (reason) ({per_second('rejects_total')})"},
                    stacked=True,
                    about=1,
                    colours=_REASONS,
                ),
                lines(
                    "Stages, at their slowest",
                    "Time within which 99 of 100 chunks (or snapshots) pass each stage.",
                    "s",
                    {"{{stage}}": quantile(0.99, "stage_duration_seconds", "stage")},
                    scale=Scale.DECADES,
                    colours=_STAGES,
                ),
                lines(
                    "Records at a time",
                    "Mean number of records in a chunk: few while it keeps up, many while it learns a backlog.",
                    "short",
                    {f"records {AT}": mean("chunk_records", "instance")},
                    nothing="No records came within the time shown",
                ),
                lines(
                    "Age of the snapshot",
                    "Time since a snapshot was written, while there is something to save: of one that has everything it is 0. And the time "
                    "between two that was asked for.",
                    "s",
                    {
                        f"age {AT}": f"{metric('snapshot_age_seconds')} * ({metric('unsaved_records')} > bool 0)",
                        f"asked for {AT}": metric("snapshot_interval_seconds"),
                    },
                    width=6,
                ),
                lines(
                    "Writing a snapshot",
                    "How long the last one took; nothing is learned meanwhile.",
                    "s",
                    {f"seconds {AT}": metric("snapshot_duration_seconds")},
                    width=6,
                    nothing="No snapshot was written",
                ),
                lines(
                    "Size of a snapshot",
                    "Bytes of the last one.",
                    "bytes",
                    {f"size {AT}": metric("snapshot_size_bytes")},
                    width=6,
                    nothing="No snapshot was written",
                ),
                lines(
                    "Failures and warnings",
                    "Tries a second that failed, by what failed, and warnings of Kafka's client.",
                    "recps",
                    {
                        "{{what}}": f"sum by (what) ({per_second('failures_total')})",
                        "client's warnings": f"sum({per_second('client_warnings_total')})",
                        "messages again": f"sum({per_second('repeated_messages_total')})",
                        "messages passed over": f"sum({per_second('passed_messages_total')})",
                    },
                    width=6,
                    about=1,
                    colours=_FAILED,
                ),
                lines(
                    "Partitions",
                    "Partitions that each daemon has, those that others of its group have and it should, and how often the group changed them; "
                    "and who leads: of daemons that share their snapshots one does, and the others stand by.",
                    "short",
                    {
                        f"leads {AT}": metric("leading"),
                        f"partitions {AT}": metric("assigned_partitions"),
                        f"missing {AT}": metric("missing_partitions"),
                        f"rebalances {AT}": increase("rebalances_total"),
                    },
                    steps=True,
                    width=6,
                ),
                lines(
                    "Sent",
                    "Dead letters and predictions that were sent a second.",
                    "recps",
                    {
                        "dead letters": f"sum({per_second('dead_letters_total')}) or vector(0)",
                        "predictions": f"sum({per_second('predictions_total')}) or vector(0)",
                    },
                    width=6,
                    about=1,
                ),
                lines(
                    "Memory",
                    "Memory in use. It grows with the number of features and groups, not with the number of events.",
                    "bytes",
                    {f"memory {AT}": ours(metric("process_resident_memory_bytes"))},
                    width=6,
                ),
                lines(
                    "Processor",
                    "Processor time used in each second: 1 is one core.",
                    "short",
                    {f"processor {AT}": ours(per_second("process_cpu_seconds_total"))},
                    width=6,
                ),
                lines(
                    "Features",
                    "Features that are known: at most `max_features`.",
                    "short",
                    {f"features {AT}": metric("features")},
                    width=12,
                ),
                lines(
                    "Features left out",
                    "Features a second that events were learned without, since they came too seldom or there was no room, and those "
                    "that came no more and gave their place to others.",
                    "recps",
                    {
                        "left out": f"sum({per_second('dropped_features_total')})",
                        "replaced": f"sum({per_second('expired_features_total')})",
                    },
                    width=12,
                    about=1,
                ),
            ],
        },
    )
