"""The settings of the connection to Kafka: brokers, TLS, login and client settings."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from stream_rank.config.settings import Settings
from stream_rank.errors import ConfigError
from stream_rank.ingest.kafka.clients import check_client_settings
from stream_rank.ingest.kafka.connection import Connection, SecurityProtocol, is_secret

__all__ = ["KafkaConfig"]


_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})")
_LAST_PORT = 65_535
_LAST_INT = 2**63 - 1
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_HIDDEN = "**********"
"""The mask that pydantic shows for secrets."""


def _addresses(given: Any) -> Any:
    """A list of brokers, or a comma-separated string, as in Kafka's own tools."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return given
    parts = [part for each in listed for part in re.split("[,; ]+", each) if part]
    for part in parts:
        found = _ADDRESS.fullmatch(part)
        if found is None or not 0 < int(found["port"]) <= _LAST_PORT:
            raise ValueError(f"{part!r} is no HOST:PORT, such as kafka-1:9092")
    return parts


def _client_settings(given: Any) -> Any:
    """A table of TOML, the "KEY=VALUE KEY=VALUE" of a variable, or a list of flags with one KEY=VALUE each."""
    if isinstance(given, Mapping):
        return dict(_flat(given))
    parts = given.split() if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return given
    pairs = [part.partition("=") for part in parts]
    if not all(equals and key for key, equals, _ in pairs):
        raise ValueError(
            "settings of the client are given as KEY=VALUE, as in fetch_max_bytes=1000"
        )
    shown = [key for key, _, _ in pairs if is_secret(key)]
    if isinstance(given, list) and shown:
        raise ValueError(f"{shown[0]!r} is for a file or a variable: others can see flags")
    return {key: _scalar(value) for key, _, value in pairs}


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Flatten nested tables, as which TOML reads fetch.max.bytes without quotes."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{key}.")
        elif not isinstance(value, bool | int | float | str):
            raise ValueError(f"{before}{key} must be text, a number, or true or false")
        elif isinstance(value, int) and abs(value) > _LAST_INT:
            raise ValueError(f"{before}{key} has more than 64 bits")
        else:
            found.append((before + key, value))
    return found


def _scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    return float(text) if found[1] else int(text)


class KafkaConfig(Settings):
    """Settings of all commands that connect to Kafka."""

    bootstrap_servers: Annotated[list[str], BeforeValidator(_addresses)] = Field(
        default=["localhost:9092"], min_length=1, description="HOST:PORT of some of the brokers"
    )
    client: Literal["kafka-python", "confluent"] = Field(
        "kafka-python",
        description="the client library; confluent is faster, and needs the extra named fast",
    )
    security_protocol: SecurityProtocol = Field(
        "PLAINTEXT", description="SSL for TLS, SASL for logging in"
    )
    ssl_ca_location: Path | None = Field(
        None, description="the certificates to trust (PEM); by default the system's"
    )
    ssl_certificate_location: Path | None = Field(None, description="our own certificate (PEM)")
    ssl_key_location: Path | None = Field(None, description="its key (PEM)")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = (
        Field(None, description="how to log in, for protocols that begin with SASL")
    )
    sasl_username: str | None = Field(None, description="for PLAIN and SCRAM")
    sasl_password: SecretStr | None = Field(
        None, description="for PLAIN and SCRAM; better in a variable or a file than in TOML"
    )
    sasl_password_file: Path | None = Field(None, description="a file with the password")
    sasl_oauth_token_file: Path | None = Field(
        None, description="a file with the token for OAUTHBEARER, read again for every new token"
    )
    kafka: Annotated[dict[str, Any], BeforeValidator(_client_settings)] = Field(
        default_factory=dict,
        description="other settings of the client, by its own names, as in fetch_max_bytes=1000 "
        "(kafka-python) or fetch.max.bytes=1000 (confluent); may be repeated; in TOML the table [kafka]",
    )

    @field_validator("kafka")
    @classmethod
    def _passed_on(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if given and "client" in info.data:  # only if needed: importing a client is slow
            try:
                check_client_settings(info.data["client"], given)
            except ConfigError as error:
                raise ValueError(str(error)) from None
        return given

    @field_serializer("kafka")
    def _without_secrets(self, given: dict[str, Any]) -> dict[str, Any]:
        return {name: _HIDDEN if is_secret(name) else value for name, value in given.items()}

    @model_validator(mode="after")
    def _consistent(self) -> "KafkaConfig":
        self._check_sasl()
        paths = (self.ssl_ca_location, self.ssl_certificate_location, self.ssl_key_location)
        if any(paths) and not self.security_protocol.endswith("SSL"):
            raise ValueError("certificates and keys need `security_protocol` SSL or SASL_SSL")
        if (self.ssl_certificate_location is None) != (self.ssl_key_location is None):
            raise ValueError("`ssl_certificate_location` and `ssl_key_location` go together")
        return self

    def _check_sasl(self) -> None:
        mechanism, logs_in = self.sasl_mechanism, self.security_protocol.startswith("SASL")
        password = self.sasl_password is not None or self.sasl_password_file is not None
        if mechanism is None:
            if logs_in:
                raise ValueError(
                    f"`security_protocol` {self.security_protocol} needs a `sasl_mechanism`"
                )
            if self.sasl_username is not None or password:
                raise ValueError(
                    "a user or password needs a `sasl_mechanism`: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"
                )
        elif not logs_in:
            raise ValueError(
                f"`sasl_mechanism` {mechanism} needs `security_protocol` SASL_SSL or SASL_PLAINTEXT"
            )
        elif mechanism == "OAUTHBEARER":
            if self.sasl_oauth_token_file is None:
                raise ValueError("`sasl_mechanism` OAUTHBEARER needs a `sasl_oauth_token_file`")
        elif self.sasl_username is None or not password:
            raise ValueError(
                f"`sasl_mechanism` {mechanism} needs a `sasl_username` and a `sasl_password` (or `sasl_password_file`)"
            )

    def connection(self) -> Connection:
        """The connection for the clients; password files are read now."""
        password = None if self.sasl_password is None else self.sasl_password.get_secret_value()
        if password is None and self.sasl_password_file is not None:
            password = _content(self.sasl_password_file)
        for path in (
            self.ssl_ca_location,
            self.ssl_certificate_location,
            self.ssl_key_location,
            self.sasl_oauth_token_file,
        ):
            if path is not None:
                _content(path)  # for a clear error: the clients have none for unreadable files
        return Connection(
            bootstrap_servers=tuple(self.bootstrap_servers),
            security_protocol=self.security_protocol,
            ssl_ca_location=self.ssl_ca_location,
            ssl_certificate_location=self.ssl_certificate_location,
            ssl_key_location=self.ssl_key_location,
            sasl_mechanism=self.sasl_mechanism,
            sasl_username=self.sasl_username,
            sasl_password=password,
            sasl_oauth_token_file=self.sasl_oauth_token_file,
            client_settings=self.kafka,
        )


def _content(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
