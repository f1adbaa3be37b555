"""One driver that does several things one after the other, since it takes seconds to start one; `test_tour.py` looks at what became of it.

`python -m tests.spark.tour FOLDER TOPIC BROKERS`, with the history of the topic in `FOLDER/history.parquet`.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from simulators.maven import fetched
from stream_rank.errors import StreamRankError
from stream_rank.spark.learn import learn
from stream_rank.spark.outputs import predictions, rejects, scoreboards, states
from stream_rank.spark.publisher import Publisher
from stream_rank.spark.query import ended
from stream_rank.spark.session import of_topics, session
from tests.spark.driver import QUIET
from tests.spark.test_by_partition import LEARNERS


def main(folder: Path, topic: str, brokers: str) -> None:
    jars = ",".join(str(each) for each in fetched("spark").glob("*.jar"))
    spark = session({"spark.jars": jars, "spark.master": "local[1]", **QUIET})
    said: dict[str, Any] = {}

    # from history to live
    history = spark.read.parquet(str(folder / "history.parquet"))
    given: dict[str, Any] = {"n_ranks": 5}
    Publisher(str(folder / "past"))(learn(history, LEARNERS, **given), 0)
    live = of_topics(spark, [topic], brokers, max_offsets=6_000)
    begun = learn(live, LEARNERS, begin_with=str(folder / "past"), **given)

    def run(output: Any, publish: Any, name: str) -> str:
        writer = output.writeStream.foreachBatch(publish).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(folder / name)).start()
        try:
            ended(query)
        except StreamRankError as error:
            return str(error)
        return ""

    said["live"] = run(begun, Publisher(str(folder / "live")), "live-checkpoint")
    # nothing is new, and nothing is learned: the state is refused when the next record comes
    said["again"] = run(begun, Publisher(str(folder / "live")), "live-checkpoint")

    # by key, each group in the partition that it is in
    found: dict[str, list[Any]] = {"states": [], "rejects": [], "predictions": [], "boards": []}

    def keep(output: Any, batch: int) -> None:
        output.persist()
        for row in states(output).collect():
            path = folder / "groups" / f"{row.shard or 'none'}.safetensors"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes(row.state))
            found["states"].append([batch, row.shard, row.records, row.repeated])
        found["rejects"] += [[r.topic, r.partition, r.offset] for r in rejects(output).collect()]
        found["predictions"] += [[r.id, r.learner] for r in predictions(output).collect()]
        found["boards"] += [[r.shard, r.terms] for r in scoreboards(output).collect()]

    keyed = learn(live, LEARNERS[0], by="group", shows_states=True, **given)
    said["groups"] = run(keyed, keep, "groups-checkpoint")
    said["found"] = found

    # another learner on the same checkpoint, which has records to learn if what was committed last is taken back
    for each in ("commits", "offsets"):
        logged = folder / "groups-checkpoint" / each
        last = max((path.name for path in logged.glob("[0-9]*")), key=int)
        for name in (last, f".{last}.crc"):
            (logged / name).unlink()
    other = learn(live, "raw | prank", by="group", **given)
    said["refused"] = run(other, lambda output, batch: output.count(), "groups-checkpoint")

    # keys that come no more are forgotten
    brief = learn(live, "raw | prank", by="group", expiry_seconds=1, **given)
    writer = brief.writeStream.foreachBatch(lambda output, batch: output.count())
    writer = writer.option("checkpointLocation", str(folder / "brief-checkpoint"))
    query, rows = writer.trigger(processingTime="500 milliseconds").start(), [0]
    until = time.monotonic() + 300
    while (max(rows) == 0 or rows[-1] > 0) and time.monotonic() < until:
        told = query.lastProgress
        if told is not None and told["stateOperators"]:
            rows.append(told["stateOperators"][0]["numRowsTotal"])
        time.sleep(0.2)
    query.stop()
    said["brief"] = [max(rows), rows[-1]]

    # a table without offsets, whose columns are the event
    table = spark.createDataFrame(
        [(3, 2.0, 3, "b"), (1, 1.0, 2, "a"), (2, -1.0, 1, "a")],
        "ts bigint, size double, y int, group string",
    )
    output: list[Any] = learn(
        table, "raw | prank", by="group", shows_states=True, **given
    ).collect()
    kept = [each for each in output if each.kind == "state"]
    said["table"] = sorted([each.shard, each.records, each.learned] for each in kept)
    (folder / "said.json").write_text(json.dumps(said))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
