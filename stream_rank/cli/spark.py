"""Learn from Kafka on Spark, a model for each partition or key."""

import argparse
import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.config.spark import OF_FOLDERS, SparkConfig

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `spark`: the settings."""
    add_settings(parser, SparkConfig, OF_FOLDERS)


def run(given: argparse.Namespace) -> int:
    """Learn until the query ends, or is stopped."""
    config = settings(SparkConfig, given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    from stream_rank.spark.query import begun, ended
    from stream_rank.spark.session import session

    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # the query is stopped between two triggers
    with ExitStack() as stack:
        spark = session(config.spark)
        stack.callback(spark.stop)
        if config.port is not None:
            stack.enter_context(_metrics(config, spark))
        query = begun(config, spark)
        try:
            ended(query)
        except KeyboardInterrupt:
            query.stop()
            return ExitCode.INTERRUPTED
    return ExitCode.DONE


@contextmanager
def _metrics(config: SparkConfig, spark: Any) -> Iterator[None]:
    """Serve the driver's /metrics meanwhile."""
    from stream_rank.monitoring.exporter import Exporter
    from stream_rank.monitoring.http_server import Endpoints, Server
    from stream_rank.monitoring.shared_answer import SharedAnswer
    from stream_rank.spark.progress import Progress, listener_of, losses_of

    progress = Progress(losses_of(config), config.trigger_seconds)
    spark.streams.addListener(listener_of(progress))
    endpoints = Endpoints(
        lambda: (True, "the driver runs"),
        lambda: (progress.ready, "learning" if progress.ready else "no trigger is over yet"),
        SharedAnswer(Exporter(progress.readings).text),
        progress.status,
    )
    server = Server(config.host, config.port or 0, endpoints)
    server.serve(endpoints)
    try:
        yield
    finally:
        server.close()
