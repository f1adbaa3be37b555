"""The README: its tables, and its examples."""

import re
from pathlib import Path

import pytest

from simulators.readme import put_between
from tests.benchmarks.headlines import rows, shown

README = Path(__file__).parents[1] / "README.md"
RESULTS = Path(__file__).parent / "benchmarks/RESULTS.md"


def test_text_between_marks_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file.md"
    file.write_text("a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\n<!-- end -->\n")
    put_between(file, "x", "new")
    put_between(file, "y", "other")
    expected = "a\n<!-- x -->\nnew\n<!-- end -->\nb\n<!-- y -->\nother\n<!-- end -->\n"
    assert file.read_text() == expected
    with pytest.raises(ValueError, match="has no lines <!-- z -->"):
        put_between(file, "z", "")


def test_results_say_what_is_not_met() -> None:
    found = list(rows(RESULTS))
    assert len(found) > 50
    for what, _, _, ratio, least in found:
        asked, _, said = least.partition(", ")
        assert (said == "not met") == (bool(asked) and float(ratio) < float(asked)), what


def test_the_readme_shows_rows_of_the_results() -> None:
    shown_there = README.read_text().partition("<!-- made by make bench -->\n")[2]
    assert shown_there.partition("\n<!-- end -->")[0] == shown(RESULTS)


def test_the_readmes_examples_run() -> None:
    programs = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    for program in programs:
        exec(program, names)
    assert "RankLoss" in repr(names["loss"])
    assert "MSD" in repr(names["difference"])
