"""What the tiles of a dashboard's first row say, read off without a Grafana: its JSON, and a Prometheus."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from simulators.prometheus import Prometheus

__all__ = ["Tile", "board", "read", "said_by"]

_BOARDS = Path(__file__).parent.parent / "dashboards/grafana/dashboards"
_VALUES = {
    "job": ".+",
    "instance": ".+",
    "learner": ".+",
    "__rate_interval": "20s",
    "__range": "30m",
}
"""What Grafana puts in for samples that come every 5 seconds."""


class Tile(NamedTuple):
    """A word and its colour."""

    word: str
    colour: str


def board(name: str) -> dict[str, Any]:
    """A dashboard as it is committed."""
    found: dict[str, Any] = json.loads((_BOARDS / f"{name}.json").read_text())
    return found


def read(dashboard: dict[str, Any], prometheus: Prometheus) -> dict[str, Tile]:
    """All tiles of a dashboard now, by their titles."""
    tiles = {}
    for panel in (each for each in dashboard["panels"] if each["type"] == "stat"):
        asked = panel["targets"][0]["expr"]
        for name, value in _VALUES.items():
            asked = asked.replace(f"${name}", value)
        tiles[panel["title"]] = said_by(panel, prometheus.query(asked))
    return tiles


def said_by(panel: dict[str, Any], found: list[dict[str, Any]]) -> Tile:
    """What a tile says of what its expression gave."""
    defaults = panel["fieldConfig"]["defaults"]
    if panel["options"]["textMode"] == "name":
        names = sorted({each["metric"]["name"] for each in found})
        worst = max((float(each["value"][1]) for each in found), default=-1.0)
        steps = [s for s in defaults["thresholds"]["steps"] if (s["value"] or 0) <= worst]
        return Tile(", ".join(names), steps[-1]["color"] if steps else "")
    if not found:
        unknown = next(m for m in defaults["mappings"] if m["type"] == "special")
        return Tile(*(unknown["options"]["result"][key] for key in ("text", "color")))
    number = float(found[0]["value"][1])
    for mapping in (m["options"] for m in defaults["mappings"] if m["type"] == "range"):
        if mapping["from"] <= number <= mapping["to"]:
            return Tile(mapping["result"]["text"], mapping["result"]["color"])
    raise ValueError(f"{panel['title']} has no word for {number}")
