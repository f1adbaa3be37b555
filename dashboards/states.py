"""The answers to "is it well?", for each daemon: as tiles for the worst of them, and as words in time and in tables.

Every answer is a number, the larger the worse: 0 is well, 1 is worth knowing, 2 is not known, and from 4 on something is wrong. What
is not known is thereby worse than what is well: of three daemons that are asked, one that is down or cannot reach Kafka leaves
no tile green that is about all of them. What follows from a cause is not known either: only the cause is red.
"""

from collections.abc import Sequence
from typing import NamedTuple

from dashboards.panels import (
    BAD,
    FAIR,
    GOOD,
    NEUTRAL,
    UNKNOWN,
    Panel,
    Word,
    firing,
    timeline,
    words,
)
from dashboards.queries import (
    AT,
    CHALLENGER,
    champion,
    increase,
    metric,
    ours,
    per_daemon,
    per_second,
    series,
    total,
)

__all__ = [
    *("ALL", "DRIFT", "KAFKA", "KEEPS_UP", "LEAD", "LEARNING", "LOSS", "NUMBERS", "REJECTS"),
    *("RESTARTS", "SAVED", "STANDING", "State", "UP", "alerts", "over_time"),
    *("seconds_behind", "standing", "tile"),
]

_SILENCE = per_daemon(metric("kafka_silence_seconds"))
_SILENT = f"({_SILENCE} > bool 15)"
"""As long as `/readyz` waits, and the alert."""
_SOME = per_daemon(metric("assigned_partitions"))
_REACHED = f"(({_SILENCE} <= bool 15) * ({_SOME} > bool 0))"
_DOWN = per_daemon(ours(f"{series('up')} == 0"))
_LEADS = per_daemon(metric("leading"))
_STANDS_BY = f"({_LEADS} == 0)"
"""Where that is all that is known: one that stands by is no member of the group."""
_NOT_KNOWN = 2
_FAR, _NEAR = 1000, 1e-9
"""Times that one loss is another, of which one may be 0; and what is added to both, which may both be."""
_LEAST_GAP, _STUCK = 5, 30
"""Seconds: a gap as long as between two scrapes is none; and what the largest chunks may take the slowest learners."""


class State(NamedTuple):
    """An answer: `code` has a number for each daemon that answers."""

    title: str
    meaning: str
    code: str
    said: Sequence[Word]
    nothing: str = "Not known"

    @property
    def by_daemon(self) -> str:
        """The number of every daemon, also of those that are down, and of those that stand by."""
        return (
            f"{self.code} or on (job, instance) {_DOWN} + {_NOT_KNOWN}"
            f" or on (job, instance) {_STANDS_BY} - 1"
        )

    @property
    def words(self) -> list[Word]:
        """What is said of numbers; that it stands by, only where all do."""
        return list(self.said) if self is UP else [Word(-0.5, "Stands by", NEUTRAL), *self.said]


def tile(state: State, width: int = 6) -> Panel:
    """The word for the worst daemon."""
    worst = f"max({state.by_daemon})" if state is not UP else _WORST_UP
    return words(state.title, state.meaning, worst, state.words, state.nothing, width)


def _known(code: str) -> str:
    """A number that means something only while Kafka answers and gives partitions."""
    return f"({code}) * {_REACHED} + {_NOT_KNOWN} * (1 - {_REACHED})"


def _or(expression: str, otherwise: float) -> str:
    """A number for each daemon that has one, and the same for all others that answer."""
    return f"({expression} or on (job, instance) {_SILENCE} * 0 + {otherwise})"


_LAG = _or(total(metric("lag")), 0)


def seconds_behind(rate: str) -> str:
    """How long a daemon takes for what is left, by the rate of its records."""
    return f"{_LAG} / clamp_min({total(rate)}, 0.001)"


UP = State(
    "Up",
    "Whether Prometheus reaches every daemon that it knows. A daemon that is down loses nothing: it goes on from its snapshot.",
    per_daemon(f"64 * ({ours(series('up'))} == bool 0)"),
    [Word(16, "Up", GOOD), Word(48, "One is down", BAD), Word(None, "Down", BAD)],
)
_WORST_UP = f"64 - 32 * min({ours(series('up'))}) - 32 * max({ours(series('up'))})"  # of one, both are the same

KAFKA = State(
    "Kafka",
    "Whether a broker answered within 15 seconds (fetches, heartbeats, metadata), with partitions for the daemon. Trouble: its last try "
    "failed, or more than ten did within five minutes. Shared: another member of its group has partitions that were its own.",
    f"64 * {_SILENT} + 32 * ({per_daemon(increase('rebalances_total', '15m'))} > bool 6) + 16 * ({_SOME} == bool 0)"
    f" + 8 * ({per_daemon(metric('missing_partitions'))} > bool 0)"
    f" + 4 * clamp_max({per_daemon(metric('failing', what='kafka'))}"
    f" + ({per_daemon(increase('failures_total', '5m', what='kafka'))} > bool 10), 1)"
    f" + ({per_daemon(increase('failures_total', '5m', what='kafka'))} > bool 0.5)",
    [
        Word(0.5, "Answers", GOOD),
        Word(1.5, "Was away", NEUTRAL),
        Word(3, "Not known", UNKNOWN),
        Word(7.5, "Trouble", FAIR),
        Word(15.5, "Shared", FAIR),
        Word(31.5, "No partitions", FAIR),
        Word(63.5, "Rebalance storm", BAD),
        Word(None, "Kafka unreachable", BAD),
    ],
)

_AGE = per_daemon(metric("record_age_seconds"))
_GAP = f"clamp_min({per_daemon(metric('usual_gap_seconds'))}, {_LEAST_GAP})"
LEARNING = State(
    "Learning",
    "Whether events come and are learned. Nothing comes: it is at the end of its topics, for more than twice the time that usually "
    "passes between two arrivals, and for ten seconds. Stuck: there are events and none was learned, or its loop did not turn, for half a minute. "
    "No lease: it could not be renewed, so that another may lead by now.",
    _known(
        f"32 * ({_LEADS} == bool 0) + 16 * clamp_max(({_LAG} > bool 0) * ({_AGE} > bool {_STUCK})"
        f" + ({per_daemon(metric('tick_age_seconds'))} > bool {_STUCK}), 1)"
        f" + 8 * ({_LAG} == bool 0) * ({_AGE} > bool 2 * {_GAP})"
    ),
    [
        Word(1, "Learning", GOOD),
        Word(4, "Not known", UNKNOWN),
        Word(12, "Nothing comes", FAIR),
        Word(28, "Stuck", BAD),
        Word(None, "No lease", BAD),
    ],
)

_BEHIND = seconds_behind(per_second("records_total"))
KEEPS_UP = State(
    "Keeps up",
    "Seconds that the records between it and the end of the topics would take at its pace: up to date below 10, behind from a minute "
    "on, when the alert waits for it to grow. Of topics that cannot be asked it is not known.",
    _known(f"8 * ({_BEHIND} > bool 60) + ({_BEHIND} >= bool 10)"),
    [
        Word(0.5, "Up to date", GOOD),
        Word(1.5, "Near the end", NEUTRAL),
        Word(4, "Not known", UNKNOWN),
        Word(None, "Behind", FAIR),
    ],
)

_RECORDS = total(per_second("records_total"))
_SHARE = f"({total(per_second('rejects_total'))} / ({_RECORDS} > 0))"
REJECTS = State(
    "Rejects",
    "Share of the last records that could not be learned from: many from 5 % on, as the alert has it.",
    # rates go on for a while after a daemon that is down
    _or(
        f"((8 * ({_SHARE} > bool 0.05) + 0.5 * ({_SHARE} > bool 0)) * ({_SILENCE} >= bool 0))",
        _NOT_KNOWN,
    ),
    [
        Word(0.25, "None", GOOD),
        Word(1, "Few", GOOD),
        Word(4, "Nothing comes", UNKNOWN),
        Word(None, "Many", BAD),
    ],
)

_INTERVALS = per_daemon(
    f"{metric('snapshot_age_seconds')} / {metric('snapshot_interval_seconds')} * ({metric('unsaved_records')} > bool 0)"
)
SAVED = State(
    "Saved",
    "Whether snapshots are written: too old is one of more than five intervals, while there is something to save. After a crash, what "
    "came behind it is learned again. A snapshot may have to wait for Kafka, which takes what leaves before it.",
    f"16 * {per_daemon(metric('failing', what='snapshots'))} + "
    + _known(f"8 * ({_or(_INTERVALS, 0)} > bool 5)"),
    [
        Word(1, "Saved", GOOD),
        Word(4, "Not known", UNKNOWN),
        Word(12, "Too old", BAD),
        Word(None, "Cannot save", BAD),
    ],
)

_STARTS = f"changes({series('process_start_time_seconds')}[1h])"
_RESTARTED = per_daemon(f"{_STARTS} and on (job, instance) {metric('ready')}")
RESTARTS = State(
    "Restarts",
    "How often daemons were started within the last hour: many from four times on.",
    f"8 * ({_RESTARTED} > bool 3) + ({_RESTARTED} > bool 0)",
    [
        Word(0.5, "None", GOOD),
        Word(1.5, "Restarted", NEUTRAL),
        Word(4, "Not known", UNKNOWN),
        Word(None, "Many", BAD),
    ],
)

_TO_WEEK = per_daemon(champion(series("learner:stream_rank_loss:ratio_to_week")))
LOSS = State(
    "Loss",
    "The champion's loss of the last five minutes against its mean of the last week, or of what there is of it: much worse from 1.25 times "
    "on. Where there are both ratings and preferences, of those that do worse. In the first minute or two there is no mean.",
    _known(_or(f"8 * ({_TO_WEEK} > bool 1.25)", _NOT_KNOWN)),
    [Word(1, "As usual", GOOD), Word(4, "Not known", UNKNOWN), Word(None, "Much worse", BAD)],
)

_DRIFTED = total(champion(increase("drifts_total", "1h")))
DRIFT = State(
    "Drift",
    "Whether the champion's loss, of ratings or of preferences, was found to have grown within the last hour "
    "(Page-Hinkley test over blocks of 500).",
    _known(_or(f"({_DRIFTED} > bool 0.5)", _NOT_KNOWN)),
    [
        Word(0.5, "None", GOOD),
        Word(1.5, "Within the hour", NEUTRAL),
        Word(None, "Not known", UNKNOWN),
    ],
)

_RECENT = metric("recent_loss")
_CHAMPIONS = f"max by (job, instance, loss) ({champion(_RECENT)})"
_CHALLENGERS = (
    f"min by (job, instance, loss) ({_RECENT} and on (job, instance, learner) {CHALLENGER})"
)
_RATIO = per_daemon(f"clamp_max(({_CHAMPIONS} + {_NEAR:g}) / ({_CHALLENGERS} + {_NEAR:g}), {_FAR})")
LEAD = State(
    "Lead",
    "The champion's recent loss against that of the best challenger with a loss of the same kind: a challenger leads from 1.1 times on. "
    "Where there are both ratings and preferences, of those that do worse.",
    _known(_or(f"(0.5 * ({_RATIO} > bool 0.95) + 0.5 * ({_RATIO} > bool 1.1))", _NOT_KNOWN)),
    [
        Word(0.25, "Champion leads", GOOD),
        Word(0.75, "Level", GOOD),
        Word(1.5, "Challenger leads", NEUTRAL),
        Word(None, "No comparison", UNKNOWN),
    ],
    "No comparison",
)

NUMBERS = State(
    "Numbers",
    "Whether all weights, thresholds and losses are finite. A rule that diverged must be begun again.",
    f"16 * (min by (job, instance) ({metric('finite')}) == bool 0)",
    [Word(1, "Finite", GOOD), Word(4, "Not known", UNKNOWN), Word(None, "Diverged", BAD)],
)

_LEARNS = LEARNING.code
STANDING = State(
    "Standing",
    "What is worst about a daemon, of all that keeps it from learning.",
    f"128 * {_SILENT} + 64 * ({_SOME} == bool 0) + {_LEARNS}",
    [
        Word(-0.5, "Stands by", NEUTRAL),
        Word(1, "Learning", GOOD),
        Word(4, "Not known", UNKNOWN),
        Word(12, "Idle", FAIR),
        Word(28, "Stuck", BAD),
        Word(60, "No lease", BAD),
        Word(120, "Waiting", FAIR),
        Word(220, "No Kafka", BAD),
        Word(None, "Down", BAD),
    ],
)
"""In a table, a line for each daemon; one that is down has 256."""

ALL = (UP, KAFKA, LEARNING, KEEPS_UP, REJECTS, SAVED, RESTARTS, LOSS, DRIFT, LEAD, NUMBERS)


def standing() -> str:
    """What is worst about each daemon."""
    return (
        f"{STANDING.code} or on (job, instance) {_DOWN} + 256"
        f" or on (job, instance) {_STANDS_BY} - 1"
    )


def alerts() -> Panel:
    """The alerts that fire, by their names."""
    named = 'alertname=~"StreamRank.+", severity!="info"}'
    fire, wait = (
        f"{series('ALERTS', alertstate=state)[:-1]}, {named}" for state in ("firing", "pending")
    )
    worst = f"max by (alertname) (2 * {fire} or {wait})"
    name = f'label_replace({worst}, "name", "$1", "alertname", "StreamRank(.+)")'
    none = 'label_replace(0 * max(stream_rank:rules:evaluated), "name", "None", "", "")'
    return firing(
        "Alerts",
        "Warnings and worse of stream-rank: those that fire are red, those whose time is not over yet are orange. A click leads to the "
        "alert, with its runbook and the panel that shows the cause.",
        f"{name} or on () {none}",
        "No rules",
    )


def over_time(
    title: str, meaning: str, states: Sequence[State], width: int = 24, height: int = 7
) -> Panel:
    """Answers against time, a line for each and each daemon."""
    return timeline(
        title,
        meaning,
        {f"{each.title} {AT}": (each.by_daemon, each.words) for each in states},
        width,
        height,
        "No daemon answered within the time shown",
    )
