"""The part of a report about a fixed rule that was found with all events at hand."""

from collections.abc import Mapping
from html import escape
from typing import Any

from stream_rank.evaluation.hindsight import in_hindsight
from stream_rank.report.verdict import number

__all__ = ["hindsight"]


def hindsight(found: Mapping[str, Any]) -> str:
    """The section; nothing if nobody asked."""
    if not found:
        return ""
    parts = [
        f"<p>{escape(sentence)}</p>" for sentence in in_hindsight(found) if "Regret" not in sentence
    ]
    for each in found.values():
        if isinstance(each, Mapping) and "regret" in each:
            rows = "".join(
                f"<tr><td>{escape(name)}</td><td>{number(each['loss'] + regret)}</td><td>{number(each['loss'])}</td><td>{number(regret)}</td></tr>"
                for name, regret in each["regret"].items()
            )
            titles = ("learner", "lost on its way", f"{escape(each['method'])}, fixed", "regret")
            head = "".join(f"<th>{title}</th>" for title in titles)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    return (
        f"<h2>In hindsight</h2>{''.join(parts)}"
        '<p class="note">A learner has to predict every event before it knows its label. The fixed rule is one of weighted features that was '
        "fitted to all events, and is measured on the same ones: what is lost beyond it, an event, is the <b>regret</b>. Of scores no such rule has a "
        "smaller loss; of ranks and preferences it has the least logarithmic loss, since nobody can find the least error in time. A learner that bends its "
        "rule (waves, kernels, products) or follows a drift may have a regret below 0.</p>"
    )
