"""Where alerts lead: each to a panel with a time axis that shows its cause, and to its place in the runbook."""

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["LEADS", "RUNBOOK", "linked"]

RUNBOOK = "http://127.0.0.1:9090/user/runbook.html"
"""Where `make live` and compose serve it; `make dashboards RUNBOOK=https://...` writes the rules with another address."""

_PIPELINE, _LEARNING, _FLEET = (f"stream-rank-{name}" for name in ("pipeline", "learning", "fleet"))
LEADS = {
    "StreamRankDown": (_PIPELINE, "Since when"),
    "StreamRankAbsent": (_FLEET, "Up, by daemon"),
    "StreamRankKafkaUnreachable": (_PIPELINE, "Silence"),
    "StreamRankStuck": (_PIPELINE, "Since when"),
    "StreamRankStarved": (_PIPELINE, "Silence"),
    "StreamRankNotReady": (_PIPELINE, "Partitions"),
    "StreamRankSharedGroup": (_PIPELINE, "Partitions"),
    "StreamRankNotOneLeader": (_PIPELINE, "Partitions"),
    "StreamRankLagging": (_PIPELINE, "Lag"),
    "StreamRankLossHigh": (_LEARNING, "Against its week"),
    "StreamRankPreferenceLossHigh": (_LEARNING, "Recent preference error"),
    "StreamRankWorseThanConstant": (_LEARNING, "Skill"),
    "StreamRankDiverged": (_LEARNING, "Since when"),
    "StreamRankChallengerBetter": (_LEARNING, "Against challengers"),
    "StreamRankRejects": (_PIPELINE, "Rejects"),
    "StreamRankSnapshotsFail": (_PIPELINE, "Failures and warnings"),
    "StreamRankSnapshotOld": (_PIPELINE, "Age of the snapshot"),
    "StreamRankKafkaTrouble": (_PIPELINE, "Failures and warnings"),
    "StreamRankRebalanceStorm": (_PIPELINE, "Partitions"),
    "StreamRankRestarts": (_PIPELINE, "Since when"),
}
"""Dashboards by their identity, panels by their title."""
_OF_NO_INSTANCE = ("StreamRankAbsent", "StreamRankNotOneLeader")

_ALERT = re.compile(r" *(?:- )?(?:alert|alertname): (\w+)$")
_DESCRIPTION = re.compile(r"( *)description: ")
_LINK = re.compile(r" *(?:runbook_url|dashboard|__dashboardUid__|__panelId__): ")
_INSTANCE = re.compile(r" *instance: (\S+)$")


def linked(text: str, boards: Mapping[str, Any], runbook: str = RUNBOOK) -> str:
    """Rules, or their tests, with the links of today: panels are numbered in their order, which changes."""
    lines = []
    alert, instance = "", "{{ $labels.instance }}"
    for line in text.splitlines():
        if _LINK.match(line):
            continue
        lines.append(line)
        if found := _ALERT.match(line):
            alert = found[1]
        elif found := _INSTANCE.match(line):  # of what a test expects
            instance = found[1]
        elif found := _DESCRIPTION.match(line):
            board, title = LEADS[alert]
            number = _number(boards[board], title)
            about = "" if alert in _OF_NO_INSTANCE else f"&var-instance={instance}"
            lines += [
                f"{found[1]}runbook_url: {runbook}#{alert.lower()}",
                f"{found[1]}dashboard: /d/{board}?viewPanel={number}{about}",
                f"{found[1]}__dashboardUid__: {board}",
                f'{found[1]}__panelId__: "{number}"',
            ]
    return "\n".join(lines) + "\n"


def _number(board: Any, title: str) -> int:
    """The number of a panel with a time axis."""
    axes = ("timeseries", "state-timeline")
    (number,) = (p["id"] for p in board["panels"] if p["title"] == title and p["type"] in axes)
    return int(number)
