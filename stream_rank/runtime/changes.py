"""What may change of a run when it is resumed: its learners, and settings on which nothing learned depends."""

from collections.abc import Callable, Sequence
from typing import Any

from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.config.run import RunConfig
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.preparations import Chain
from stream_rank.errors import ConfigError

__all__ = [
    "WHY",
    "chains_before",
    "check_settings",
    "kept_settings",
    "late_learners",
    "learners_before",
    "members_before",
    "tell_of_learners",
]

_READ = "events were read by it, and what they are called was learned"
WHY = {
    "preparation": "learners that are given without stages have learned behind these; give a learner that is to have others its own",
    "n_ranks": "thresholds and losses are those of so many ranks",
    "seed": "the coins of learners follow from it",
    "delay": "the events that wait for a label are kept by it",
    "window": "recent losses are kept over it",
    "max_features": "the features that are known were let in by it",
    "min_count": "the features that are known were let in by it",
    "max_new_features": "the features that are known were let in by it",
    "ranking_pairs": "rankings were learned as these pairs",
    "shard": "all learners learned from it",
    **dict.fromkeys(("fields", "categories", "envelope", "ts_unit", "labels"), _READ),
    **dict.fromkeys(("format", "delimiter", "header", "na_values"), _READ),
    **dict.fromkeys(
        ("from", "to"), "what was left out is counted, and would have to be read again"
    ),
}
"""Why settings cannot change, for whoever tries."""
_LEARNERS = "learners"
_NAMES = "names"
"""Of features, where a learner takes some for names that are no `categories`."""


def kept_settings(config: RunConfig, contestants: Sequence[Contestant]) -> dict[str, Any]:
    """What a snapshot keeps of the settings: those that cannot change, and the learners in their order."""
    shown = config.shown()
    found = {name: shown.get(name) for name in config.fixed}
    if (
        found["ts_unit"] == "ms"
    ):  # snapshots do not have it that were written before there were others
        found["ts_unit"] = None
    if list(config.names) != (config.categories or []):
        found[_NAMES] = list(config.names)
    return {**found, _LEARNERS: [each.name for each in contestants]}


def check_settings(config: RunConfig, snapshot: Snapshot) -> None:
    """Raise a `ConfigError` if a setting has changed that cannot; numbers are names where they were before."""
    before, now = snapshot.metadata["settings"], kept_settings(config, [])
    for name in config.fixed:
        if before.get(name) != now[name]:
            raise ConfigError(
                f"the run in {config.out} has `{name}` {before.get(name)!r}, now {now[name]!r} is given. It cannot change, since "
                f"{WHY[name]}: give it as before, or begin another run with another `out`"
            )
    config.go_on_with(before.get(_NAMES) or before.get("categories") or ())


def learners_before(snapshot: Snapshot) -> list[str]:
    """The learners of a snapshot, the champion first."""
    found: list[str] = snapshot.metadata["settings"][_LEARNERS]
    return found


def chains_before(snapshot: Snapshot) -> dict[str, Chain]:
    """The chains of stages of the learners of a snapshot, by learner, as far as they have any."""
    parts = snapshot.metadata["parts"]
    found = {}
    for name in learners_before(snapshot):
        chain = parts.get(f"learners/{name}", {}).get("preparation")
        if isinstance(chain, list) and all(isinstance(each, str) for each in chain):
            found[name] = tuple(chain)
    return found


def members_before(snapshot: Snapshot) -> dict[str, list[str]]:
    """The members of the committees of a snapshot, by committee: those by default may have been others."""
    parts, found = snapshot.metadata["parts"], {}
    for name in learners_before(snapshot):
        members = parts.get(f"learners/{name}", {}).get("members")
        if isinstance(members, list) and set(members) <= set(parts):
            found[name] = [str(each).removeprefix("learners/") for each in members]
    return found


def late_learners(now: Sequence[str], before: Sequence[str]) -> list[str]:
    """The learners that catch up before they join; a `ConfigError` if nobody is left for them to join."""
    late = [name for name in now if name not in before]
    if len(late) == len(now):
        raise ConfigError(
            f"with `catch_up` retained one learner at least has to stay, beside which the others catch up: {', '.join(before)} "
            "learned so far; take them away once the others have joined"
        )
    return late


def tell_of_learners(
    before: Sequence[str], now: Sequence[str], late: Sequence[str], say: Callable[[str], object]
) -> None:
    """Say which learners join or leave, and who is the champion."""
    for name in late:
        say(f"{name} catches up with what the topics still have, and joins then")
    now = [name for name in now if name not in late]
    for name in now:
        if name not in before:
            say(
                f"{name} joins here: it has learned nothing of what came before (but stages that it shares have), and its scoreboard counts from here on"
            )
    for name in before:
        if name not in now:
            say(f"{name} leaves: what it learned is in older snapshots alone")
    if now[0] != before[0]:
        say(f"the champion is {now[0]}, which was {before[0]}")
