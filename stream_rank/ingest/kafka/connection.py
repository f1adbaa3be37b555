"""Where the brokers are, and who one is there."""

from dataclasses import dataclass, field
from pathlib import Path

from stream_rank.errors import RetriableKafkaError

__all__ = ["Connection"]


@dataclass(frozen=True)
class Connection:
    """What every client is told. Secrets are not shown."""

    brokers: tuple[str, ...] = ("localhost:9092",)
    tls: bool = False
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    sasl: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token_file: Path | None = None

    @property
    def protocol(self) -> str:
        """As Kafka calls it."""
        return ("SASL_" if self.sasl else "") + ("SSL" if self.tls else "PLAINTEXT")

    @property
    def described(self) -> str:
        """The brokers, for sentences."""
        return ", ".join(self.brokers)

    def lacks(self, topic: str) -> RetriableKafkaError:
        """What to say of a topic that the brokers do not know: somebody may make it yet."""
        return RetriableKafkaError(f"there is no topic {topic!r} at {self.described}")
