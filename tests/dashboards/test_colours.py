"""What is written on colours can be read, in both themes: contrasts as WCAG computes them, letters as Grafana chooses them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.dashboards.test_dashboards import BOARDS

_LEAST = 4.5
_LETTERS = {True: "#F7F8FA", False: "#202226"}
"""On what is dark, and on what is not: Grafana's bound is a brightness of 180."""


def channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (each / 255 for each in channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def letters_on(colour: str) -> str:
    red, green, blue = channels(colour)
    return _LETTERS[(299 * red + 587 * green + 114 * blue) / 1000 <= 180]


def backgrounds(panel: dict[str, Any]) -> Iterator[str]:
    """The colours that a panel writes on; a transparent one shows the theme's own."""
    defaults = panel["fieldConfig"]["defaults"]
    places = [defaults]
    for override in panel["fieldConfig"]["overrides"]:
        places.append({each["id"]: each["value"] for each in override["properties"]})
    for place in places:
        for mapping in place.get("mappings", ()):
            results = mapping["options"].get("result")
            for result in [results] if results else mapping["options"].values():
                yield result["color"]
        yield from (step["color"] for step in place.get("thresholds", {}).get("steps", ()))


@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_what_is_written_can_be_read(board: dict[str, Any]) -> None:
    """One colour is the same in both themes, if it is no name of Grafana's, which stand for two."""
    found = set()
    for panel in board["panels"]:
        if panel["type"] in ("stat", "table", "state-timeline"):
            found |= set(backgrounds(panel)) - {"transparent"}
    assert len(found) > 3
    for colour in found:
        assert colour.startswith("#"), colour
        assert contrast(colour, letters_on(colour)) >= _LEAST, colour


def test_what_was_seen_would_be_found() -> None:
    """Grafana's green and orange, as they are in its dark theme."""
    for seen in ("#73BF69", "#FF9830"):
        assert contrast(seen, letters_on(seen)) < _LEAST
