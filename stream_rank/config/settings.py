"""What all settings are."""

from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ["Settings"]


class Settings(BaseModel):
    """Settings of some command. Those that nobody knows are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    def shown(self) -> dict[str, Any]:
        """As TOML and JSON say it; secrets are not shown."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
