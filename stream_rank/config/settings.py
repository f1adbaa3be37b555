"""The base class of all settings."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SecretStr,
    ValidationInfo,
    field_validator,
)

__all__ = ["Listed", "OpenUrl", "Settings", "bytes_of", "listed"]

_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_WITH_PASSWORD = re.compile(r"://[^/]*:[^/]*@")


def listed(given: Any) -> Any:
    """A list, or the semicolon-separated string of a variable."""
    return [part for part in given.split(";") if part] if isinstance(given, str) else given


def bytes_of(given: Any) -> Any:
    """A number of bytes, from text with a unit as Kubernetes writes them.

    >>> bytes_of("2Gi"), bytes_of("500M"), bytes_of("1024")
    (2147483648, 500000000, 1024)
    """
    if not isinstance(given, str):
        return given
    found = _BYTES.fullmatch(given.strip())
    if found is None:
        raise ValueError(
            f"bytes are a number, or one with a unit as in 512Mi or 2Gi, not {given!r}"
        )
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** " KMGT".index(unit.upper() or " "))


def _without_password(given: str | None) -> str | None:
    if given is not None and _WITH_PASSWORD.search(given):
        raise ValueError(
            "credentials in a URL can be seen; give them to the store's own client, or in a variable such as FSSPEC_FTP_PASSWORD"
        )
    return given


Listed = Annotated[list[str], BeforeValidator(listed)]
OpenUrl = Annotated[str | None, AfterValidator(_without_password)]
"""A folder or a URL that is logged and recorded. A user alone may stand in it: some stores have containers there (abfs://container@account)."""


class Settings(BaseModel):
    """Settings of a command. Unknown ones are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_bool_for_a_number(cls, given: Any, info: ValidationInfo) -> Any:
        """Refuse booleans for numbers: pydantic would convert true to 1, since it must also convert text of variables."""
        field = cls.model_fields[str(info.field_name)]
        if isinstance(given, bool) and field.annotation is not bool:
            raise ValueError(f"{str(given).lower()} is no value of this setting")
        return given

    @field_validator("*")
    @classmethod
    def _without_nul(cls, given: Any) -> Any:
        """Refuse NUL in paths, names and addresses: the functions that take them raise various other errors."""
        secret = given.get_secret_value() if isinstance(given, SecretStr) else given
        parts = secret if isinstance(secret, list) else [secret]
        if any("\0" in str(part) for part in parts if isinstance(part, str | Path)):
            raise ValueError("text with the character NUL names nothing")
        return given

    def shown(self) -> dict[str, Any]:
        """The settings as JSON values; secrets are masked."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
