"""What other people's producers send, each by its own means, is learned from the real broker."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from simulators.broker import jars
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.daemon.apicurio import Apicurio
from tests.daemon.conftest import Broker, Daemon, Topic
from tests.daemon.test_dead_letters import everything
from tests.fetched import fetched
from tests.ingest.avro.strategies import encoded
from tests.ingest.kafka.conftest import create, fresh_name

pytestmark = pytest.mark.long(60)

LINES = [json.dumps({"x": {"price": i / 7, "brand": "änn"}, "y": i % 5 + 1}) for i in range(100)]
NODE = """
const { Kafka, logLevel } = require('kafkajs');
const [, , brokers, topic] = process.argv;
const producer = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.ERROR }).producer();
const lines = require('fs').readFileSync(0, 'utf8').split('\\n').filter(Boolean);
const messages = lines.map(line => JSON.parse(line));
producer.connect().then(() => producer.send({ topic, messages })).then(() => producer.disconnect());
"""


def by_node(topic: Topic, messages: list[dict[str, Any]]) -> None:
    """Send messages (key, value, headers, all of them text) by kafkajs."""
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    folder = fetched(
        "kafkajs-2.2.4",
        ["npm", "install", "--no-audit", "--no-fund", "--prefix", ".", "kafkajs@2.2.4"],
    )
    given = "\n".join(map(json.dumps, messages))
    program = folder / "send.js"
    program.write_text(NODE)
    command = ["node", str(program), topic.address, topic.name]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_console_producer_of_java_and_a_client_of_node(kafka: Broker, tmp_path: Path) -> None:
    java, node = Topic(kafka), Topic(kafka)
    command = [
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{jars()}/*",
        "org.apache.kafka.tools.ConsoleProducer",
    ]
    command += ["--bootstrap-server", java.address, "--topic", java.name]
    text = "".join(line + "\n" for line in LINES)
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    by_node(node, [{"key": "ann", "value": line, "headers": {"trace": "1"}} for line in LINES])
    with Daemon(tmp_path, [java.name, node.name], java.address) as daemon:
        status = daemon.learned(200)
        assert status["rejects"] == 0
        assert daemon.end() == 0


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_cloudevents_of_both_modes(client: str, kafka: Broker, tmp_path: Path) -> None:
    """As the protocol binding for Kafka has them, by a client of Node."""
    topic, letters = Topic(kafka), fresh_name("letters")
    create(kafka.address, letters)
    messages: list[dict[str, Any]] = []
    for number, line in enumerate(LINES):
        attributes = {
            "specversion": "1.0",
            "type": "rated",
            "source": "/shop",
            "id": f"e{number}",
            "time": "2026-01-31T12:00:00Z",
        }
        binary = {f"ce_{name}": value for name, value in attributes.items()}
        binary["content-type"] = "application/json; charset=utf-8"
        if number % 2:
            messages.append({"value": line, "headers": binary})
        else:
            whole = json.dumps(
                {**attributes, "datacontenttype": "application/json", "data": json.loads(line)}
            )
            structured = {"content-type": "application/cloudevents+json; charset=UTF-8"}
            messages.append({"value": whole, "headers": structured if number % 4 else {}})
    messages += [{"value": "no", "headers": binary}, {"value": None, "headers": binary}]
    by_node(topic, messages)
    settings: dict[str, Any] = {"envelope": "cloudevents", "dead_letters": letters}
    with Daemon(tmp_path, [topic.name], topic.address, client=client, **settings) as daemon:
        status = daemon.until(lambda status: status["events"] == 102)
        assert (status["learned"], status["rejects"], status["skipped"]) == (100, 1, 1)
        assert daemon.end() == 0
    (letter,) = everything(kafka.address, letters, 1)
    assert letter.value == b"no"
    assert ("ce_id", b"e99") in [tuple(each) for each in letter.headers]


def debezium(with_schema: bool) -> list[bytes | None]:
    """What Debezium's connectors send of a table: snapshot, insert, update, deletion, tombstone."""
    source = {
        "version": "2.7.0.Final",
        "connector": "postgresql",
        "name": "shop",
        "snapshot": "true",
        "db": "shop",
        "table": "reviews",
        "lsn": 3,
    }

    def row(number: int) -> dict[str, Any]:
        return {
            "id": number,
            "stars": number % 5 + 1,
            "price": number / 7,
            "brand": "ann",
            "note": None,
        }

    def change(op: str, before: Any, after: Any) -> bytes:
        payload = {
            "before": before,
            "after": after,
            "source": source,
            "op": op,
            "ts_ms": 1_700_000_000_000,
            "transaction": None,
        }
        schema = {
            "type": "struct",
            "fields": [],
            "optional": False,
            "name": "shop.public.reviews.Envelope",
        }
        return json.dumps(
            {"schema": schema, "payload": payload} if with_schema else payload
        ).encode()

    found: list[bytes | None] = [change("r", None, row(number)) for number in range(20)]
    found += [change("c", None, row(number)) for number in range(20, 30)]
    found += [change("u", row(number), row(number + 1)) for number in range(5)]
    return [*found, change("d", row(3), None), None, change("t", None, None)]


@pytest.mark.parametrize("with_schema", [True, False])
def test_changes_of_debezium(with_schema: bool, kafka: Broker, tmp_path: Path) -> None:
    topic, messages = Topic(kafka), debezium(with_schema)
    topic.send([ProducerRecord(topic.name, value, b"k", partition=0) for value in messages])
    flags = ["--fields", "y=stars", "x=price,brand,note"]
    with Daemon(tmp_path, [topic.name], topic.address, flags, envelope="debezium") as daemon:
        status = daemon.until(lambda status: status["events"] == len(messages))
        assert (status["learned"], status["rejects"], status["skipped"]) == (35, 0, 3)
        assert daemon.end() == 0


USER = {"type": "record", "name": "shop.User", "fields": [{"name": "id", "type": "long"}]}
FIELDS = [
    {"name": "stars", "type": ["null", "int"]},
    {
        "name": "price",
        "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    },
    {"name": "brand", "type": {"type": "enum", "name": "Brand", "symbols": ["ANN", "BOB"]}},
    {"name": "user", "type": "shop.User"},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
]
REVIEW = {"type": "record", "name": "shop.Review", "fields": FIELDS}


def test_avro_by_a_registry_that_is_away_at_first(kafka: Broker, tmp_path: Path) -> None:
    topic, letters = Topic(kafka), fresh_name("letters")
    create(kafka.address, letters)
    whole = {
        **REVIEW,
        "fields": [FIELDS[0], *FIELDS[1:3], {"name": "user", "type": USER}, FIELDS[4]],
    }
    rows = [
        {
            "stars": i % 5 + 1,
            "price": Decimal(i) / 4,
            "brand": "ANN",
            "user": {"id": i},
            "at": datetime(2026, 1, 31, tzinfo=UTC),
        }
        for i in range(100)
    ]
    values = [encoded(whole, row) for row in rows]
    with Apicurio(tmp_path) as registry:
        registry.register("shop.User", USER)
        number = registry.register(f"{topic.name}-value", REVIEW, "shop.User")
        framed = [b"\0" + number.to_bytes(4, "big") + value for value in values]
        wrong = [b"\0\0\0\xff\xff" + values[0], b"{}", framed[0][:-1], framed[0] + b"\0"]
        topic.send([*framed[:50], *wrong, *framed[50:]])
        registry.freeze(True)
        flags = ["--fields", "y=stars", "x=price,brand,user.id", "ts=at", "--category", "user.id"]
        flags += ["--kafka", "max_poll_interval_ms=7000"]
        settings: dict[str, Any] = {
            "value_format": "avro",
            "schema_registry": registry.url,
            "dead_letters": letters,
        }
        with Daemon(tmp_path, [topic.name], topic.address, flags, **settings) as daemon:
            daemon.until(
                lambda _: daemon.said(f"schema registry: {registry.url} cannot be reached")
            )
            # it is away for longer than the group waits for whoever does not poll
            daemon.until(lambda _: daemon.said("Consumer poll timeout has expired"))
            status = daemon.until(lambda _: True)
            assert (status["learned"], status["rejects"]) == (0, 0)
            registry.freeze(False)
            status = daemon.until(lambda status: status["events"] == 104)
            assert (status["learned"], status["rejects"]) == (100, 4)
            assert daemon.said("schema registry: recovered after")
            assert 'stream_rank_failures_total{what="schema_registry"}' in daemon.get("/metrics")[1]
            assert daemon.end() == 0
    assert sorted(
        letter.value or b"" for letter in everything(kafka.address, letters, 4)
    ) == sorted(wrong)
