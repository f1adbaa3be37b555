"""Settings of how to reach Kafka that cannot be meant."""

import pytest
from pydantic import ValidationError

from stream_rank.config.kafka import KafkaConfig


@pytest.mark.parametrize(
    "brokers", ["kafka-1:9092", "kafka-1:9092,kafka-2:9093", "[::1]:9092", ["a:1", "b:65535"]]
)
def test_addresses(brokers: object) -> None:
    found = KafkaConfig.model_validate({"brokers": brokers}).connection().brokers
    assert list(found) == (brokers if isinstance(brokers, list) else str(brokers).split(","))


@pytest.mark.parametrize(
    "brokers", ["kafka", "kafka:", "kafka:1x", "kafka:0", "kafka:65536", ":9092", "tls://a:9092"]
)
def test_what_is_no_address_is_told(brokers: str) -> None:
    with pytest.raises(ValidationError, match="is no HOST:PORT, such as"):
        KafkaConfig.model_validate({"brokers": brokers})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sasl": "PLAIN", "username": "ann"}, "needs a username and a password"),
        ({"sasl": "SCRAM-SHA-256", "password": "x"}, "needs a username and a password"),
        ({"sasl": "OAUTHBEARER"}, "needs a token_file"),
    ],
)
def test_who_logs_in_says_who_and_how(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        KafkaConfig.model_validate(given)
