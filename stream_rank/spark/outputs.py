"""What comes out of shards: rows of several kinds in one DataFrame, and each kind as a DataFrame of its own."""

import json
from typing import Any

import pyarrow as pa

from stream_rank.runtime.summary import as_json
from stream_rank.spark.shard import Outcome, Shard

__all__ = [
    "ARROW",
    "COUNTS",
    "OUTPUT",
    "PREDICTION",
    "REJECT",
    "SCOREBOARD",
    "STATE",
    "predictions",
    "rejects",
    "rows_of",
    "scoreboards",
    "states",
]

_COLUMNS = {
    "kind": "string",
    "shard": "string",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "reason": "string",
    "category": "string",
    "raw": "binary",
    "learner": "string",
    "id": "string",
    "value": "double",
    "terms": "double",
    "content": "string",
    "state": "binary",
    "records": "bigint",
    "learned": "bigint",
    "requests": "bigint",
    "rejected": "bigint",
    "skipped": "bigint",
    "repeated": "bigint",
}
OUTPUT = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
"""The columns of what comes out, as Spark writes them. What a kind has not is null."""
_TYPES = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "binary": pa.binary(),
}
ARROW = pa.schema([(name, _TYPES[kind]) for name, kind in _COLUMNS.items()])
"""The same, as Arrow has them."""
STATE, REJECT, PREDICTION, SCOREBOARD = "state", "reject", "prediction", "scoreboard"
"""The kinds."""
COUNTS = "records", "learned", "requests", "rejected", "skipped", "repeated"


def rows_of(name: str, shard: Shard | None, outcome: Outcome, state: bytes | None) -> Any:
    """What a portion came to, as a frame of pandas with the columns of `OUTPUT`; without a shard, as long as more is to come."""
    import pandas as pd

    rows = [] if shard is None else _rows_of_shard(shard, outcome, state)
    for reject in outcome.rejects:
        row = {"kind": REJECT, "reason": reject.reason, "category": reject.kind, "raw": reject.raw}
        if reject.origin is not None:
            partition, offset = reject.origin
            row |= {"topic": partition.topic, "partition": partition.number, "offset": offset}
        rows.append(row)
    for prediction in outcome.predictions:
        ident = None if prediction.id is None else str(prediction.id)
        rows += [
            {"kind": PREDICTION, "learner": learner, "id": ident, **_predicted(value)}
            for learner, value in prediction.values.items()
        ]
    columns = {column: [row.get(column) for row in rows] for column in _COLUMNS}
    columns["shard"] = [name] * len(rows)
    return pd.DataFrame({key: pd.Series(each, dtype=object) for key, each in columns.items()})


def _predicted(value: float | str | None) -> dict[str, Any]:
    """A predicted number, or a label that is text: a column has one type."""
    return {"content": value} if isinstance(value, str) else {"value": value}


def _rows_of_shard(shard: Shard, outcome: Outcome, state: bytes | None) -> list[dict[str, Any]]:
    counts = {each: getattr(outcome, each) for each in COUNTS}
    position = json.dumps(shard.position.to_json())
    boards = [
        {
            "kind": SCOREBOARD,
            "learner": learner,
            "content": as_json(losses),
            **dict(zip(("value", "terms"), outcome.losses.get(learner, (0.0, 0.0)), strict=True)),
        }
        for learner, losses in shard.scoreboards.items()
    ]
    return [{"kind": STATE, "content": position, "state": state, **counts}, *boards]


def _only(output: Any, kind: str, *columns: str) -> Any:
    return output.where(output.kind == kind).select("shard", *columns)


def states(output: Any) -> Any:
    """Of every shard that had records: its state, as the bytes of a snapshot, its position in `content`, and what was counted."""
    return _only(output, STATE, "state", "content", *COUNTS)


def rejects(output: Any) -> Any:
    """The records that could not be learned from, and where they were."""
    return _only(output, REJECT, "topic", "partition", "offset", "reason", "category", "raw")


def predictions(output: Any) -> Any:
    """The predictions of requests, a row for each learner: numbers in `value`, and in `content` labels that are text."""
    return _only(output, PREDICTION, "id", "learner", "value", "content")


def scoreboards(output: Any) -> Any:
    """The losses so far of every shard that had records, and learner, as JSON in `content`; of its last records, the sum in `value` and the
    number of its terms."""
    return _only(output, SCOREBOARD, "learner", "content", "value", "terms")
