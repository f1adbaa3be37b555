"""What learners become, and what they lose on the way, is what was recorded: to the bit, however the stream is cut."""

import json
from pathlib import Path

import pytest

from stream_rank.learners.catalogue import LEARNERS
from tests.recorded.table import NAMES, RECORDED, computed, recorded, written
from tests.recorded.variants import CLASSES
from tests.recorded.ways import difference

pytestmark = pytest.mark.long(40)

_SHOWN = 40


@pytest.mark.parametrize("name", NAMES)
def test_nothing_changed(name: str, tmp_path: Path) -> None:
    row, quarrels = computed(name, tmp_path)
    changed = difference(recorded()[name], json.loads(json.dumps(row)), name)
    found = [*quarrels, *changed]
    if found:
        shown = "\n".join(found[:_SHOWN])
        pytest.fail(
            f"{len(quarrels)} differences between ways that must give the same, {len(changed)} from {RECORDED.name} "
            f"(after a change that is meant: python -m tests.recorded.record):\n{shown}",
            pytrace=False,
        )


def test_every_learner_is_there() -> None:
    assert CLASSES == LEARNERS
    assert [*recorded()] == NAMES
    assert RECORDED.read_text() == written(recorded())
