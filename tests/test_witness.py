"""That failures show what daemons had to say."""

import os
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

_DAEMON = """
import http.server

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"learned": 17}')

server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
print('{"http": "http://127.0.0.1:%d"}' % server.server_port, flush=True)
server.serve_forever()
"""
_TESTS = """
import subprocess, sys, time
import pytest
from tests.witness import Witness

@pytest.fixture
def witness(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, {daemon!r}], stdout=log)
    yield Witness(tmp_path / "log", process)
    process.kill()
    process.wait()

def asked(witness):
    while witness.url is None:
        time.sleep(0.01)
    witness.look()

def test_that_passes(witness):
    asked(witness)

def test_without_a_daemon():
    assert not "well"

def test_that_fails(witness):
    while witness.url is None:
        time.sleep(0.01)
    assert not "good"

def test_whose_daemon_is_gone(witness):
    asked(witness)
    witness._process.kill()
    witness._process.wait()
    assert not "better"
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said of some tests."""
    folder = tmp_path_factory.mktemp("witness")
    (folder / "daemon.py").write_text(_DAEMON)
    (folder / "test_it.py").write_text(
        _TESTS.replace("{daemon!r}", repr(str(folder / "daemon.py")))
    )
    ini = folder / "pytest.ini"
    ini.write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ini, "-p", "tests.witness", "-p", "no:cacheprovider", folder],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=120,
    )  # fmt: skip
    assert "3 failed, 1 passed" in done.stdout, done.stdout
    return done.stdout


@pytest.mark.parametrize("name", ["test_that_fails", "test_whose_daemon_is_gone"])
def test_a_failure_shows_log_and_status(failed: str, name: str) -> None:
    about = _about(failed, name)
    assert "daemon log: " in about
    assert ("ended with -9" in about) == ("gone" in name)
    assert '{"http": "http://127.0.0.1:' in about
    assert "daemon /status" in about
    assert '{"learned": 17}' in about


def test_what_other_tests_ran_is_not_shown(failed: str) -> None:
    assert "daemon log" not in _about(failed, "test_without_a_daemon")


def _about(failed: str, name: str) -> str:
    """What is said of one test."""
    return failed.partition(f" {name} __")[2].partition("\n____")[0].partition("\n====")[0]


def test_the_status_is_said_where_it_took_too_long() -> None:
    from tests.daemon.conftest import Daemon

    daemon = Daemon.__new__(Daemon)
    daemon.process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    daemon.status = lambda: {"learned": 17}  # type: ignore[method-assign]
    with daemon.process, pytest.raises(AssertionError, match=r"too long.*'learned': 17"):
        daemon.learned(18, seconds=0.1)
