"""The README: its table, and its example."""

import re
from pathlib import Path

import pytest

from simulators.readme import put_between

README = Path(__file__).parents[1] / "README.md"


def test_text_between_marks_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file.md"
    file.write_text("a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\n<!-- end -->\n")
    put_between(file, "x", "new")
    put_between(file, "y", "other")
    expected = "a\n<!-- x -->\nnew\n<!-- end -->\nb\n<!-- y -->\nother\n<!-- end -->\n"
    assert file.read_text() == expected
    with pytest.raises(ValueError, match="has no lines <!-- z -->"):
        put_between(file, "z", "")


@pytest.mark.parametrize("name", ["engine", "preferences", "daemon"])
def test_the_readmes_tables_meet_what_they_ask(name: str) -> None:
    bench = README.read_text().partition(f"<!-- made by make bench: {name} -->\n")[2]
    assert bench.startswith("| what |")
    for line in bench.splitlines()[3:]:
        if not line.startswith("|"):
            break
        ratio, least = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[4:6])
        assert not least or float(ratio) >= float(least), line


def test_the_readmes_examples_run() -> None:
    programs = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    for program in programs:
        exec(program, names)
    assert "RankLoss" in repr(names["loss"])
    assert "MSD" in repr(names["difference"])
