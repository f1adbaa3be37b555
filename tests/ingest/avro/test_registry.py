"""The schema registry: asked once, waited for while it is away, and believed when it knows nothing."""

import base64
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from simulators.broker import free_ports
from stream_rank.errors import EventError, RegistryError, RetriableRegistryError
from stream_rank.ingest.avro import registry
from stream_rank.ingest.avro.registry import SchemaRegistry
from stream_rank.ingest.avro.values import FramedAvro
from tests.ingest.avro.registry import TinyRegistry, tiny_registry
from tests.ingest.avro.strategies import encoded

EVENT = {"type": "record", "name": "Event", "fields": [{"name": "y", "type": "int"}]}


@pytest.fixture
def tiny() -> Iterator[TinyRegistry]:
    with tiny_registry() as registry:
        yield registry


def framed(number: int, value: Any, schema: Any = EVENT) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + encoded(schema, value)


def test_schemas_are_asked_for_once(tiny: TinyRegistry) -> None:
    tiny.put(7, EVENT)
    values = FramedAvro(SchemaRegistry(tiny.url + "/", "ann:s3cret:é"))
    for y in range(3):
        values.prepare([framed(7, {"y": y}), framed(7, {"y": y}), b"{}", b"", b"\0\0"])
        assert values.json(framed(7, {"y": y})) == b'{"y":%d}' % y
    login = "Basic " + base64.b64encode("ann:s3cret:é".encode()).decode()
    assert tiny.asked == [("/schemas/ids/7", login)]


def test_an_id_that_is_not_known_is_a_reason_and_asked_for_again_later(tiny: TinyRegistry) -> None:
    now = 0.0
    values = FramedAvro(SchemaRegistry(tiny.url, clock=lambda: now))
    value = framed(2**32 - 1, {"y": 1})
    for _ in range(3):
        values.prepare([value])
        with pytest.raises(EventError, match="schema 4294967295 of the registry is not there"):
            values.json(value)
    assert len(tiny.asked) == 1
    tiny.put(2**32 - 1, EVENT)
    now = 31.0
    values.prepare([value])
    assert values.json(value) == b'{"y":1}'


@pytest.mark.parametrize(("content", "words"), [
    ({"schema": "syntax = 'proto3'", "schemaType": "PROTOBUF"}, "schema 7 of the registry is of 'PROTOBUF'; AVRO is needed"),
    ({"schema": "{"}, "schema 7 of the registry cannot be used: an Avro schema cannot be read"),
    ({}, "schema 7 of the registry cannot be used"),
    ({"schema": '"int"', "references": [3]}, "schema 7 of the registry cannot be used"),
    ({"schema": '"int"', "references": [{"subject": "a", "version": 1}]}, "it names 'a', which is not there"),
])  # fmt: skip
def test_schemas_that_cannot_be_used_are_reasons(
    content: Any, words: str, tiny: TinyRegistry
) -> None:
    tiny.answers["/schemas/ids/7"] = 200, content
    values = FramedAvro(SchemaRegistry(tiny.url))
    values.prepare([framed(7, {"y": 1})])
    with pytest.raises(EventError, match=words):
        values.json(framed(7, {"y": 1}))


@pytest.mark.parametrize(("answer", "words"), [
    ((500, {}), "cannot answer now: 500"), ((503, b""), "cannot answer now: 503"), ((429, {}), "cannot answer now: 429"),
])  # fmt: skip
def test_what_may_pass_is_tried_again(answer: Any, words: str, tiny: TinyRegistry) -> None:
    tiny.put(7, EVENT)
    good, tiny.answers["/schemas/ids/7"] = tiny.answers["/schemas/ids/7"], answer
    values = FramedAvro(SchemaRegistry(tiny.url))
    with pytest.raises(RetriableRegistryError, match=words):
        values.prepare([framed(7, {"y": 1})])
    tiny.answers["/schemas/ids/7"] = good
    values.prepare([framed(7, {"y": 1})])
    assert values.json(framed(7, {"y": 1})) == b'{"y":1}'


def test_a_registry_that_is_away_may_come() -> None:
    (port,) = free_ports(1)
    values = FramedAvro(SchemaRegistry(f"http://127.0.0.1:{port}", "ann:s3cret"))
    with pytest.raises(RetriableRegistryError, match="cannot be reached") as caught:
        values.prepare([framed(7, {"y": 1})])
    assert "s3cret" not in str(caught.value)
    with tiny_registry(port) as tiny:
        tiny.put(7, EVENT)
        values.prepare([framed(7, {"y": 1})])
    assert values.json(framed(7, {"y": 1})) == b'{"y":1}'


@pytest.mark.parametrize(("answer", "words"), [
    ((401, {"error_code": 40101}), "refuses us.*schema_registry_login"), ((403, b""), "refuses us"),
    ((404, b"<html>no such page</html>"), "is no schema registry, it answers 404"), ((404, {"status": 404}), "is no schema registry"),
    ((400, {"error_code": 40403}), "is no schema registry"), ((200, b"<html>hello</html>"), "something else than a JSON object"),
    ((200, b"[" * 100_000), "something else than a JSON object"), ((200, [1]), "something else than a JSON object"),
])  # fmt: skip
def test_what_somebody_has_to_change_is_said(answer: Any, words: str, tiny: TinyRegistry) -> None:
    tiny.answers["/schemas/ids/7"] = answer
    values = FramedAvro(SchemaRegistry(tiny.url))
    with pytest.raises(RegistryError, match=words) as caught:
        values.prepare([framed(7, {"y": 1})])
    assert not isinstance(caught.value, RetriableRegistryError)


@pytest.mark.parametrize("answer", [
    (403, b""), (404, b"<html>no such page</html>"), (400, {}), (200, b"<html>back soon</html>"), (200, [1]),
])  # fmt: skip
def test_a_registry_that_has_answered_is_one_whatever_it_says_later(
    answer: Any, tiny: TinyRegistry
) -> None:
    tiny.put(7, EVENT)
    tiny.answers["/schemas/ids/8"] = answer
    values = FramedAvro(SchemaRegistry(tiny.url))
    values.prepare([framed(7, {"y": 1})])
    with pytest.raises(
        RetriableRegistryError, match="does not answer as a schema registry now: it"
    ):
        values.prepare([framed(8, {"y": 1})])
    tiny.put(8, EVENT)
    values.prepare([framed(8, {"y": 1})])
    assert values.json(framed(8, {"y": 1})) == b'{"y":1}'


def test_a_login_that_is_refused_later_is_for_somebody_to_change(tiny: TinyRegistry) -> None:
    tiny.answers["/schemas/ids/8"] = 401, {}
    values = FramedAvro(SchemaRegistry(tiny.url))
    values.prepare([framed(7, {"y": 1})])  # which is not there: also an answer
    with pytest.raises(RegistryError, match="refuses us") as caught:
        values.prepare([framed(8, {"y": 1})])
    assert not isinstance(caught.value, RetriableRegistryError)


def test_garbage_is_not_asked_for_without_end(tiny: TinyRegistry) -> None:
    for number in (5000, 6000):
        tiny.put(number, EVENT)
    values = FramedAvro(SchemaRegistry(tiny.url))
    garbage = [framed(number, {"y": 1}) for number in range(1000, 1250)]
    needed = [framed(6000, {"y": 1}), framed(6000, {"y": 2}), framed(5000, {"y": 1})]
    values.prepare([*garbage, *needed])
    assert len(tiny.asked) == 101
    assert values.json(needed[0]) == b'{"y":1}'  # what several values need is asked for first
    with pytest.raises(EventError, match="schema 5000 of the registry is not known"):
        values.json(needed[-1])
    for asked in (201, 252, 252):
        values.prepare([*garbage, *needed])
        assert len(tiny.asked) == asked
    assert values.json(needed[-1]) == b'{"y":1}'


@pytest.mark.parametrize(
    "begin", [b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "]
)
def test_an_answer_that_dribbles_is_none(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_ANSWER_SECONDS", 0.3)
    over = threading.Event()

    def dribble() -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.sendall(begin)
            while not over.wait(0.02):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=dribble)
        thread.start()
        values = FramedAvro(SchemaRegistry(f"http://127.0.0.1:{server.getsockname()[1]}"))
        with pytest.raises(RetriableRegistryError, match="cannot be reached: "):
            values.prepare([framed(7, {"y": 1})])
        over.set()
        thread.join()


def test_a_registry_that_is_slow_lets_others_live_in_between(
    tiny: TinyRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_FETCH_SECONDS", 0.0)
    for number in range(3):
        tiny.put(number, EVENT)
    values = FramedAvro(SchemaRegistry(tiny.url))
    some = [framed(number, {"y": 1}) for number in range(3)]
    for asked in (1, 2):
        with pytest.raises(RetriableRegistryError, match="is slow"):
            values.prepare(some)
        assert len(tiny.asked) == asked
    values.prepare(some)
    assert values.json(some[2]) == b'{"y":1}'
    # what is not there is not asked for again meanwhile, or it would never end
    now = 0.0
    values = FramedAvro(SchemaRegistry(tiny.url, clock=lambda: now))
    for asked in range(4, 8):
        with pytest.raises(RetriableRegistryError, match="is slow"):
            values.prepare([framed(number, {"y": 1}) for number in range(10, 15)])
        now += 40.0
        assert len(tiny.asked) == asked
    values.prepare([framed(number, {"y": 1}) for number in range(10, 15)])
    assert len(tiny.asked) == 8


def test_a_login_is_not_given_to_others(tiny: TinyRegistry) -> None:
    with tiny_registry() as other:
        other.put(7, EVENT)
        tiny.answers["/schemas/ids/7"] = 302, {"to": f"{other.url}/schemas/ids/7"}
        FramedAvro(SchemaRegistry(tiny.url, "ann:s3cret")).prepare([framed(7, {"y": 1})])
        assert other.asked == [("/schemas/ids/7", None)]


def test_references_are_fetched_each_before_who_names_it(tiny: TinyRegistry) -> None:
    def record(name: str, **fields: str) -> dict[str, Any]:
        of = [{"name": field, "type": kind} for field, kind in fields.items()]
        return {"type": "record", "name": name, "fields": of}

    def named(*subjects: str) -> list[dict[str, Any]]:
        return [{"name": each, "subject": each, "version": 2} for each in subjects]

    tiny.put(7, record("Event", user="User", city="City"), references=named("a/user", "city"))
    tiny.put(0, record("User", city="City"), references=named("city"))
    tiny.answers["/subjects/a%2Fuser/versions/2"] = tiny.answers.pop("/schemas/ids/0")
    tiny.put(0, record("City", code="int"), references=named("city"))  # which names itself
    tiny.answers["/subjects/city/versions/2"] = tiny.answers.pop("/schemas/ids/0")
    values = FramedAvro(SchemaRegistry(tiny.url))
    value = b"\0\0\0\0\7" + encoded("int", 5) + encoded("int", 6)
    values.prepare([value])
    assert values.json(value) == b'{"user":{"city":{"code":5}},"city":{"code":6}}'
    assert len(tiny.asked) == 3
