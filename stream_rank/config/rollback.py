"""The settings of `stream-rank rollback`."""

from pathlib import Path

from pydantic import Field

from stream_rank.config.settings import OpenUrl, Settings

__all__ = ["RollbackConfig"]


class RollbackConfig(Settings):
    """Where a run keeps its snapshots; the run's own settings say it too."""

    out: Path = Field(description="the folder of the run")
    snapshots: OpenUrl = Field(
        None, description="where the run keeps its snapshots, if not in OUT/snapshots"
    )
