"""Who stands by knows beforehand what would keep it from leading."""

from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import ConfigError
from stream_rank.pipeline.run_control import RunControl
from stream_rank.runtime.daemon import Daemon
from stream_rank.runtime.stand_by import StandBy
from tests.daemon.conftest import wait_for


def config(folder: Path, name: str, **more: Any) -> DaemonConfig:
    given = {"topics": ["t"], "bootstrap_servers": "127.0.0.1:1", "n_ranks": 5, "learners": ["prank"], "port": 0}  # fmt: skip
    places = {"out": folder / name, "snapshots": str(folder / "snapshots")}
    return DaemonConfig.model_validate({**given, **places, **more})


def test_other_settings_and_a_damaged_snapshot_are_found_while_another_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Daemon(config(tmp_path, "leads")) as daemon:
        checkpointer, reads = daemon.learning.checkpointer, list[str]()
        checkpointer.commit()
        with (
            StandBy(config(tmp_path, "a", n_ranks=7)) as stand_by,
            pytest.raises(ConfigError, match="has `n_ranks` 5, now 7 is given"),
        ):
            stand_by.wait()
        latest = tmp_path / "snapshots" / checkpointer.last.name
        sound = latest.read_bytes()
        latest.write_bytes(sound[:-1])
        with StandBy(config(tmp_path, "b")) as stand_by:
            read = stand_by.place.store.read

            def noted(name: str) -> Snapshot:
                reads.append(name)
                return read(name)

            monkeypatch.setattr(stand_by.place.store, "read", noted)
            for _ in range(3):
                assert not stand_by.look()
            assert reads == [checkpointer.last.name]  # which may be large
            ready, words = stand_by.ready()
            assert not ready
            assert "standing by; process " in words
            assert "it is damaged" in words
            checkpointer.commit()
            assert not stand_by.look()
            wait_for(lambda: stand_by.ready()[0])  # once the engine is loaded
            assert list(stand_by.place.known) == [checkpointer.last.name]
    control = RunControl(stop_requested=True)
    with StandBy(config(tmp_path, "c"), control) as stand_by:
        assert stand_by.wait()  # what it would do is stop
        with Daemon(config(tmp_path, "c"), control, stand_by=stand_by) as daemon:
            assert daemon.learning.store.lease.number == 2
            assert not stand_by.place.known
