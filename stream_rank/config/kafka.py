"""How to reach Kafka, and who one is there."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from stream_rank.config.settings import Settings
from stream_rank.errors import ConfigError
from stream_rank.ingest.kafka.connection import Connection

__all__ = ["KafkaConfig"]


_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})")
_LAST_PORT = 65_535


def _addresses(given: Any) -> Any:
    """Brokers as Kafka's own tools take them: with commas between them."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return given
    parts = [part for each in listed for part in re.split("[,; ]+", each) if part]
    for part in parts:
        found = _ADDRESS.fullmatch(part)
        if found is None or not 0 < int(found["port"]) <= _LAST_PORT:
            raise ValueError(f"{part!r} is no HOST:PORT, such as kafka-1:9092")
    return parts


class KafkaConfig(Settings):
    """Settings of all that speaks with Kafka."""

    brokers: Annotated[list[str], BeforeValidator(_addresses)] = Field(
        default=["localhost:9092"], min_length=1, description="HOST:PORT of some of the brokers"
    )
    client: Literal["kafka-python", "confluent"] = Field(
        "kafka-python", description="kafka-python, or confluent (faster; the extra named fast)"
    )
    tls: bool = Field(False, description="speak TLS with the brokers")
    tls_ca: Path | None = Field(
        None, description="the certificates to trust (PEM); else the system's"
    )
    tls_cert: Path | None = Field(None, description="our own certificate (PEM)")
    tls_key: Path | None = Field(None, description="its key (PEM)")
    sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = Field(
        None, description="how to say who we are: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"
    )
    username: str | None = Field(None, description="for PLAIN and SCRAM")
    password: SecretStr | None = Field(
        None, description="for PLAIN and SCRAM; better in a variable or a file than in TOML"
    )
    password_file: Path | None = Field(None, description="a file with the password")
    token_file: Path | None = Field(
        None, description="a file with the token for OAUTHBEARER; read again whenever one is needed"
    )

    @model_validator(mode="after")
    def _whole(self) -> "KafkaConfig":
        if self.sasl == "OAUTHBEARER":
            if self.token_file is None:
                raise ValueError("sasl OAUTHBEARER needs a token_file")
        elif self.sasl is not None:
            if self.username is None or (self.password is None and self.password_file is None):
                raise ValueError(
                    f"sasl {self.sasl} needs a username and a password (or password_file)"
                )
        elif (
            self.username is not None or self.password is not None or self.password_file is not None
        ):
            raise ValueError(
                "a username or password needs sasl: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"
            )
        if (self.tls_ca or self.tls_cert or self.tls_key) and not self.tls:
            raise ValueError("certificates and keys need tls = true")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together")
        return self

    def connection(self) -> Connection:
        """For the clients; secrets are read now."""
        password = None if self.password is None else self.password.get_secret_value()
        if password is None and self.password_file is not None:
            password = _content(self.password_file)
        for path in (self.tls_ca, self.tls_cert, self.tls_key):
            if path is not None:
                _content(path)  # the clients have no good words for what cannot be read
        if self.token_file is not None:
            _content(self.token_file)
        return Connection(
            brokers=tuple(self.brokers),
            tls=self.tls,
            tls_ca=self.tls_ca,
            tls_cert=self.tls_cert,
            tls_key=self.tls_key,
            sasl=self.sasl,
            username=self.username,
            password=password,
            token_file=self.token_file,
        )


def _content(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
