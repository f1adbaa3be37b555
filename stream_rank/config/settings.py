"""What all settings are."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

__all__ = ["Settings"]


class Settings(BaseModel):
    """Settings of some command. Those that nobody knows are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @field_validator("*")
    @classmethod
    def _without_nul(cls, given: Any) -> Any:
        """No path, name or address may hold NUL: the calls that take them would raise something else for each."""
        parts = given if isinstance(given, list) else [given]
        if any("\0" in str(part) for part in parts if isinstance(part, str | Path)):
            raise ValueError("text with the character NUL names nothing")
        return given

    def shown(self) -> dict[str, Any]:
        """As TOML and JSON say it; secrets are not shown."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
