"""The answers to "is it well?" that more than one dashboard gives."""

from dashboards.panels import BAD, FAIR, GOOD, NEUTRAL, Panel, Word, words
from dashboards.queries import champion, increase, metric, ours, series

__all__ = [
    *("NOTHING_SCORED", "NOT_REACHED", "alerts", "drifts", "keeps_up", "learning"),
    *("loss", "seconds_behind", "snapshots", "up"),
]

NOT_REACHED, NOTHING_SCORED = "Not reached", "Nothing scored"

_RATE = series("instance:stream_rank_records:rate5m")
"""Over five minutes: of a slow stream nothing may come for one."""
_SLOWEST = 0.001
"""Records a second, below which nothing can be said."""


def seconds_behind(rate: str) -> str:
    """How long a daemon takes for what is left, by the rate of its records."""
    behind = f"sum by (job, instance) ({metric('lag')})"
    return f"{behind} / clamp_min(sum by (job, instance) ({rate}), {_SLOWEST})"


def up(width: int) -> Panel:
    """Whether Prometheus reaches all of them."""
    return words(
        "Up",
        "Whether Prometheus reaches every daemon that it knows. A daemon that is down loses nothing: "
        "it goes on from its snapshot.",
        f"min({ours(series('up'))})",
        [Word(0.5, "One is down", BAD), Word(None, "Up", GOOD)],
        NOT_REACHED,
        width,
    )


def learning(width: int) -> Panel:
    """Whether events come and are learned."""
    rate = f"sum by (job, instance) ({_RATE})"
    behind = f"sum by (job, instance) ({metric('lag')})"
    return words(
        "Learning",
        "Whether events were learned within the last five minutes, by the daemon that does worst. Stuck: there are "
        "events, and it learned none. Catching up: there are more than it learns in ten seconds.",
        f"min(2 * ({rate} > bool 0) + ({behind} <= bool 10 * {rate}))",
        [
            Word(0.5, "Stuck", BAD),
            Word(1.5, "Nothing comes", FAIR),
            Word(2.5, "Catching up", GOOD),
            Word(None, "Learning", GOOD),
        ],
        NOT_REACHED,
        width,
    )


def loss(width: int) -> Panel:
    """Whether champions are as good as they were."""
    recent = metric("recent_loss")
    new = champion(f"{recent} unless {recent} offset 5m")
    return words(
        "Loss",
        "The champion's loss of the last five minutes against its mean of the last week: as usual up to 1.1 times, "
        "much worse from 1.25 times on. Where there are both ratings and preferences, of those that do worse. "
        "Too soon: there are losses, but in the first minute or two no mean of them.",
        f"max({champion(series('learner:stream_rank_loss:ratio_to_week'))}) or max({new}) * 0 - 1",
        [
            Word(-0.5, "Too soon", NEUTRAL),
            Word(1.1, "As usual", GOOD),
            Word(1.25, "Worse", FAIR),
            Word(None, "Much worse", BAD),
        ],
        NOTHING_SCORED,
        width,
    )


def keeps_up(width: int) -> Panel:
    """How far behind the end it is, in time."""
    return words(
        "Keeps up",
        "Seconds that the records between it and the end of the topics would take at its pace of the last five "
        "minutes: up to date below 10, behind from a minute on.",
        f"max({seconds_behind(_RATE)})",
        [Word(10, "Up to date", GOOD), Word(60, "A bit behind", FAIR), Word(None, "Behind", BAD)],
        NOT_REACHED,
        width,
    )


def snapshots(width: int) -> Panel:
    """Whether snapshots are written when they should be."""
    age = f"{metric('snapshot_age_seconds')} / {metric('snapshot_interval_seconds')}"
    return words(
        "Saved",
        "Age of the last snapshot in intervals between snapshots, while there is something to save: fresh "
        "below 3, too old from 5 on. After a crash, what came behind it is learned again.",
        f"max({age} * ({metric('unsaved_records')} > bool 0))",
        [Word(3, "Fresh", GOOD), Word(5, "Late", FAIR), Word(None, "Too old", BAD)],
        "By events",
        width,
    )


def alerts(width: int) -> Panel:
    """Whether any alert fires."""
    scope = series("ALERTS", alertstate="firing")[:-1]
    firing = f'{scope}, alertname=~"StreamRank.+", severity!="info"}}'
    return words(
        "Alerts",
        "Warnings and worse of stream-rank that fire now; what to do about each is in the runbook that it links to.",
        f"count({firing}) or vector(0)",
        [Word(0.5, "None", GOOD), Word(1.5, "One fires", BAD), Word(None, "Several fire", BAD)],
        "None",
        width,
    )


def drifts(width: int) -> Panel:
    """Whether the stream changed."""
    return words(
        "Drift",
        "Whether the champion's loss, of ratings or of preferences, was found to have grown within the last hour "
        "(Page-Hinkley test over blocks of 500).",
        f"sum({champion(increase('drifts_total', '1h'))})",
        [Word(0.5, "None", GOOD), Word(None, "Within the hour", NEUTRAL)],
        NOTHING_SCORED,
        width,
    )
