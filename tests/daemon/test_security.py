"""Brokers that want to know who asks, over TLS; and secrets that nobody gets to see."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulators.broker import STEADY, Kafka, NoKafkaError
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.daemon.certificates import make_certificates
from tests.daemon.conftest import Daemon, wait_for
from tests.ingest.kafka.conftest import admin, fresh_name

pytestmark = pytest.mark.long(70)

SECRET, WRONG = "a-secret-of-alice", "what-somebody-guessed"


class Secured:
    """A broker with SCRAM over TLS, another mechanism beside it, and a topic."""

    def __init__(self, kafka: Kafka, ca: Path, connection: Connection, topic: str) -> None:
        self.kafka, self.ca, self.connection, self.topic = kafka, ca, connection, topic


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    ca, broker = make_certificates(folder)
    plain = "org.apache.kafka.common.security"
    properties = {
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,PLAIN,OAUTHBEARER",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": broker,
        "listener.name.clients.scram-sha-256.sasl.jaas.config": f"{plain}.scram.ScramLoginModule required;",
        "listener.name.clients.plain.sasl.jaas.config": f'{plain}.plain.PlainLoginModule required user_alice="{SECRET}";',
        "listener.name.clients.oauthbearer.sasl.jaas.config": f'{plain}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
        "listener.name.clients.oauthbearer.sasl.server.callback.handler.class": f"{plain}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
        "listener.name.clients.oauthbearer.sasl.login.callback.handler.class": f"{plain}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:alice;User:ANONYMOUS",
        **STEADY,
    }  # fmt: skip
    try:
        kafka = Kafka(
            folder / "kafka",
            1,
            properties,
            listener="SASL_SSL",
            users={"alice": SECRET, "bob": SECRET},
        )
    except NoKafkaError as error:
        pytest.skip(str(error))
    connection = Connection(
        (kafka.address,),
        security_protocol="SASL_SSL",
        ssl_ca_location=ca,
        sasl_mechanism="SCRAM-SHA-256",
        sasl_username="alice",
        sasl_password=SECRET,
    )
    with kafka:
        from kafka.admin import NewTopic

        topic = fresh_name("secured")
        client = admin(
            kafka.address,
            security_protocol="SASL_SSL",
            ssl_cafile=str(ca),
            sasl_mechanism="SCRAM-SHA-256",
            sasl_plain_username="alice",
            sasl_plain_password=SECRET,
        )
        client.create_topics([NewTopic(topic, 1, 1)])
        client.close()
        producer = producer_of("confluent", connection)
        for _ in range(100):
            producer.send(ProducerRecord(topic, b'{"x": {"a": 1}, "y": 2}'))
        producer.flush(30)
        producer.close()
        yield Secured(kafka, ca, connection, topic)


def daemon_of(secured: Secured, folder: Path, client: str, **settings: Any) -> Daemon:
    given: dict[str, Any] = {
        "security_protocol": "SASL_SSL",
        "ssl_ca_location": str(secured.ca),
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_username": "alice",
        "group_id": fresh_name("g"),
        **settings,
    }
    variables = given.pop("variables", {})
    return Daemon(
        folder, [secured.topic], secured.kafka.address, variables=variables, client=client, **given
    )


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
@pytest.mark.parametrize("sasl", ["SCRAM-SHA-256", "PLAIN"])
def test_it_learns_over_tls_with_a_password(
    client: str, sasl: str, secured: Secured, tmp_path: Path
) -> None:
    secret = tmp_path / "password"
    secret.write_text(f"{SECRET}\n")
    with daemon_of(
        secured, tmp_path, client, sasl_mechanism=sasl, sasl_password_file=str(secret)
    ) as daemon:
        assert daemon.learned(100)["settings"]["sasl_mechanism"] == sasl
        status = daemon.get("/status")[1]
        assert daemon.end() == 0
        assert SECRET not in daemon.log + status


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_wrong_password_is_said_and_not_shown(
    client: str, secured: Secured, tmp_path: Path
) -> None:
    variables = {"STREAM_RANK_SASL_PASSWORD": WRONG}
    with daemon_of(secured, tmp_path, client, variables=variables) as daemon:
        assert daemon.process.wait(60) == 7
        assert WRONG not in daemon.log
        assert "refuses" in daemon.log
        assert "uthentication failed" in daemon.log
        assert "Traceback" not in daemon.log


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_producer_with_a_wrong_password_is_told(
    client: str, secured: Secured, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text(WRONG)
    given = [
        f"--bootstrap-servers={secured.kafka.address}",
        f"--topic={secured.topic}",
        f"--client={client}",
    ]
    given += [
        "--security-protocol=SASL_SSL",
        f"--ssl-ca-location={secured.ca}",
        "--sasl-mechanism=SCRAM-SHA-256",
        "--sasl-username=alice",
    ]
    given += [f"--sasl-password-file={tmp_path / 'password'}"]
    produce = [sys.executable, "-m", "stream_rank", "produce", "synthetic:10", *given]
    done = subprocess.run(produce, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 7, done.stderr
    assert "uthentication failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert WRONG not in done.stderr


def _token(subject: str) -> str:
    """A token that nobody signed, as the broker of this test takes them."""

    def part(content: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': subject, 'iat': now - 5, 'exp': now + 3600})}."


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_tokens(client: str, secured: Secured, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(_token("alice"))
    with daemon_of(
        secured,
        tmp_path,
        client,
        sasl_mechanism="OAUTHBEARER",
        sasl_username=None,
        sasl_oauth_token_file=str(token),
    ) as daemon:
        daemon.learned(100)
        assert daemon.end() == 0
        assert token.read_text() not in daemon.log


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_who_may_not_read_is_told(client: str, secured: Secured, tmp_path: Path) -> None:
    variables = {"STREAM_RANK_SASL_PASSWORD": SECRET}
    with daemon_of(secured, tmp_path, client, sasl_username="bob", variables=variables) as daemon:
        assert daemon.process.wait(60) == 7
        assert "uthoriz" in daemon.log
        assert SECRET not in daemon.log
        assert "Traceback" not in daemon.log


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_a_broker_that_nobody_vouches_for(client: str, secured: Secured, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    ca, _ = make_certificates(other)
    variables = {"STREAM_RANK_SASL_PASSWORD": SECRET}
    with daemon_of(
        secured, tmp_path, client, ssl_ca_location=str(ca), variables=variables
    ) as daemon:
        wait_for(lambda: daemon.process.poll() is not None or daemon.said("certificate"), 60)
        assert "certificate" in daemon.log
        assert not daemon.said("learning")
