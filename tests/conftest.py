"""What all tests share."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY))

hypothesis.settings.register_profile("ours", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("ours")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI installs the tools, a test that is skipped for want of one has failed."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
