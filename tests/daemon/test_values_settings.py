"""Settings of what the values of messages are, and what is brought back by them."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from stream_rank.cli.redrive import is_event
from stream_rank.config.daemon import DaemonConfig, DeadLettersConfig
from stream_rank.config.gather import gather
from stream_rank.config.replay import ReplayConfig
from stream_rank.config.rollback import RollbackConfig
from stream_rank.config.settings import Settings
from stream_rank.errors import ConfigError, InputError
from stream_rank.monitoring.logs import Redaction
from tests.ingest.avro.registry import tiny_registry
from tests.ingest.avro.strategies import encoded

URL = "http://registry:8081"
EVENT: Any = {"type": "record", "name": "Event", "fields": [
    {"name": "x", "type": {"type": "map", "values": "double"}}, {"name": "y", "type": "int"},
]}  # fmt: skip
VALUE = encoded(EVENT, {"x": {"a": 1.5}, "y": 2})


def config(**given: Any) -> DeadLettersConfig:
    return DeadLettersConfig.model_validate(given)


@pytest.mark.parametrize(("given", "words"), [
    ({"value_format": "avro"}, "needs a `schema_registry`, or an `avro_schema`"),
    ({"value_format": "avro", "schema_registry": URL, "avro_schema": "a"}, "and not both"),
    ({"value_format": "avro-unframed"}, "needs an `avro_schema`"),
    ({"value_format": "avro-unframed", "avro_schema": "a", "schema_registry": URL}, "and no registry"),
    ({"schema_registry": URL}, "need `value_format` avro"), ({"avro_schema": "a"}, "need `value_format` avro"),
    ({"value_format": "avro", "avro_schema": "a", "schema_registry_login": "a:b"}, "needs a `schema_registry`"),
    ({"value_format": "avro", "schema_registry": URL, "schema_registry_login": "s3cret"}, "a login is USER:PASSWORD"),
    ({"value_format": "avro", "schema_registry": "registry:8081"}, "is no URL such as http://registry:8081"),
    ({"value_format": "avro", "schema_registry": "file:///etc/passwd"}, "is no URL"),
    ({"value_format": "avro", "schema_registry": "http://[::1"}, "is no URL"),
    ({"value_format": "avro", "schema_registry": "http://a/?b=c"}, "is no URL"),
    ({"value_format": "avro", "schema_registry": "http://ann:s3cret@registry"}, "credentials in a URL can be seen"),
])  # fmt: skip
def test_what_cannot_be_meant(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        config(**given)


def test_a_login_is_shown_nowhere() -> None:
    variables = {"STREAM_RANK_SCHEMA_REGISTRY_LOGIN": "ann:s3cret"}
    found = gather(
        DeadLettersConfig, {"value_format": "avro", "schema_registry": URL}, None, variables
    )
    assert found.registry_login == "ann:s3cret"
    assert "s3cret" not in json.dumps(found.shown())
    for login in ("s3cret", ["s3cret"]):
        with pytest.raises(ConfigError) as caught:
            gather(DeadLettersConfig, {"schema_registry_login": login}, None, {})
        assert "s3cret" not in str(caught.value)


def test_a_login_is_hidden_in_all_its_forms() -> None:
    found = config(value_format="avro", schema_registry=URL, schema_registry_login="ann:s3cret:é")
    hidden = Redaction(found.registry_secrets).hidden
    sent = base64.b64encode("ann:s3cret:é".encode()).decode()
    for text in ("ann:s3cret:é", "s3cret:é", f"Basic {sent}", json.dumps("s3cret:é")[1:-1]):
        said = hidden(f"it says {text} here")
        assert said in ("it says *** here", "it says Basic *** here")
    assert config().registry_secrets == ()
    empty = config(value_format="avro", schema_registry=URL, schema_registry_login="ann:")
    assert "" not in empty.registry_secrets


@pytest.mark.parametrize(
    "url",
    [
        "ftp://u:s3cret@host/run",
        "simplecache::ftp://u:s3cret@host/run",
        "s3://key:s3cret@bucket",
        "sftp://:s3cret@h/x",
    ],
)
@pytest.mark.parametrize(
    ("model", "needed"),
    [
        (DaemonConfig, {"topics": ["t"], "n_ranks": 5}),
        (ReplayConfig, {"inputs": ["f"], "n_ranks": 5}),
        (RollbackConfig, {}),
    ],
)
def test_a_place_of_snapshots_has_no_password(
    model: type[Settings], needed: dict[str, Any], url: str
) -> None:
    with pytest.raises(ConfigError, match="credentials in a URL can be seen") as caught:
        gather(model, {"out": "o", "snapshots": url} | needed, None, {})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket/a:b@c",
        "abfs://container@account/run",
        "ftp://ann@host/run",
        "a:b@c",
        "http://h:80/x@y",
    ],
)
def test_other_places_of_snapshots_are_taken(url: str) -> None:
    assert gather(RollbackConfig, {"out": "o", "snapshots": url}, None, {}).snapshots == url


def test_a_file_has_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "event.avsc"
    path.write_text(json.dumps(EVENT))
    bare = config(value_format="avro-unframed", avro_schema=path).values()
    framed = config(value_format="avro", avro_schema=path).values()
    assert bare is not None
    assert framed is not None
    framed.prepare([b"\0\0\0\0\7" + VALUE])
    bare.prepare([VALUE])
    assert bare.json(VALUE) == framed.json(b"\0\0\0\0\7" + VALUE) == b'{"x":{"a":1.5},"y":2}'
    for text in (None, "{", '{"type": "nothing"}'):
        if text is not None:
            path.write_text(text)
        with pytest.raises(InputError, match="cannot be read"):
            config(value_format="avro", avro_schema=path if text else tmp_path / "none").values()


def test_without_fastavro_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastavro", None)
    for name in [name for name in sys.modules if name.startswith("stream_rank.ingest.avro")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        ConfigError, match=r"Avro needs fastavro: pip install 'stream-rank\[avro\]'"
    ):
        config(value_format="avro", schema_registry=URL).values()


def test_dead_letters_are_brought_back_that_can_be_read_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with tiny_registry() as tiny:
        given = config(value_format="avro", schema_registry=tiny.url)
        letter = b"\0\0\0\0\7" + VALUE
        assert not is_event(letter, [], given.form(), given.values())
        tiny.put(7, EVENT)
        assert is_event(letter, [], given.form(), given.values())
        assert not is_event(letter[:-1], [], given.form(), given.values())
    assert not is_event(letter, [], given.form(), given.values())  # the registry is away
    assert "cannot be reached" in capsys.readouterr().err
    events = config(envelope="cloudevents")
    binary = [("ce_specversion", b"1.0"), ("ce_id", b"A-1")]
    value = b'{"x": {"a": 1}, "y": 2}'
    assert is_event(value, binary, events.form(), None)
    assert not is_event(value, [], events.form(), None)
    assert not is_event(value[:-1], binary, events.form(), None)
