"""What all tests share."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY))

# Most tests compare a learner of a run with the bare learner in a loop: those of what learners are given by default say so.
os.environ.setdefault("STREAM_RANK_PREPARATION", "raw")
hypothesis.settings.register_profile("ours", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("ours")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Who changes something wants to know soon; `order.py` does it."""
    parser.addoption("--quick", action="store_true", help="without the longest tests")


def pytest_configure(config: pytest.Config) -> None:
    """What tests share ends with them, the longest begin first, and those that fail show what their daemons said."""
    from tests import order, shared, witness

    for plugin in (order, shared, witness):
        config.pluginmanager.register(plugin)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Twice as many as there are processors: daemons and brokers are waited for half of the time, but for soaks."""
    processors = os.cpu_count() or 1
    return processors if os.environ.get("SOAK") else 2 * processors


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing that is imported is garbage: a twelfth of the time of each worker's imports was looking for some."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(autouse=True, scope="module")
def little_to_look_through() -> None:
    """What was imported and compiled before is no garbage: half of the time of River's checks was looking through it.

    Garbage that is there is collected first, so that nothing is kept that would have been complained about.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI installs the tools, a test that is skipped for want of one has failed.

    Data for research cannot be installed: its licence lets nobody give it on.
    """
    report = yield
    no_data = "research data" in str(report.longrepr)
    if os.environ.get("CI") and report.skipped and not (hasattr(report, "wasxfail") or no_data):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


def research_data(name: str) -> Path:
    """A file of data that may be used for research, below `RESEARCH_DATA` or beside the repository."""
    folder = Path(os.environ.get("RESEARCH_DATA", REPOSITORY.parent / "shared/data"))
    if not (folder / name).is_file():
        pytest.skip(f"research data {name} is not in {folder.name}; RESEARCH_DATA says where it is")
    return folder / name
