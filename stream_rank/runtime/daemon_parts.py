"""The parts of a daemon that are chosen by its settings: where events come from, and where rejects and predictions go."""

import logging

from stream_rank.config.daemon import DaemonConfig
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.kafka.clients import consumer_of, producer_of
from stream_rank.ingest.kafka.port import Consumer, ResolveOffsets, Subscription
from stream_rank.ingest.kafka.topic_source import TopicSource
from stream_rank.sinks.dead_letters import dead_letter_topic
from stream_rank.sinks.predictions import prediction_topic
from stream_rank.sinks.rejects import reject_file
from stream_rank.sinks.sink import NullSink, Prediction, Rejected, Sink

__all__ = ["predictions_of", "rejects_of", "source_of"]

logger = logging.getLogger(__name__)


def source_of(config: DaemonConfig, backoff: Backoff, registry: Backoff) -> TopicSource:
    """The topics; `registry` is for the schema registry."""
    subscription = Subscription(
        config.topics, config.group_id, config.session_timeout_seconds, config.group_protocol
    )

    def consumer(resolve_offsets: ResolveOffsets) -> Consumer:
        return consumer_of(config.client, config.connection(), subscription, resolve_offsets)

    return TopicSource(
        *(config.topics, consumer, backoff, config.start, config.on_lost_offsets, logger.warning),
        skips=config.skips(),
        values=config.values(),
        values_backoff=registry,
        session_seconds=config.session_timeout_seconds,
    )


def rejects_of(config: DaemonConfig) -> Sink[Rejected]:
    """A topic of dead letters, or a file."""
    if config.dead_letters is None:
        return reject_file(config.out / "rejects.jsonl")
    return dead_letter_topic(producer_of(config.client, config.connection()), config.dead_letters)


def predictions_of(config: DaemonConfig) -> Sink[Prediction]:
    """A topic, if there is one."""
    if config.predictions is None:
        return NullSink()
    return prediction_topic(producer_of(config.client, config.connection()), config.predictions)
