"""What expressions are about: the series in them, and how they are asked without a Grafana."""

import re
from typing import Any

__all__ = ["as_truth", "names", "targets", "with_values"]

_LABELS = re.compile(r"\{[^}]*\}|\b(?:by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)")
_WORDS = {
    "and",
    "or",
    "unless",
    "bool",
    "by",
    "on",
    "ignoring",
    "without",
    "offset",
    "group_left",
    "group_right",
}


def names(expression: str) -> set[str]:
    """The series that an expression asks for."""
    bare = re.sub(r'"[^"]*"', " ", _LABELS.sub(" ", expression))
    found = set(
        re.findall(r"(?<![\w:$])[a-zA-Z_:][\w:]*(?!\w*\s*\()", re.sub(r"\[[^\]]*\]", " ", bare))
    )
    return {name for name in found if name not in _WORDS}


def targets(board: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """All queries of all panels, each with its panel's title."""
    return [
        (panel["title"], target) for panel in board["panels"] for target in panel.get("targets", ())
    ]


def with_values(expression: str, values: dict[str, str]) -> str:
    """An expression as Grafana would send it."""
    for name, value in values.items():
        expression = expression.replace(f"${name}", value)
    return expression


def as_truth(expression: str) -> str:
    """A condition, such that it says 0 where it does not hold instead of nothing; what inhibits it is left out."""
    expression = expression.partition(" unless ")[0]
    return re.sub(r"(?<=[\s)])(==|!=|>=|<=|>|<)(?!\s*bool)", r"\1 bool", expression)
