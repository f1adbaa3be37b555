"""From the topic to the snapshot: rate, lag, where the time goes, and what goes wrong."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import BAD, FAIR, GOOD, Scale, Word, lines, words
from dashboards.queries import (
    AT,
    increase,
    mean,
    metric,
    ours,
    per_second,
    quantile,
    scored,
    series,
)

__all__ = ["pipeline"]

_BUSY = ("decoding", "learning", "scoring", "snapshotting")


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
                states.up(6),
                states.learning(6),
                states.keeps_up(6),
                words(
                    "Rejects",
                    "Share of the records of the last five minutes that could not be learned from: many from 5 % on.",
                    f"max({series('instance:stream_rank_rejects:ratio5m')})",
                    [
                        Word(0.0001, "None", GOOD),
                        Word(0.05, "Some", FAIR),
                        Word(None, "Many", BAD),
                    ],
                    "Nothing comes",
                    6,
                ),
                states.snapshots(6),
                words(
                    "Kafka",
                    "Tries at Kafka that failed within the last five minutes. One or two are a broker that changed; it goes on by itself.",
                    f"sum({increase('failures_total', '5m', what='kafka')})",
                    [
                        Word(0.5, "Well", GOOD),
                        Word(10, "Was away", FAIR),
                        Word(None, "In trouble", BAD),
                    ],
                    states.NOT_REACHED,
                    6,
                ),
                words(
                    "Restarts",
                    "How often daemons were started within the last hour.",
                    f"sum({ours('changes(' + series('process_start_time_seconds') + '[1h])')})",
                    [
                        Word(0.5, "None", GOOD),
                        Word(2.5, "Restarted", FAIR),
                        Word(None, "Many", BAD),
                    ],
                    states.NOT_REACHED,
                    6,
                ),
                states.alerts(6),
            ],
            "How well?": [
                lines(
                    "Records",
                    "Records a second, by what became of them.",
                    "cps",
                    {"{{outcome}}": f"sum by (outcome) ({per_second('records_total')})"},
                    stacked=True,
                ),
                lines(
                    "Lag",
                    "Offsets between what comes next and the end of each partition.",
                    "short",
                    {"{{topic}} {{partition}}": f"sum by (topic, partition) ({metric('lag')})"},
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
                ),
            ],
            "Why?": [
                lines(
                    "Rejects",
                    "Records that could not be learned from a second, by what was wrong: no JSON, no event, a feature, a label, "
                    "or a label that no event waits for.",
                    "cps",
                    {"{{reason}}": f"sum by (reason) ({per_second('rejects_total')})"},
                    stacked=True,
                ),
                lines(
                    "Stages, at their slowest",
                    "Time within which 99 of 100 chunks (or snapshots) pass each stage.",
                    "s",
                    {"{{stage}}": quantile(0.99, "stage_duration_seconds", "stage")},
                    scale=Scale.DECADES,
                ),
                lines(
                    "Records at a time",
                    "Mean number of records in a chunk: few while it keeps up, many while it learns a backlog.",
                    "short",
                    {"{{instance}}": mean("chunk_records", "instance")},
                ),
                lines(
                    "Age of the snapshot",
                    "Time since a snapshot was written, and the time between two that was asked for.",
                    "s",
                    {
                        f"age {AT}": metric("snapshot_age_seconds"),
                        f"asked for {AT}": metric("snapshot_interval_seconds"),
                    },
                    width=6,
                ),
                lines(
                    "Writing a snapshot",
                    "How long the last one took; nothing is learned meanwhile.",
                    "s",
                    {"{{instance}}": metric("snapshot_duration_seconds")},
                    width=6,
                ),
                lines(
                    "Size of a snapshot",
                    "Bytes of the last one.",
                    "bytes",
                    {"{{instance}}": metric("snapshot_size_bytes")},
                    width=6,
                ),
                lines(
                    "Failures and warnings",
                    "Tries a second that failed, by what failed, and warnings of Kafka's client.",
                    "cps",
                    {
                        "{{what}}": f"sum by (what) ({per_second('failures_total')})",
                        "client's warnings": f"sum({per_second('client_warnings_total')})",
                        "messages again": f"sum({per_second('repeated_messages_total')})",
                        "messages passed over": f"sum({per_second('passed_messages_total')})",
                    },
                    width=6,
                ),
                lines(
                    "Partitions",
                    "Partitions that each daemon has, and how often the group changed them.",
                    "short",
                    {
                        f"partitions {AT}": metric("assigned_partitions"),
                        f"rebalances {AT}": increase("rebalances_total"),
                    },
                    steps=True,
                    width=6,
                ),
                lines(
                    "Sent",
                    "Dead letters and predictions that were sent a second.",
                    "cps",
                    {
                        "dead letters": f"sum({per_second('dead_letters_total')}) or vector(0)",
                        "predictions": f"sum({per_second('predictions_total')}) or vector(0)",
                    },
                    width=6,
                ),
                lines(
                    "Memory",
                    "Memory in use. It grows with the number of features and groups, not with the number of events.",
                    "bytes",
                    {"{{instance}}": ours(metric("process_resident_memory_bytes"))},
                    width=6,
                ),
                lines(
                    "Processor",
                    "Processor time used in each second: 1 is one core.",
                    "short",
                    {"{{instance}}": ours(per_second("process_cpu_seconds_total"))},
                    width=6,
                ),
                lines(
                    "Features",
                    "Features that are known: at most `max_features`.",
                    "short",
                    {"{{instance}}": metric("features")},
                    width=12,
                ),
                lines(
                    "Features left out",
                    "Features a second that events were learned without, since they came too seldom or there was no room, and those "
                    "that came no more and gave their place to others.",
                    "cps",
                    {
                        "left out": f"sum({per_second('dropped_features_total')})",
                        "replaced": f"sum({per_second('expired_features_total')})",
                    },
                    width=12,
                ),
            ],
        },
    )
