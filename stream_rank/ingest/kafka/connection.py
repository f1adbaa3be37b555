"""Where the brokers are, and who one is there."""

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
    """Whether a setting of a client may hold what nobody should see, judging by its name."""
    return _SECRET.search(name) is not None


@dataclass(frozen=True)
class Connection:
    """What every client is told. Secrets are not shown."""

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
    """Anything else, by the names that the client itself has for it; `clients.check_client_settings` says what is wrong with them."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be seen in any log."""
        passed = [str(value) for name, value in self.client_settings.items() if is_secret(name)]
        return tuple(filter(None, (self.sasl_password, *passed)))

    @property
    def described(self) -> str:
        """The brokers, for sentences."""
        return ", ".join(self.bootstrap_servers)

    def lacks(self, topic: str) -> RetriableKafkaError:
        """What to say of a topic that the brokers do not know: somebody may make it yet."""
        return RetriableKafkaError(f"there is no topic {topic!r} at {self.described}")
