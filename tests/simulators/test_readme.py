"""What commands put into the README, and that its example runs."""

import re
from pathlib import Path

import pytest

from simulators.__main__ import main
from simulators.readme import put_between

README = Path(__file__).parents[2] / "README.md"


def test_text_between_marks_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file.md"
    file.write_text("a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\n<!-- end -->\n")
    put_between(file, "x", "new")
    put_between(file, "y", "other")
    expected = "a\n<!-- x -->\nnew\n<!-- end -->\nb\n<!-- y -->\nother\n<!-- end -->\n"
    assert file.read_text() == expected
    with pytest.raises(ValueError, match="has no lines <!-- z -->"):
        put_between(file, "z", "")


def test_the_table_reaches_the_file(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("<!-- made by make table -->\n<!-- end -->\n")
    arguments = ["oap-table-1", "--trials", "2", "--events", "200", "--form", "explicit"]
    main([*arguments, "--readme", str(file)])
    assert "| OAPBPM τ=0.3 | 0.23 ± 0.01 |" in file.read_text()


def test_the_readmes_tables_were_made_by_their_commands() -> None:
    text = README.read_text()
    for command, head in (("make table", "| rank loss on 1000"), ("make bench", "| what |")):
        assert re.search(rf"<!-- made by {command} -->\n{re.escape(head)}", text)
    bench = text.partition("made by make bench")[2]
    for line in bench.splitlines()[3:]:
        if not line.startswith("|"):
            break
        ratio, least = (cell.strip() for cell in line.split("|")[4:6])
        assert not least or float(ratio) >= float(least), line


def test_the_readmes_example_runs() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(program, names)
    assert "RankLoss" in repr(names["loss"])
