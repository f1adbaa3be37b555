"""All daemons, a line each."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import Column, lines, overview
from dashboards.queries import champion, metric, ours, per_second, series

__all__ = ["fleet"]


def _by_daemon(expression: str) -> str:
    return f"max by (job, instance) ({expression})"


def fleet() -> Dashboard:
    """The dashboard."""
    # each is another unit: they have columns, and axes, of their own
    rank, magnitude, preference = (
        champion(metric("recent_loss", loss=kind)) for kind in ("rank", "magnitude", "preference")
    )
    rate = f"sum by (job, instance) ({per_second('records_total')})"
    lag = f"sum by (job, instance) ({metric('lag')})"
    week = champion(series("learner:stream_rank_loss:ratio_to_week"))
    begun, memory = metric("process_start_time_seconds"), metric("process_resident_memory_bytes")
    answers = _by_daemon(metric("build_info"))
    # what is recorded goes on for five minutes after a daemon went down
    rejects = f"{_by_daemon(series('instance:stream_rank_rejects:ratio5m'))} and {answers}"
    return framed(
        "stream-rank-fleet",
        "stream-rank: Fleet",
        "Every daemon, a line each.",
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
                    "How each stands now; what is not well is coloured, and of one that is down nothing else is known.",
                    [
                        Column("up", "none", _by_daemon(ours(series("up"))), least=1, narrow=True),
                        Column("running", "s", _by_daemon(ours(f"time() - {begun}"))),
                        Column("records", "cps", rate),
                        Column(
                            "behind",
                            "s",
                            states.seconds_behind(per_second("records_total")),
                            10,
                            60,
                        ),
                        Column(
                            "loss",
                            "short",
                            _by_daemon(f"{rank} or {magnitude}"),
                            nothing="no rating",
                        ),
                        Column(
                            "pref. loss",
                            "percentunit",
                            _by_daemon(preference),
                            nothing="none yet",
                        ),
                        Column("vs week", "short", _by_daemon(week), 1.1, 1.25, nothing="unknown"),
                        Column(
                            "rejects",
                            "percentunit",
                            rejects,
                            0.01,
                            0.05,
                            nothing="idle",
                        ),
                        Column("snapshot", "s", _by_daemon(metric("snapshot_age_seconds"))),
                        Column(
                            "partitions",
                            "short",
                            _by_daemon(metric("assigned_partitions")),
                            least=1,
                        ),
                        Column("memory", "bytes", _by_daemon(ours(memory))),
                    ],
                    answers,
                ),
            ],
            "Since when?": [
                lines(
                    "Records",
                    "Records a second, by daemon.",
                    "cps",
                    {"{{instance}}": rate},
                    width=12,
                ),
                lines(
                    "Lag",
                    "Offsets behind the end, by daemon.",
                    "short",
                    {"{{instance}}": lag},
                    width=12,
                ),
                lines(
                    "Recent rank loss",
                    "Of champions that predict ranks, by daemon.",
                    "short",
                    {"{{instance}}": _by_daemon(rank)},
                    nothing="No rating was predicted by a champion of ranks",
                ),
                lines(
                    "Recent magnitude loss",
                    "Of champions that predict scores, by daemon.",
                    "short",
                    {"{{instance}}": _by_daemon(magnitude)},
                    nothing="No rating was predicted by a champion of scores",
                ),
                lines(
                    "Recent preference error",
                    "The champion's share of preferences in the wrong order, by daemon; guessing has a half.",
                    "percentunit",
                    {"{{instance}}": _by_daemon(preference)},
                    level=0.5,
                    nothing="No preference was predicted",
                ),
            ],
        },
    )
