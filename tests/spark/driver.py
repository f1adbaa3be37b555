"""A driver in a process of its own, as `stream-rank spark` is one, which can be made to die while it publishes.

`python -m tests.spark.driver SETTINGS [WRITES]`: the settings as JSON; it kills itself before it writes a shard's state for the WRITES-th time.
"""

import json
import os
import signal
import sys
from pathlib import Path

from simulators.maven import fetched
from stream_rank.config.gather import gather
from stream_rank.config.spark import SparkConfig
from stream_rank.spark import kept, publisher, query, session

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


class Dying(kept.KeptShards):
    """Files of shards, whose writer is killed before one of them."""

    left = 0

    def write(self, name: str, state: bytes) -> None:
        Dying.left -= 1
        if Dying.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(name, state)


def main(given: dict[str, object], writes: int) -> None:
    if writes:
        Dying.left = writes
        vars(publisher)["KeptShards"] = Dying
    config = gather(SparkConfig, given)
    jars = ",".join(str(each) for each in fetched("spark").glob("*.jar"))
    spark = session.session({"spark.jars": jars, **QUIET, **config.spark})
    running = query.begun(config, spark)
    query.ended(running)
    progress = [json.loads(each.json) for each in running.recentProgress]
    Path(config.out, "progress.json").write_text(json.dumps(progress))
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
