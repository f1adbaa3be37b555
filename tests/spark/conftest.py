"""Streams in portions, and what a replay makes of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from stream_rank.checkpoint.model_file import open_snapshot
from stream_rank.checkpoint.snapshot import Snapshot, unpack
from stream_rank.config.replay import ReplayConfig
from stream_rank.ingest.kafka.port import Partition
from stream_rank.learners.base.state import digest_of
from stream_rank.runtime.replay import Replay
from stream_rank.spark.portion import Portion

PARTITION = Partition("ratings", 3)


def parts_of(state: Snapshot | bytes) -> dict[str, str]:
    """The digest of every part of a run, but for where its records were: a replay reads files."""
    snapshot = unpack(state) if isinstance(state, bytes) else state
    found = {}
    for key in snapshot.keys:
        metadata, arrays = snapshot.part(key)
        found[key] = digest_of({k: v for k, v in metadata.items() if k != "position"}, arrays)
    return found


def replayed(folder: Path, lines: Sequence[bytes], **settings: Any) -> dict[str, str]:
    """The same of a replay of these lines."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    given = {"inputs": [str(folder / "events.jsonl")], "out": folder / "run", **settings}
    with Replay(ReplayConfig.model_validate(given), lambda _: None) as replay:
        replay.run()
    return parts_of(open_snapshot(str(folder / "run")))


def portion(lines: Sequence[bytes], offsets: Sequence[int]) -> Portion:
    """The records at these offsets of one partition."""
    return Portion.of(PARTITION, offsets, [lines[offset] for offset in offsets])


def ratings(count: int, seed: int = 1, width: int = 6, groups: int = 0) -> list[bytes]:
    """Ratings of some numbers, as JSON."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, width)).round(3)
    y = np.clip(np.rint(X[:, :3].sum(1) + 3 + random.normal(size=count) / 2), 1, 5).astype(int)
    named = Random(seed)
    lines = []
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        event: dict[str, Any] = {"x": {f"f{j}": value for j, value in enumerate(x)}, "y": label}
        if groups:
            event["group"] = f"g{named.randrange(groups)}"
        lines.append(json.dumps(event).encode())
    return lines
