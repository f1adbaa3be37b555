"""What row 1 of the dashboards says of what is broken, and how soon: the table in CONTRIBUTING.

`make soak` breaks everything; here is what the table is made of, and that its expectations are words that the tiles have.
"""

import os
from pathlib import Path

from simulators import tiles
from simulators.break_table import EXPECTED, Seen, as_table, in_time, write
from simulators.breaks import BREAKS

_CONTRIBUTING = Path("CONTRIBUTING.md")
_NONE: frozenset[str] = frozenset()


if os.environ.get("SOAK"):  # half an hour

    def test_every_break_is_seen_in_time(tmp_path: Path) -> None:
        file = tmp_path / "table.md"
        file.write_text(_CONTRIBUTING.read_text())
        assert write(file, 500) == 0, file.read_text()


def test_what_is_expected_can_be_said() -> None:
    """Each expectation is a word of its tile, in the word's colour."""
    said: dict[str, set[tuple[str, str]]] = {}
    for name in ("fleet", "learning", "pipeline"):
        for panel in tiles.board(name)["panels"]:
            if panel["type"] == "stat":
                for mapping in panel["fieldConfig"]["defaults"].get("mappings", ()):
                    result = mapping["options"]["result"]
                    said.setdefault(panel["title"], set()).add((result["text"], result["color"]))
    assert EXPECTED.keys() == BREAKS.keys()
    for expected in EXPECTED.values():
        for title, tile in expected.tiles.items():
            assert tuple(tile) in said[title], (title, tile)


def test_what_is_late_or_green_is_not_in_time() -> None:
    broker = EXPECTED["broker"]
    assert in_time(Seen(20.0, 25.0, _NONE, {}), broker)
    assert not in_time(Seen(20.0, 35.0, _NONE, {}), broker)
    assert not in_time(Seen(20.0, None, _NONE, {}), broker)
    assert not in_time(Seen(None, 25.0, _NONE, {}), broker)
    assert not in_time(Seen(20.0, 25.0, frozenset({"Learning"}), {}), broker)
    assert in_time(Seen(10.0, None, _NONE, {}), EXPECTED["producer"])


def test_the_table_has_a_line_for_each_break_and_is_in_contributing() -> None:
    found = {(name, "confluent"): Seen(5.0, 6.0, _NONE, {}) for name in EXPECTED}
    lines = as_table(found).splitlines()
    assert len(lines) == 2 + len(EXPECTED)
    assert lines[2] == "| the daemon is killed | Up: Down | 10 s | 5 s |"
    text = _CONTRIBUTING.read_text()
    for each in EXPECTED:
        assert f"| {BREAKS[each].what} |" in text
    assert "never" not in text.partition("live --table -->")[2].partition("<!--")[0]
