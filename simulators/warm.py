"""Compile what a daemon needs, so that the first one on a machine, or of an image, need not."""

import tempfile
from pathlib import Path

from simulators.drifting import drifting
from stream_rank.config.replay import ReplayConfig
from stream_rank.evaluation.probe import probe
from stream_rank.learners.catalogue import LEARNERS
from stream_rank.runtime.replay import Replay

__all__ = ["run"]

_EVENTS = 5_000


def run() -> int:
    """Learn a little by every learner, and look at it as the metrics do; the exit code."""
    print(f"compiling for {', '.join(LEARNERS)} ...", flush=True)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "events.jsonl"
        stream = drifting(1, lambda: False, _EVENTS + 1)
        file.write_bytes(b"".join(next(stream) + b"\n" for _ in range(_EVENTS)))
        given = {
            "inputs": [str(file)],
            "learners": list(LEARNERS),
            "n_ranks": 5,
            "out": Path(name) / "run",
        }
        with Replay(ReplayConfig.model_validate(given), print) as replay:
            replay.run()
            replay.summary()  # as /status does
            learning = replay.learning
            assert learning.loop.last_ratings is not None
            for each in learning.contestants:
                probe(each, *learning.loop.last_ratings)
    return 0
