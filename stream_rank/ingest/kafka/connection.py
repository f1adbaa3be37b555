"""How to connect to the brokers: addresses, TLS and credentials."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from stream_rank.errors import RetriableKafkaError

__all__ = ["Connection", "SecurityProtocol", "is_secret"]

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
_SECRET = re.compile(r"passw|passphrase|secret|token|pem$|ssl[._]key$|oauthbearer.config|proxy_url")


def is_secret(name: str) -> bool:
    """Whether a client setting may hold a secret, judging by its name."""
    return _SECRET.search(name) is not None


@dataclass(frozen=True)
class Connection:
    """Connection settings of every client. The `repr` has no secrets."""

    bootstrap_servers: tuple[str, ...] = ("localhost:9092",)
    security_protocol: SecurityProtocol = "PLAINTEXT"
    ssl_ca_location: Path | None = None
    ssl_certificate_location: Path | None = None
    ssl_key_location: Path | None = None
    sasl_mechanism: str | None = None
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    sasl_oauth_token_file: Path | None = None
    client_settings: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    """Other settings, by the client's own names; `clients.check_client_settings` validates them."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not appear in logs."""
        passed = [str(value) for name, value in self.client_settings.items() if is_secret(name)]
        return tuple(filter(None, (self.sasl_password, *passed)))

    @property
    def described(self) -> str:
        """The brokers, for messages."""
        return ", ".join(self.bootstrap_servers)

    def lacks(self, topic: str) -> RetriableKafkaError:
        """The error for a topic that does not exist; retriable, since it may be created later."""
        return RetriableKafkaError(f"there is no topic {topic!r} at {self.described}")
