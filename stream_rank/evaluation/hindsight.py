"""Sentences about what a fixed rule would have lost that was found with all events at hand."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["in_hindsight"]

_LOSSES = {"rank": "rank loss", "magnitude": "magnitude loss", "preference": "preference error"}


def in_hindsight(found: Mapping[str, Any]) -> Iterator[str]:
    """What was found, and by how much more each learner lost an event.

    >>> found = {"rank": {"method": "cumulative logit", "events": 100, "of": 900, "loss": 0.5, "regret": {"prank": 0.25, "waves": -0.1}}}
    >>> print(*in_hindsight(found), sep="\\n")
    In hindsight: cumulative logit, fixed and fitted to 100 of 900 events drawn by chance, has a rank loss of 0.5000 on them.
    Regret an event: prank 0.2500, waves -0.1000.
    """
    if "why_not" in found:
        yield f"What could have been done in hindsight is not known: {found['why_not']}."
        return
    for loss, each in found.items():
        many = f"all {each['events']:,} events"
        if each["events"] < each["of"]:
            many = f"{each['events']:,} of {each['of']:,} events drawn by chance"
        if "why_not" in each:
            yield f"In hindsight: {each['method']} could not be fitted to {many}: {each['why_not']}."
            continue
        yield (
            f"In hindsight: {each['method']}, fixed and fitted to {many}, has a {_LOSSES[loss]} of "
            f"{each['loss']:.4f} on them."
        )
        lost = (f"{name} {regret:.4f}" for name, regret in each["regret"].items())
        yield f"Regret an event: {', '.join(lost)}."
