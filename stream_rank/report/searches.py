"""The part of a report about searches over parameters."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from stream_rank.report.verdict import number

__all__ = ["searches"]


def searches(found: Sequence[Mapping[str, Any]]) -> str:
    """The section; nothing if nothing was searched for."""
    parts = []
    for each in found:
        rows = [(name, "rides on", "–") for name in each["left"]]
        rows += [
            (gone["name"], f"gone after {gone['after']:,} events", number(gone["loss"]))
            for gone in reversed(each["dropped"])
        ]
        cells = "".join(
            f"<tr><td>{escape(name)}</td><td>{when}</td><td>{loss}</td></tr>"
            for name, when, loss in rows
        )
        parts.append(
            f"<h3>{escape(each['search'])}</h3><table><thead><tr><th>candidate</th><th></th>"
            f"<th>loss then</th></tr></thead><tbody>{cells}</tbody></table>"
        )
    if not parts:
        return ""
    return (
        f"<h2>What was searched for</h2>{''.join(parts)}"
        '<p class="note">All candidates begin on the same stream. After 2,000 events the worse half of them goes, after 4,000 the worse half '
        "of the others, and so on; the loss is that on the later half of the stream until then.</p>"
    )
