"""The summary of a run, for `summary.json` and the daemon's `/status`."""

import json
import math
from typing import Any

import stream_rank
from stream_rank.ingest.timestamps import written
from stream_rank.runtime.learning_run import LearningRun

__all__ = ["as_json", "summary_of"]

_REASONS = 3
"""The most frequent reasons of rejects, of which there are hardly ever more that count."""


def as_json(content: Any, indent: int | None = None) -> str:
    """Standard JSON: numbers that are not finite become null.

    >>> as_json({"loss": float("nan")})
    '{"loss": null}'
    """
    return json.dumps(_finite(content), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summary_of(run: LearningRun) -> dict[str, Any]:
    """The summary. It reads the learners, so nothing may be learned meanwhile."""
    progress, waiting, boards = run.progress, run.waiting, run.scoreboard.boards
    learners = {
        each.name: {**boards[each.name].summary(), "state_sha256": each.digest()}
        for each in run.contestants
    }
    position = None if progress.position is None else progress.position.to_json()
    return {
        "version": stream_rank.__version__,
        "events": progress.counts.records,
        **progress.counts.as_dict(),
        "reject_reasons": [
            {"reason": each.reason, "records": each.records, "example": each.first}
            for each in run.loop.reject_counts.reasons.most_frequent(_REASONS)
        ],
        "waiting": 0 if waiting is None else len(waiting),
        "dropped": 0 if waiting is None else waiting.dropped,
        "features": run.loop.decoder.index.learned,
        "dropped_features": run.loop.decoder.index.admission.dropped,
        "expired_features": run.loop.decoder.index.admission.expiry.expired,
        "time": None if progress.time is None else written(progress.time),
        "position": position,
        "preparation": {each.name: " | ".join(each.chain) or "raw" for each in run.contestants},
        "learners": learners,
        "seconds": round(run.rate.seconds, 3),
        "events_per_second": round(run.rate.per_second) or None,
        "resumed_after": run.resumed_after,
        "settings": run.config.shown(),
    }
