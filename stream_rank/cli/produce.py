"""Send the events of files to a topic, as they are or at a steady rate."""

import argparse
import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.daemon import ProduceConfig
from stream_rank.config.fields import Fields
from stream_rank.errors import MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.port import ProducerRecord
from stream_rank.ingest.kafka.retrying_producer import RetryingProducer
from stream_rank.pipeline.run_control import RunControl
from stream_rank.printable import printable

if TYPE_CHECKING:  # importing it at run time would load the engine for `--help`
    from stream_rank.ingest.source import Source

__all__ = ["add", "run"]

_REPORT_SECONDS = 5.0
"""Seconds between two progress lines."""
_RETRY_SECONDS = 60.0
"""Seconds to retry while the broker is unreachable or the topic does not exist."""
_STEP = 0.02
"""With a rate, events due within so many seconds are sent together."""


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `produce`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help='files, "-", or synthetic:100000')
    add_settings(parser, ProduceConfig)


def run(given: argparse.Namespace) -> int:
    """Send the events; returns the exit code."""
    config = settings(ProduceConfig, given, others=["files"])
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    control, stopped = listen()
    from stream_rank.ingest.files.open_source import open_source
    from stream_rank.ingest.kafka.clients import producer_of

    source = open_source(given.files, config.format, (config.fields or Fields()).mapping())
    producer = RetryingProducer(
        producer_of(config.client, config.connection()),
        _RETRY_SECONDS,
        lambda: control.stop_requested,
        lambda trouble: print(printable(f"stream-rank: {trouble}"), file=sys.stderr, flush=True),
    )
    start = time.monotonic()
    try:
        sent = _send(config, source, producer, control)
        producer.flush()
    except MessageTooLargeError:
        with suppress(RetriableKafkaError):  # the other messages should not be lost
            producer.flush()
        raise
    finally:
        producer.close()
    if not config.quiet:
        seconds = time.monotonic() - start
        print(printable(f"{sent:,} events to {config.topic} in {seconds:.1f} s"), file=sys.stderr)
    return stopped[0] if stopped else ExitCode.DONE


def _send(
    config: ProduceConfig, source: "Source", producer: RetryingProducer, control: RunControl
) -> int:
    """Send the events, at the given rate if any; returns their number."""
    from stream_rank.codec.messages import messages

    start = reported = time.monotonic()
    sent = 0
    fields = None if config.fields is None else config.fields.of_events()

    def wanted() -> bool:
        return not control.stop_requested and (
            config.max_events is None or sent < config.max_events
        )

    for chunk in source.chunks(None):
        for value, key in messages(chunk, config.key, fields) if chunk is not None else ():
            if not wanted():
                return sent
            producer.send(ProducerRecord(config.topic, value, key))
            sent += 1
            if config.rate is not None:
                due = start + sent / config.rate
                if due - time.monotonic() > _STEP:
                    producer.flush()
                while not control.stop_requested and (wait := due - time.monotonic()) > 0:
                    time.sleep(min(wait, _REPORT_SECONDS / 50))
            if not config.quiet and time.monotonic() - reported >= _REPORT_SECONDS:
                reported = time.monotonic()
                print(
                    f"{sent:,} events, {sent / (reported - start):,.0f}/s",
                    file=sys.stderr,
                    flush=True,
                )
        if chunk is not None:
            chunk.release()
        if not wanted():  # checked here too, so that no further chunk is read
            return sent
    return sent
