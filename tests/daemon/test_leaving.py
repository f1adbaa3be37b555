"""What leaves is sent when it is known, not when the next snapshot is taken: somebody waits for it."""

import json
from pathlib import Path

import pytest

from stream_rank.ingest.kafka.clients import consumer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import Subscription
from tests.daemon.conftest import Broker, Daemon, Topic
from tests.ingest.kafka.conftest import create, fresh_name, from_the_beginning, polled, wait_for


@pytest.mark.long(20)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_predictions_and_dead_letters_leave_without_a_snapshot(
    client: str, kafka: Broker, tmp_path: Path
) -> None:
    topic, predictions, letters = Topic(kafka), fresh_name("predictions"), fresh_name("letters")
    create(kafka.address, predictions)
    create(kafka.address, letters)
    both = Subscription([predictions, letters])
    reader = consumer_of("confluent", Connection((kafka.address,)), both, from_the_beginning)
    with Daemon(
        *(tmp_path, [topic.name], topic.address),
        client=client,
        snapshot_seconds=3600,
        predictions=predictions,
        dead_letters=letters,
    ) as daemon:
        daemon.until(lambda status: status["assigned"] and status["snapshot"])
        before = daemon.status()["snapshot"]
        topic.send([b'{"x": {"a": 1}, "id": "u7"}', b"no event"])
        found: dict[str, bytes | None] = {}

        def both_are_there() -> bool:
            for part in polled(reader):
                found.update(dict.fromkeys([part.partition.topic], part.values[0]))
            return len(found) == 2

        wait_for(both_are_there)
        assert json.loads(found[predictions] or b"")["id"] == "u7"
        assert found[letters] == b"no event"
        assert daemon.status()["snapshot"] == before
    reader.close(5)


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_rejects_in_a_file_are_there_without_a_snapshot(
    client: str, topic: Topic, tmp_path: Path
) -> None:
    with Daemon(
        tmp_path, [topic.name], topic.address, client=client, snapshot_seconds=3600
    ) as daemon:
        daemon.until(lambda status: status["assigned"])
        topic.send([b"no event"])
        wait_for(lambda: b"no event" in (daemon.out / "rejects.jsonl").read_bytes())
