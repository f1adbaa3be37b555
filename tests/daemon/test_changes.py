"""A daemon goes on with other learners and more topics."""

from pathlib import Path
from typing import Any

import pytest

from tests.daemon.conftest import Broker, Daemon, Topic
from tests.daemon.test_rollback import events


@pytest.mark.long(40)
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_another_champion_a_challenger_and_a_topic(
    client: str, kafka: Broker, tmp_path: Path
) -> None:
    topic, other = Topic(kafka), Topic(kafka)
    topic.send(events(200))
    other.send(events(100))
    group: dict[str, Any] = {"group_id": f"group-{topic.name}", "client": client}
    with Daemon(
        tmp_path, [topic.name], topic.address, learners=["prank", "oap-bpm:n_members=5"], **group
    ) as daemon:
        before = daemon.learned(200)["learners"]
        assert daemon.end() == 0
    now = ["oap-bpm:n_members=5", "widrow-hoff", "prank"]
    with Daemon(tmp_path, [topic.name, other.name], topic.address, learners=now, **group) as daemon:
        status = daemon.learned(300)
        assert status["position"] == {topic.name: {"0": 200}, other.name: {"0": 100}}
        assert list(status["learners"]) == now
        events_of = {
            name: (each["since"], each["events"]) for name, each in status["learners"].items()
        }
        assert events_of == {now[0]: (0, 300), now[1]: (200, 100), now[2]: (0, 300)}
        metrics = daemon.get("/metrics")[1]
        for name, role in zip(now, ("champion", "challenger", "challenger"), strict=True):
            assert (
                f'stream_rank_learner_info{{learner="{name}",loss="rank",role="{role}"}} 1.0'
                in metrics
            )
        assert daemon.said("widrow-hoff joins here")
        assert daemon.said(f"the champion is {now[0]}, which was prank")
        assert daemon.end() == 0
    assert before["prank"]["events"] == 200
    with Daemon(tmp_path, [other.name], topic.address, learners=now[1:], **group) as daemon:
        status = daemon.until(lambda status: status["assigned"])
        assert status["learned"] == 300
        assert status["learners"]["widrow-hoff"]["since"] == 200
        assert status["position"][topic.name] == {"0": 200}  # where it would go on
