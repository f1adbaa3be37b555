"""`python -m dashboards`: write the JSON that Grafana is provisioned with."""

import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.fleet import fleet
from dashboards.learning import learning
from dashboards.pipeline import pipeline

__all__ = ["FOLDER", "as_json", "written"]

FOLDER = Path(__file__).parent / "grafana/dashboards"


def as_json(board: Dashboard) -> str:
    """As it is committed."""
    return JSONEncoder(sort_keys=True, indent=2).encode(board) + "\n"


def written() -> dict[str, str]:
    """The content of all files, by name."""
    boards = {"learning": learning(), "pipeline": pipeline(), "fleet": fleet()}
    return {f"{name}.json": as_json(board) for name, board in boards.items()}


if __name__ == "__main__":
    for name, content in written().items():
        (FOLDER / name).write_text(content)
        panels = len([each for each in json.loads(content)["panels"] if each["type"] != "row"])
        print(f"{FOLDER / name}: {panels} panels")
