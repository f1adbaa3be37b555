"""Learn from Kafka: the daemon."""

import argparse
import json
import logging

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.daemon import DaemonConfig
from stream_rank.runtime.shutdown_deadline import ShutdownDeadline

__all__ = ["add", "run"]

_CLIENTS = ("kafka", "confluent")


def add(parser: argparse.ArgumentParser) -> None:
    """A flag for every setting."""
    add_settings(parser, DaemonConfig)


def run(given: argparse.Namespace) -> int:
    """Learn until somebody says stop; the exit code. To be stopped by a signal is to be done."""
    config = settings(DaemonConfig, given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    from stream_rank.monitoring.logs import ClientLog, Log

    log = Log(config.log, secrets=config.connection().secrets)
    watch = ShutdownDeadline(config.stop_seconds, ExitCode.TERMINATED, log.warning)
    asked, _ = listen(watch.begin)
    from stream_rank.runtime.daemon import Daemon
    from stream_rank.runtime.garbage_collection import Collector

    for name in _CLIENTS:
        logging.getLogger(name).addHandler(ClientLog(log))
        logging.getLogger(name).propagate = False
    with Daemon(config, log, asked, watch) as daemon:
        daemon.run(Collector().tick)
    return ExitCode.DONE
