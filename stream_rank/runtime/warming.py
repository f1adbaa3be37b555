"""Compiling the engine ahead of time, so that the first daemon of a machine or an image starts without that delay."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from stream_rank.config.replay import ReplayConfig
from stream_rank.config.run import RunConfig
from stream_rank.datasets.oap_blocks import blocks
from stream_rank.engine.reading.avro import walk
from stream_rank.errors import StreamRankError
from stream_rank.evaluation.probe import probe
from stream_rank.ingest.files.json_rows import as_json
from stream_rank.learners.names import LEARNER_NAMES
from stream_rank.runtime.replay import Replay

__all__ = ["rehearse", "warm"]

_EVENTS = 5_000


def warm(say: Callable[[str], None]) -> None:
    """Run every learner on some events, compute what `/status` and the metrics need, and walk over some Avro."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "events.jsonl"
        file.write_bytes(_events())
        given = {
            "inputs": [str(file)],
            "learners": list(LEARNER_NAMES),
            "n_ranks": 5,
            "out": Path(name) / "run",
        }
        with Replay(ReplayConfig.model_validate(given), say) as replay:
            replay.run()
            replay.summary()
            ratings = replay.learning.loop.last_ratings
            assert ratings is not None
            for each in replay.learning.contestants:
                probe(each, *ratings)
    walk(
        np.frombuffer(b"", np.uint8), 0, 0, np.zeros((1, 3), np.int64), np.zeros(1, np.int64), 1, 1
    )


def rehearse(config: RunConfig) -> None:
    """Have a run's own learners learn some events, in a folder that nobody sees, so that the run finds its code loaded."""
    with tempfile.TemporaryDirectory() as name, suppress(StreamRankError):
        file = Path(name) / "events.jsonl"
        file.write_bytes(
            b"".join(b'{"x": {"a": %d}, "y": %d}\n' % (i % 7, 1 + i % 2) for i in range(200))
        )
        given = {
            "inputs": [str(file)],
            "learners": config.learners,
            "preparation": config.preparation,
            "allow_imports": config.allow_imports,
            "n_ranks": config.n_ranks,
            "out": Path(name) / "run",
        }
        with Replay(ReplayConfig.model_validate(given), lambda _: None) as replay:
            replay.run()


def _events() -> bytes:
    lines: list[bytes] = []
    for X, y in blocks(1, "quadratic"):
        names = [f"x{place}" for place in range(X.shape[1])]
        lines += [as_json(names, row, int(label)) for row, label in zip(X, y, strict=True)]
        if len(lines) >= _EVENTS:
            break
    return b"".join(line + b"\n" for line in lines[:_EVENTS])
