"""Where the predictions of requests go."""

import json
import math
from typing import Any

from stream_rank.stream.journal import Journal

__all__ = ["PredictionFile", "as_line"]


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
