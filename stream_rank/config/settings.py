"""What all settings are."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationInfo, field_validator

__all__ = ["Settings"]


class Settings(BaseModel):
    """Settings of some command. Those that nobody knows are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, given: Any, info: ValidationInfo) -> Any:
        """TOML tells them apart; pydantic takes true for 1, since variables are text and must be converted."""
        field = cls.model_fields[str(info.field_name)]
        if isinstance(given, bool) and field.annotation is not bool:
            raise ValueError(f"{str(given).lower()} is no value of this setting")
        return given

    @field_validator("*")
    @classmethod
    def _without_nul(cls, given: Any) -> Any:
        """No path, name or address may hold NUL: the calls that take them would raise something else for each."""
        secret = given.get_secret_value() if isinstance(given, SecretStr) else given
        parts = secret if isinstance(secret, list) else [secret]
        if any("\0" in str(part) for part in parts if isinstance(part, str | Path)):
            raise ValueError("text with the character NUL names nothing")
        return given

    def shown(self) -> dict[str, Any]:
        """As TOML and JSON say it; secrets are not shown."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
