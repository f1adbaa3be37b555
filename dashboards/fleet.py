"""All daemons, a line each."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import Column, lines, overview
from dashboards.queries import champion, metric, per_daemon, per_second, series, total

__all__ = ["fleet"]


def fleet() -> Dashboard:
    """The dashboard."""
    # each is another unit: they have axes of their own
    rank, magnitude, preference = (
        per_daemon(champion(metric("recent_loss", loss=kind)))
        for kind in ("rank", "magnitude", "preference")
    )
    rate = total(per_second("records_total"))
    answers = per_daemon(metric("build_info"))
    standing, rejects = states.STANDING, total(per_second("rejects_total"))
    return framed(
        "stream-rank-fleet",
        "stream-rank: Fleet",
        "Every daemon, a line each.",
        {
            "Are they well? (the worst of them)": [
                *map(states.tile, (states.UP, states.KAFKA, states.LEARNING, states.KEEPS_UP)),
                *map(states.tile, (states.REJECTS, states.LOSS, states.SAVED, states.NUMBERS)),
                states.alerts(),
            ],
            "Which is not?": [
                overview(
                    "Daemons",
                    "How each stands now; a click on its name leads to all about it.",
                    [
                        Column("is", "none", states.standing(), said=standing.said, width=90),
                        Column(
                            "behind",
                            "s",
                            states.seconds_behind(per_second("records_total")),
                            bad=60,
                        ),
                        Column(
                            "rejects",
                            "percentunit",
                            f"{rejects} / ({rate} > 0)",
                            bad=0.05,
                            nothing="idle",
                        ),
                    ],
                    answers,
                ),
            ],
            "Since when?": [
                states.over_time(
                    "Up, by daemon",
                    "Which daemons Prometheus reached, and when; where there is nothing it did not know them.",
                    (states.UP, states.KAFKA, states.LEARNING),
                ),
                lines(
                    "Records",
                    "Records a second, by daemon.",
                    "recps",
                    {"{{instance}}": rate},
                    width=12,
                    about=1,
                    many=True,
                ),
                lines(
                    "Lag",
                    "Offsets behind the end, by daemon, as brokers last said.",
                    "short",
                    {"{{instance}}": total(metric("lag"))},
                    width=12,
                    about=10,
                    many=True,
                ),
                lines(
                    "Recent rank loss",
                    "Ranks off, of champions that predict ranks, by daemon.",
                    "short",
                    {"{{instance}}": rank},
                    many=True,
                    nothing="No rating was predicted by a champion of ranks",
                ),
                lines(
                    "Recent magnitude loss",
                    "Squared errors of differences, of champions that predict scores, by daemon.",
                    "short",
                    {"{{instance}}": magnitude},
                    many=True,
                    nothing="No rating was predicted by a champion of scores",
                ),
                lines(
                    "Recent preference error",
                    "The champion's share of preferences in the wrong order, by daemon; guessing has a half.",
                    "percentunit",
                    {"{{instance}}": preference},
                    level=0.5,
                    many=True,
                    nothing="No preference was predicted",
                ),
                lines(
                    "Loss against its week",
                    "The champion's loss of the last five minutes, divided by its mean of the last week, or of what there is of it; of ratings "
                    "and preferences, of those that do worse.",
                    "short",
                    {
                        "{{instance}}": per_daemon(
                            champion(series("learner:stream_rank_loss:ratio_to_week"))
                        )
                    },
                    width=12,
                    level=1.25,
                    many=True,
                    nothing="Nothing was predicted within five minutes, or the first of them is not over",
                ),
                lines(
                    "Memory",
                    "Memory in use, by daemon.",
                    "bytes",
                    {
                        "{{instance}}": per_daemon(
                            f"{metric('process_resident_memory_bytes')} and on (job, instance) {metric('ready')}"
                        )
                    },
                    width=12,
                    many=True,
                ),
            ],
        },
    )
