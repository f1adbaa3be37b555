"""`python -m dashboards`: write the JSON that Grafana is provisioned with, and the rules as Kubernetes has them."""

import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.fleet import fleet
from dashboards.learning import learning
from dashboards.pipeline import pipeline

__all__ = ["FOLDER", "IN_KUBERNETES", "RULES", "as_json", "in_kubernetes", "written"]

_HERE = Path(__file__).parent
FOLDER = _HERE / "grafana/dashboards"
RULES = _HERE / "rules/stream-rank.yml"
IN_KUBERNETES = _HERE.parent / "deploy/kubernetes/prometheusrule.yaml"


def as_json(board: Dashboard) -> str:
    """As it is committed."""
    return JSONEncoder(sort_keys=True, indent=2).encode(board) + "\n"


def written() -> dict[str, str]:
    """The content of all files, by name."""
    boards = {"learning": learning(), "pipeline": pipeline(), "fleet": fleet()}
    return {f"{name}.json": as_json(board) for name, board in boards.items()}


def in_kubernetes() -> str:
    """The rules, as the Prometheus operator reads them."""
    head = "# Written by `make dashboards`, of dashboards/rules/stream-rank.yml.\n"
    kind = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: stream-rank\n"
    groups = RULES.read_text().partition("\ngroups:\n")[2]
    indented = "".join(f"  {line}".rstrip() + "\n" for line in groups.splitlines())
    return f"{head}{kind}spec:\n  groups:\n{indented}"


if __name__ == "__main__":
    for name, content in written().items():
        (FOLDER / name).write_text(content)
        panels = len([each for each in json.loads(content)["panels"] if each["type"] != "row"])
        print(f"{FOLDER / name}: {panels} panels")
    IN_KUBERNETES.write_text(in_kubernetes())
