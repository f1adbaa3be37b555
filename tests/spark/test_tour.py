"""History and live, keys, tables, and what is refused: one driver on the real broker."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ingest.kafka.conftest import Broker, kafka
from tests.spark.conftest import parts_of, ratings, replayed
from tests.spark.jobs import need_spark, published, topic_of
from tests.spark.test_by_partition import LEARNERS

__all__ = ["kafka"]

PARTITIONS = 4
GROUPS = 12


@pytest.mark.long(40)
def test_history_then_live_keys_and_tables(kafka: Broker, tmp_path: Path) -> None:
    need_spark()
    lines = ratings(8_000, groups=GROUPS)
    groups = [json.loads(line)["group"] for line in lines]
    shares = [
        [
            line
            for line, group in zip(lines, groups, strict=True)
            if int(group[1:]) % PARTITIONS == i
        ]
        for i in range(PARTITIONS)
    ]
    shares[0][7] = b"garbage"
    shares[1][9] = b'{"x": {"f0": 1.0}, "id": "u7", "group": "g1"}'
    topic = topic_of(kafka.address, shares)
    past = [
        {"topic": topic, "partition": number, "offset": offset, "value": share[offset]}
        for offset in range(500)
        for number, share in enumerate(shares)
    ]
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("value", pa.binary()),
        ]
    )
    pq.write_table(pa.Table.from_pylist(past[::-1], schema), tmp_path / "history.parquet")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.tour", tmp_path, topic, kafka.address],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said = json.loads((tmp_path / "said.json").read_text())
    assert (said["live"], said["again"], said["groups"]) == ("", "", "")

    given = {"learners": LEARNERS, "n_ranks": 5}
    live = published(tmp_path / "live")
    for number, share in enumerate(shares):
        past_ = replayed(tmp_path / f"past-{number}", share[:500], **given)
        assert published(tmp_path / "past")[f"{topic}-{number}"] == past_
        assert live[f"{topic}-{number}"] == replayed(tmp_path / f"all-{number}", share, **given)

    found = said["found"]
    assert {each[0] for each in found["states"]} == {0, 1}  # keys go on in the next trigger
    assert sum(each[2] for each in found["states"]) == len(lines)
    assert sum(each[3] for each in found["states"]) == 0
    assert found["rejects"] == [[topic, 0, 7]]
    assert found["predictions"] == [["u7", LEARNERS[0]]]
    for group in ("g0", "g5"):
        share = [
            line for line in shares[int(group[1:]) % PARTITIONS] if f'"{group}"'.encode() in line
        ]
        keyed = {"learners": LEARNERS[:1], "n_ranks": 5, "window": 100}
        state = (tmp_path / "groups" / f"{group}.safetensors").read_bytes()
        assert parts_of(state) == replayed(tmp_path / group, share, **keyed)

    assert said["brief"][0] > 0 == said["brief"][1]
    assert "the shards have `learners`" in said["refused"]
    assert said["table"] == [["a", 2, 2], ["b", 1, 1]]
