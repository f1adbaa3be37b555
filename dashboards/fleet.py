"""All daemons, a line each."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import Column, lines, overview
from dashboards.queries import champion, metric, per_second, series

__all__ = ["fleet"]


def _by_daemon(expression: str) -> str:
    return f"max by (job, instance) ({expression})"


def fleet() -> Dashboard:
    """The dashboard."""
    loss = champion(metric("recent_loss"))
    rate = f"sum by (job, instance) ({per_second('records_total')})"
    lag = f"sum by (job, instance) ({metric('lag')})"
    ratio = champion(series("learner:stream_rank_loss:ratio_to_week"))
    return framed(
        "stream-rank-fleet",
        "stream-rank: Fleet",
        "Every daemon, each of which learns its shard of the stream.",
        {
            "Are they well? (the worst of them)": [
                states.up(4),
                states.learning(4),
                states.keeps_up(4),
                states.loss(4),
                states.snapshots(4),
                states.alerts(4),
            ],
            "Which is not?": [
                overview(
                    "Daemons",
                    "How each stands now; what is not well is coloured.",
                    [
                        Column(
                            "up for",
                            "s",
                            _by_daemon(f"time() - {metric('process_start_time_seconds')}"),
                        ),
                        Column("records/s", "cps", rate),
                        Column("lag", "short", lag),
                        Column("seconds behind", "s", f"{lag} / clamp_min({rate}, 1)", 10, 60),
                        Column("loss", "short", _by_daemon(loss)),
                        Column("loss / its week", "short", _by_daemon(ratio), 1.1, 1.25),
                        Column(
                            "rejects",
                            "percentunit",
                            _by_daemon(series("instance:stream_rank_rejects:ratio5m")),
                            0.01,
                            0.05,
                        ),
                        Column("snapshot's age", "s", _by_daemon(metric("snapshot_age_seconds"))),
                        Column("partitions", "short", _by_daemon(metric("assigned_partitions"))),
                        Column(
                            "memory", "bytes", _by_daemon(metric("process_resident_memory_bytes"))
                        ),
                    ],
                ),
            ],
            "Since when?": [
                lines("Records", "Records a second, by daemon.", "cps", {"{{instance}}": rate}),
                lines("Lag", "Offsets behind the end, by daemon.", "short", {"{{instance}}": lag}),
                lines(
                    "Recent loss",
                    "The champion's, by daemon.",
                    "short",
                    {"{{instance}}": _by_daemon(loss)},
                ),
            ],
        },
    )
