"""`python -m dashboards`: write the JSON that Grafana is provisioned with, the links in the rules, the rules as Kubernetes has them, and the runbook as a page."""

import argparse
import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.fleet import fleet
from dashboards.learning import learning
from dashboards.links import RUNBOOK, linked
from dashboards.pipeline import pipeline
from dashboards.runbook import page

__all__ = [
    "FOLDER",
    "IN_KUBERNETES",
    "PAGE",
    "RULES",
    "TESTS",
    "as_json",
    "in_kubernetes",
    "rules",
    "runbook_page",
    "written",
]

_HERE = Path(__file__).parent
FOLDER = _HERE / "grafana/dashboards"
RULES = _HERE / "rules/stream-rank.yml"
TESTS = RULES.with_name("stream-rank_test.yml")
IN_KUBERNETES = _HERE.parent / "deploy/kubernetes/prometheusrule.yaml"
PAGE = _HERE.parent / "deploy/prometheus/assets/runbook.html"


def as_json(board: Dashboard) -> str:
    """As it is committed."""
    return JSONEncoder(sort_keys=True, indent=2).encode(board) + "\n"


def written() -> dict[str, str]:
    """The content of all files, by name."""
    boards = {"learning": learning(), "pipeline": pipeline(), "fleet": fleet()}
    return {f"{name}.json": as_json(board) for name, board in boards.items()}


def rules(runbook: str = RUNBOOK) -> dict[Path, str]:
    """The rules and their tests, with links to the panels of today."""
    boards = {board["uid"]: board for board in map(json.loads, written().values())}
    return {file: linked(file.read_text(), boards, runbook) for file in (RULES, TESTS)}


def runbook_page() -> str:
    """The runbook, as Prometheus serves it."""
    return page((_HERE.parent / "deploy/RUNBOOK.md").read_text())


def in_kubernetes() -> str:
    """The rules, as the Prometheus operator reads them."""
    head = "# Written by `make dashboards`, of dashboards/rules/stream-rank.yml.\n"
    kind = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: stream-rank\n"
    groups = RULES.read_text().partition("\ngroups:\n")[2]
    indented = "".join(f"  {line}".rstrip() + "\n" for line in groups.splitlines())
    return f"{head}{kind}spec:\n  groups:\n{indented}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dashboards", description=__doc__)
    parser.add_argument(
        "--runbook", default=RUNBOOK, help="the address of the runbook (%(default)s)"
    )
    given = parser.parse_args()
    for name, content in written().items():
        (FOLDER / name).write_text(content)
        panels = len([each for each in json.loads(content)["panels"] if each["type"] != "row"])
        print(f"{FOLDER / name}: {panels} panels")
    for file, content in rules(given.runbook).items():
        file.write_text(content)
    IN_KUBERNETES.write_text(in_kubernetes())
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(runbook_page())
