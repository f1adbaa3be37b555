"""Snapshots of whole runs, forged by somebody who knows the format: they are refused with a sentence, or can be gone on with."""

import copy
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import StreamRankError
from stream_rank.runtime.replay import Replay
from tests.pipeline.conftest import mixed

FORGED = 20_000 if os.environ.get("SOAK") else 120
WORDS: list[Any] = [None, True, -1, 0, 3, 2**63, 1e308, "", "x", "\0", [], [[]], [1], ["a", "a"], {}, {"a": 1}]  # fmt: skip


def settings(folder: Path, **more: Any) -> ReplayConfig:
    given = {
        "inputs": [str(folder / "events.jsonl")],
        "out": folder / "run",
        "n_ranks": 5,
        "learners": ["scale | cross:a*b | prank", "raw | online-mprank:budget=5"],
        "delay": 20,
        "min_count": 2,
        "window": 50,
        **more,
    }
    return ReplayConfig.model_validate(given)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of everything in nested JSON."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [at, *(place for key, part in inner for place in places(part, (*at, key)))]


def forged(content: Snapshot, generator: random.Random) -> Snapshot:
    """One place of the metadata, or one array, is another."""
    metadata, arrays = copy.deepcopy(content.metadata), dict(content.arrays)
    if generator.random() < 0.5:
        *way, last = generator.choice(places(metadata["parts"])[1:])
        where = metadata["parts"]
        for key in way:
            where = where[key]
        if generator.random() < 0.2:
            del where[last]
        else:
            where[last] = copy.deepcopy(generator.choice(WORDS))
        return Snapshot(metadata, arrays)
    name = generator.choice(sorted(arrays))
    array = arrays[name].copy()
    kind = generator.randrange(5)
    if kind == 0:
        del arrays[name]
        return Snapshot(metadata, arrays)
    if kind == 1:
        array = array[..., :-1] if array.size else np.zeros(3)
    elif kind == 2:
        with np.errstate(invalid="ignore", over="ignore"):  # whatever it becomes
            array = array.astype(generator.choice([np.float32, np.int8, np.float64, np.int64]))
    elif array.size:
        flat = array.reshape(-1)
        odd = [np.nan, np.inf, -1.0] if array.dtype.kind == "f" else [-1, 2**30, 127]
        if array.dtype.itemsize == 1 or array.dtype.kind == "u":
            odd = [0, 1, 127]
        flat[generator.randrange(flat.size)] = generator.choice(odd)
    arrays[name] = array
    return Snapshot(metadata, arrays)


@pytest.mark.long(60)
def test_forged_runs_are_refused_or_gone_on_with(tmp_path: Path) -> None:
    lines = mixed(300, seed=5)
    crossed = [json.dumps({"x": {"a": f"u{i % 3}", "b": f"v{i % 2}"}, "y": i % 5 + 1}).encode() for i in range(60)]  # fmt: skip
    (tmp_path / "events.jsonl").write_bytes(b"\n".join([*lines, *crossed]))
    with Replay(settings(tmp_path), lambda _: None) as replay:
        replay.run()
        content = unpack(pack(replay.learning.checkpointer.snapshot()))
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"\n".join([b"", *lines[:40], *crossed[:10]]))
    store = SnapshotStore(str(tmp_path / "run" / "snapshots"))
    generator, said = random.Random(7), []
    for number in range(FORGED):
        store.write(forged(content, generator), 1_000 + number)
        try:
            with Replay(settings(tmp_path, resume=True), lambda _: None) as replay:
                replay.run()
        except StreamRankError as error:
            said.append(str(error))
        store.clear()
    assert len(said) > FORGED // 4
    assert not [words for words in said if "\n" in words]
