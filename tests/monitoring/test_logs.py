"""Logs by the standard library: forms, fields, tracebacks, and what must not be written."""

import io
import itertools
import json
import logging
from collections.abc import Iterator

import pytest

from stream_rank.monitoring.logs import ClientWarnings, Redaction, configure


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Loggers belong to the whole process."""
    names = ("stream_rank", "kafka", "confluent")
    before = {
        name: (list(logging.getLogger(name).handlers), logging.getLogger(name).propagate)
        for name in names
    }
    yield
    for name, (handlers, propagate) in before.items():
        logging.getLogger(name).handlers[:] = handlers
        logging.getLogger(name).propagate = propagate


def test_json_has_fields_and_tracebacks_without_secrets() -> None:
    out = io.StringIO()
    configure("json", ["geheim"], out)
    logger = logging.getLogger("stream_rank.somewhere")
    logger.info("started as %s", "geheim", extra={"topics": ["a", "geheim"], "records": 3})
    try:
        raise ValueError("the password geheim at kafka://me:too@host")
    except ValueError:
        logger.exception("it failed")
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first["event"] == "started as ***"
    assert (first["level"], first["logger"]) == ("info", "stream_rank.somewhere")
    assert (first["topics"], first["records"]) == (["a", "***"], 3)
    assert "ValueError: the password *** at kafka://***@host" in second["exception"]
    assert "geheim" not in out.getvalue()


def test_text_is_a_line_and_a_traceback() -> None:
    out = io.StringIO()
    configure("text", [], out)
    logging.getLogger("stream_rank").warning("lag", extra={"records": 7})
    assert out.getvalue().split(" ", 1)[1] == "warning lag  records=7\n"


@pytest.mark.parametrize("secrets", list(itertools.permutations(["abc", "abcdef", "c"])))
def test_a_secret_inside_of_another_hides_nothing_of_it(secrets: tuple[str, ...]) -> None:
    assert Redaction(secrets).hidden("x abcdef y") == "x *** y"


def test_a_host_application_has_its_own_handlers(caplog: pytest.LogCaptureFixture) -> None:
    """The package configures nothing by itself."""
    with caplog.at_level(logging.INFO):
        logging.getLogger("stream_rank.runtime.daemon").info("resumed", extra={"records": 1})
    assert [record.message for record in caplog.records] == ["resumed"]


def test_clients_may_warn_of_one_thing_once_in_a_while() -> None:
    out = io.StringIO()
    _, warnings = configure("json", [], out)
    for number in range(50):
        logging.getLogger("kafka.conn").warning("node %d is gone", number)
    logging.getLogger("kafka.conn").warning("something else")
    logging.getLogger("kafka.conn").info("not a warning")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == [
        "node 0 is gone",
        "something else",
    ]
    assert warnings.count == 51
    assert isinstance(warnings, ClientWarnings)
