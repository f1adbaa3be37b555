"""Learn from Kafka, as a daemon."""

import argparse
import json
import logging

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.cli.signals import listen
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import SnapshotReadError

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `run`."""
    add_settings(parser, DaemonConfig)


def run(given: argparse.Namespace) -> int:
    """Learn until a stop is requested, once no other daemon does; returns the exit code. A stop by signal is a success."""
    config = settings(DaemonConfig, given)
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    from stream_rank.monitoring.logs import configure
    from stream_rank.runtime.shutdown_deadline import ShutdownDeadline

    secrets = [*config.connection().secrets, *config.registry_secrets]
    redaction, warnings = configure(config.log, secrets)
    logger = logging.getLogger(__name__)
    deadline = ShutdownDeadline(config.stop_seconds, ExitCode.TERMINATED, logger.warning)
    control, _ = listen(deadline.begin)
    from stream_rank.runtime.daemon import Daemon
    from stream_rank.runtime.garbage_collection import GarbageCollection
    from stream_rank.runtime.stand_by import StandBy

    more = lambda: warnings.count, redaction.hidden
    try:
        with StandBy(config, control, *more) as stand_by:
            if stand_by.wait():
                with Daemon(config, control, deadline, *more, stand_by) as daemon:
                    daemon.run(GarbageCollection().tick)
    except SnapshotReadError:
        if not control.stop_requested:  # rather than stopped while it waited for its store
            raise
    finally:
        deadline.end()
    return ExitCode.DONE
