"""What a failing test shows of the daemons that it ran: what they logged, and what `/status` said last.

A plugin of pytest. A test that only says that it took too long leaves open whether an event was late, lost or never sent.
"""

import re
import subprocess
import urllib.request
from collections.abc import Generator
from pathlib import Path

import pytest

__all__ = ["Witness"]

_PATIENCE = 5.0
"""Seconds for a last answer."""
_MOST = 40_000
"""Characters of a log that are shown, its last."""
_WITNESSES: list["Witness"] = []
"""Of the test that runs, and of those before it whose daemons run on."""


class Witness:
    """What is known of a daemon, also when it has ended."""

    def __init__(
        self, log: Path, process: "subprocess.Popen[bytes]", url: str | None = None
    ) -> None:
        """`url` is where it answers, if that is known before it says so."""
        self.status = "it was never asked, or never answered"
        self._log, self._process, self._url = log, process, url
        _WITNESSES.append(self)

    @property
    def log(self) -> str:
        """All that the daemon said."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def url(self) -> str | None:
        """Where the daemon answers, once it has said so."""
        found = self._url is None and re.search(r'"http": "([^"]+)"', self.log)
        return found[1] if found else self._url

    @property
    def ended(self) -> bool:
        """Whether there is nobody to ask any more."""
        return self._process.poll() is not None

    def look(self) -> None:
        """Ask for the status, if somebody answers."""
        url = self.url
        if url is None or self.ended:
            return
        try:
            with urllib.request.urlopen(f"{url}/status", timeout=_PATIENCE) as answer:
                self.status = answer.read().decode()
        except OSError as error:
            self.status += f"\n(and asked once more: {error})"

    def sections(self) -> list[tuple[str, str]]:
        """What a report shows."""
        code = self._process.poll()
        how = "runs" if code is None else f"ended with {code}"
        log = self.log
        said = log if len(log) <= _MOST else f"... {log[-_MOST:]}"
        return [(f"daemon log: {self._log}, {how}", said), ("daemon /status", self.status)]


def pytest_runtest_setup() -> None:
    """Forget daemons that ended before this test began."""
    _WITNESSES[:] = [each for each in _WITNESSES if not each.ended]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what daemons have to say to the report of a failure."""
    report = yield
    if report.failed:
        for each in _WITNESSES:
            each.look()
            report.sections += each.sections()
    return report
