"""What is published after every trigger: the state of each shard, one rule out of all, rejects and predictions."""

import json
from typing import Any

from stream_rank.checkpoint.model_file import learner_in, save
from stream_rank.checkpoint.place import file_at
from stream_rank.checkpoint.snapshot import unpack
from stream_rank.checkpoint.store import reasons
from stream_rank.config.spark import ShardConfig
from stream_rank.errors import MergeError
from stream_rank.features.average import average
from stream_rank.runtime.changes import learners_before
from stream_rank.spark.kept import KeptShards
from stream_rank.spark.outputs import COUNTS, predictions, rejects, states
from stream_rank.spark.shard import Shard

__all__ = ["Publisher", "check_rule"]


class Publisher:
    """For `foreachBatch`: writes below a URL that fsspec knows what came out of a trigger.

    ```
    OUT/shards/ratings-3.safetensors   the snapshot of a shard's run
    OUT/model.safetensors              the average of the champions of all shards, for `load`, `predict` and `begin_with`
    OUT/rejects/batch=17/              as JSON, written by Spark, which has to know the URL too; so are predictions
    OUT/published.json                 which trigger was the last, and how many shards and records there are
    ```

    Spark gives the same trigger again after a kill, with the same rows: every file is replaced as a whole, and has the same content then.
    A trigger has only the shards that had records: what others learned is what was published before, also by a job that is gone.

    Cost: what it takes to write the states, and to average all shards; those that had no records are kept in memory.
    """

    def __init__(self, url: str, *, merges: bool = True, side_outputs: bool = True) -> None:
        self.url = url.rstrip("/")
        self._kept, self._merges, self._side_outputs = KeptShards(url), merges, side_outputs
        self._models: dict[str, Any] | None = None
        self._records: dict[str, int] = {}

    def __call__(self, output: Any, batch: int) -> None:
        """Publish what came out of a trigger."""
        output.persist()
        try:
            self._publish(output, batch)
        finally:
            output.unpersist()

    def _publish(self, output: Any, batch: int) -> None:
        found = states(output).collect()
        if not found:
            return
        if self._models is None:
            self._begin()
        if self._side_outputs:
            counted = {name: sum(row[name] for row in found) for name in COUNTS}
            if counted["rejected"]:
                self._write(rejects(output), "rejects", batch)
            if counted["requests"]:
                self._write(predictions(output), "predictions", batch)
        for row in found:
            if row.state is not None:
                name, state = KeptShards.name_of(row.shard), bytes(row.state)
                self._kept.write(name, state)
                self._take(name, state)
        if self._merges and self._models:
            # by name: which shards had records in which trigger makes no difference
            save(
                average(each for _, each in sorted(self._models.items())),
                f"{self.url}/model.safetensors",
            )
        said = {
            "batch": batch,
            "shards": len(self._records),
            "records": sum(self._records.values()),
        }
        place, name = file_at(f"{self.url}/published.json")
        with reasons(self.url, "written"):
            place.write(name, json.dumps(said).encode())

    def _begin(self) -> None:
        """Take what was published before."""
        self._kept.prepare()
        self._models = {}
        for name in self._kept.names():
            state = self._kept.read(name)
            if state is not None:
                self._take(name, state)

    def _take(self, name: str, state: bytes) -> None:
        snapshot = unpack(state)
        counts = snapshot.part("progress").metadata["counts"]
        self._records[name] = sum(counts.values())
        if self._merges and self._models is not None:
            champion = learners_before(snapshot)[0]
            learner = learner_in(snapshot, champion)
            if not self._models:
                _check(champion, learner)
            self._models[name] = learner

    def _write(self, rows: Any, kind: str, batch: int) -> None:
        """Have Spark write rows, in the place of those that it wrote when it was killed."""
        rows.write.mode("overwrite").json(f"{self.url}/{kind}/batch={batch}")


def _check(name: str, learner: Any) -> None:
    try:
        average([learner])
    except MergeError as error:
        raise MergeError(
            f"{name} cannot be published as one rule ({error}): let shards be published alone, by `merge` no, or take another learner"
        ) from None


def check_rule(config: ShardConfig) -> None:
    """Raise a `MergeError` if champions of these settings have no average: before the first trigger, and not at its end."""
    snapshot = unpack(Shard(config).dump())
    champion = learners_before(snapshot)[0]
    _check(champion, learner_in(snapshot, champion))
