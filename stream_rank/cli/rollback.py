"""Go back to an older snapshot of a run, when what came after it should not have been learned.

Its content is written once more, as the newest snapshot, from which the run goes on; no snapshot is removed, so that a rollback can
itself be rolled back. The run must not be running, here or elsewhere: whoever writes its snapshots has their lease. What came after the snapshot is learned again, but for what the setting `skip`
names. `stream-rank snapshot list` shows what there is.
"""

import argparse
import json
import sys

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.cli.flags import add_settings, settings
from stream_rank.config.rollback import RollbackConfig
from stream_rank.errors import ConfigError, WriteError, cause_of
from stream_rank.printable import printable

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `rollback`."""
    parser.add_argument("--to", metavar="SNAPSHOT", required=True, help="the name of a snapshot")
    add_settings(parser, RollbackConfig)


def run(given: argparse.Namespace) -> int:
    """Write the snapshot anew; returns the exit code."""
    config = settings(RollbackConfig, given, ["to"])
    if given.print_config:
        print(json.dumps(config.shown(), indent=2))
        return ExitCode.DONE
    from stream_rank.checkpoint.store import SnapshotStore, reasons
    from stream_rank.runtime.run_folder import RunFolder

    if not config.out.is_dir():
        raise ConfigError(f"{config.out} holds no run")
    folder = RunFolder(config.out)  # which is locked as long as the run is running
    try:
        store = SnapshotStore(folder.snapshots_url(config.snapshots))
        name = given.to.rstrip("/").rpartition("/")[2]
        names = [each.name for each in store.kept()]
        if name not in names:
            raise ConfigError(
                f"{store.url} holds no snapshot {name!r}: stream-rank snapshot list {store.url} shows what it holds"
            )
        with reasons(store.url, "written"):
            store.lease.acquire(lambda words: print(printable(words), file=sys.stderr))
            try:
                again = store.renew(name)
            finally:
                store.lease.give_back()
    except OSError as error:
        raise WriteError(
            f"no snapshot could be written to {store.url}: {cause_of(error)}"
        ) from error
    finally:
        folder.close()
    print(printable(f"the run goes on from {store.url_of(again)}, which is {name}"))
    return ExitCode.DONE
