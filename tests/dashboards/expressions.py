"""What expressions are about: the series in them, and how they are asked without a Grafana."""

import re
from typing import Any

__all__ = ["as_truth", "names", "said_by", "targets", "with_values", "word_for"]

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


def said_by(panel: dict[str, Any], found: list[dict[str, Any]]) -> str:
    """What a panel of the first row says, of what its expression gave."""
    if panel["options"]["textMode"] == "name":
        return ", ".join(sorted(each["metric"]["name"] for each in found))
    if not found:
        return str(panel["fieldConfig"]["defaults"]["noValue"])
    return word_for(panel, float(found[0]["value"][1]))


def word_for(panel: dict[str, Any], number: float) -> str:
    """The word for a number."""
    said: str = next(
        each["options"]["result"]["text"]
        for each in panel["fieldConfig"]["defaults"]["mappings"]
        if each["options"]["from"] <= number <= each["options"]["to"]
    )
    return said
