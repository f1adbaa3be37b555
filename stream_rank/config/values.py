"""The settings of what the values of messages are."""

import base64
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from stream_rank.config.settings import Settings
from stream_rank.errors import InputError
from stream_rank.ingest.message import Values

__all__ = ["ValuesConfig"]


class ValuesConfig(Settings):
    """Settings of whatever reads messages."""

    value_format: Literal["json", "avro", "avro-unframed"] = Field(
        "json",
        description="what the values of messages are: JSON; Avro behind a byte 0 and the id of its schema, as with a schema "
        "registry; or Avro alone. Avro needs the extra named avro",
    )
    schema_registry: str | None = Field(
        None,
        description="the URL of the schema registry, for avro: http://registry:8081, or http://apicurio:8080/apis/ccompat/v7",
    )
    schema_registry_login: SecretStr | None = Field(
        None,
        description="USER:PASSWORD for the schema registry; better in a variable than in TOML",
    )
    avro_schema: Path | None = Field(
        None,
        description="a file with the Avro schema of all messages, for avro-unframed, or for avro without a registry",
    )

    @field_validator("schema_registry")
    @classmethod
    def _is_url(cls, given: str | None) -> str | None:
        if given is None:
            return None
        try:
            url = urlsplit(given)
            good, login = url.scheme in ("http", "https") and url.hostname, url.username
        except ValueError:
            good = login = None
        if login is not None:
            raise ValueError("credentials in a URL can be seen; give `schema_registry_login`")
        if not good or url.query or url.fragment or any(each.isspace() for each in given):
            raise ValueError(f"{given!r} is no URL such as http://registry:8081")
        return given

    @field_validator("schema_registry_login")
    @classmethod
    def _of_two(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None and ":" not in given.get_secret_value():
            raise ValueError("a login is USER:PASSWORD")
        return given

    @model_validator(mode="after")
    def _values_agree(self) -> Self:
        registry, file = self.schema_registry is not None, self.avro_schema is not None
        if self.value_format == "json" and (registry or file):
            raise ValueError(
                "`schema_registry` and `avro_schema` need `value_format` avro or avro-unframed"
            )
        if self.value_format == "avro" and registry == file:
            raise ValueError(
                "`value_format` avro needs a `schema_registry`, or an `avro_schema`, and not both"
            )
        if self.value_format == "avro-unframed" and (registry or not file):
            raise ValueError("`value_format` avro-unframed needs an `avro_schema`, and no registry")
        if self.schema_registry_login is not None and not registry:
            raise ValueError("`schema_registry_login` needs a `schema_registry`")
        return self

    @property
    def registry_login(self) -> str | None:
        """USER:PASSWORD."""
        login = self.schema_registry_login
        return None if login is None else login.get_secret_value()

    @property
    def registry_secrets(self) -> tuple[str, ...]:
        """Forms of the login that must not appear in logs: as it is given, the password, and as it is sent."""
        login = self.registry_login
        if login is None:
            return ()
        password = login.partition(":")[2]
        return tuple(filter(None, (login, password, base64.b64encode(login.encode()).decode())))

    def values(self) -> Values | None:
        """What reads values that are not JSON; the file of a schema is read now."""
        if self.value_format == "json":
            return None
        # needs fastavro
        from stream_rank.ingest.avro.registry import SchemaRegistry
        from stream_rank.ingest.avro.schema import AvroSchema
        from stream_rank.ingest.avro.values import BareAvro, FramedAvro

        if self.schema_registry is not None:
            return FramedAvro(SchemaRegistry(self.schema_registry, self.registry_login))
        assert self.avro_schema is not None
        try:
            schema = AvroSchema(self.avro_schema.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, InputError) as error:
            raise InputError(f"{self.avro_schema} cannot be read: {error}") from None
        return FramedAvro(schema) if self.value_format == "avro" else BareAvro(schema)
