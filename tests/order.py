"""Which tests begin first, and on which worker: the longest first, so that none is left over when all others are done.

A test that is marked `long` is given to a worker by itself, so many seconds before shorter ones. All others go by files, since the
tests of a file share what they need. A file's own mark says how long its tests take together.

With `--quick`, which `make test` is, tests of a third of a minute and files of most of one are left to `make check` and CI: kills, brokers that are
ill-treated, other processors, alerts in real time.
"""

from typing import Any

import pytest

_ALONE = "alone"
_QUICK_SECONDS, _QUICK_FILE_SECONDS = 20.0, 45.0


def seconds_of(item: pytest.Item) -> float:
    """As its mark, or its file's, says."""
    mark = item.get_closest_marker("long")
    return float(mark.args[0]) if mark else 0.0


def alone(item: pytest.Item) -> bool:
    """Whether the mark is the test's own."""
    return any(mark.name == "long" for mark in item.own_markers)


def quick(item: pytest.Item) -> bool:
    """Whether it is short enough to be run all the time."""
    return seconds_of(item) < (_QUICK_SECONDS if alone(item) else _QUICK_FILE_SECONDS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort for workers; who runs tests one after the other wants them in the order of files."""
    if config.getoption("quick", False):
        left = [item for item in items if not quick(item)]
        items[:] = [item for item in items if quick(item)]
        config.hook.pytest_deselected(items=left)
    if not config.getoption("loadgroup", False):
        return
    for item in items:
        if alone(item):
            item.add_marker(pytest.mark.xdist_group(_ALONE))  # seen in its name, above the workers
    items.sort(key=lambda item: -seconds_of(item))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give out long tests, then files, in their order."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    config.option.loadscopereorder = False
    scheduling: Any = LoadGroupScheduling(config, log)
    scheduling._split_scope = _scope_of
    return scheduling


def _scope_of(name: str) -> str:
    """What is given to one worker together."""
    return name if name.endswith(f"@{_ALONE}") else name.partition("::")[0]
