"""Sinks for predictions of requests: lines of a file, or messages."""

import json
import math

from stream_rank.errors import FatalKafkaError
from stream_rank.ingest.kafka.port import Producer, ProducerRecord
from stream_rank.sinks.sink import Prediction
from stream_rank.sinks.topic_sink import TopicSink

__all__ = ["prediction_line", "prediction_topic"]

_CLIP = 100
"""Characters of the id that are kept when a message is too large for the topic."""


def prediction_line(prediction: Prediction) -> bytes:
    """A prediction as JSON: the id of the request, and a number for every learner, null where there is none.

    >>> prediction_line(Prediction("u7", {"prank": 3.0, "mprank": float("nan")}))
    b'{"id": "u7", "predictions": {"prank": 3.0, "mprank": null}}'
    """
    known = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in prediction.values.items()
    }
    return json.dumps({"id": prediction.id, "predictions": known}).encode()


def prediction_topic(producer: Producer, topic: str) -> TopicSink[Prediction]:
    """A sink that sends one message per request, keyed by the request's id."""

    def as_message(prediction: Prediction) -> ProducerRecord:
        key = None if prediction.id is None else str(prediction.id).encode(errors="replace")
        return ProducerRecord(topic, prediction_line(prediction), key)

    return TopicSink(producer, as_message, _smaller)


def _smaller(message: ProducerRecord) -> ProducerRecord:
    """The prediction with a clipped id, without a key."""
    if message.key is None:
        raise FatalKafkaError(f"{message.topic} takes no prediction: see its max.message.bytes")
    content = json.loads(message.value or b"")
    content |= {"id": str(content["id"])[:_CLIP], "clipped": True}
    return message._replace(value=json.dumps(content).encode(), key=None)
