"""Where the predictions of requests go."""

import json
import math
from typing import Any

from stream_rank.ingest.kafka.port import Producer, ProducerRecord
from stream_rank.sinks.journal import Journal

__all__ = ["PredictionFile", "PredictionTopic"]

_SECONDS = 5.0
"""For which a snapshot waits for the predictions that it passes."""


def as_line(name: Any, predictions: dict[str, float]) -> bytes:
    """A prediction as JSON: the id of the request, and a number for every learner, null where there is none.

    >>> as_line("u7", {"prank": 3.0, "mprank": float("nan")})
    b'{"id": "u7", "predictions": {"prank": 3.0, "mprank": null}}'
    """
    known = {key: value if math.isfinite(value) else None for key, value in predictions.items()}
    return json.dumps({"id": name, "predictions": known}).encode()


class PredictionFile:
    """A line of JSON for every request."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def put(self, name: Any, predictions: dict[str, float]) -> None:
        """Write the predictions for a request."""
        self.journal.write(as_line(name, predictions))


class PredictionTopic:
    """A message for every request, with its id as the key. After a kill, some come twice."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer, self._topic = producer, topic
        self._mark = self.sent = 0
        """Predictions of the run, and of this process."""

    def put(self, name: Any, predictions: dict[str, float]) -> None:
        """Send the predictions for a request."""
        key = None if name is None else str(name).encode(errors="replace")
        self._producer.send(ProducerRecord(self._topic, as_line(name, predictions), key))
        self._mark += 1
        self.sent += 1

    def begin(self, mark: int = 0) -> None:
        """Count on."""
        self._mark = mark

    def mark(self) -> int:
        """Make sure that all are with the broker; how many there are."""
        self._producer.flush(_SECONDS)
        return self._mark

    def close(self) -> None:
        """Let go of the broker."""
        self._producer.close()
