"""Settings of how to reach Kafka that cannot be meant."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from stream_rank.config.daemon import DaemonConfig, ProduceConfig
from stream_rank.config.gather import gather
from stream_rank.config.kafka import KafkaConfig
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import ConfigError

NEEDED: dict[str, Any] = {"topics": ["t"], "out": "o", "topic": "t", "inputs": ["f"]}
CERTIFICATES = "certificates and keys need `security_protocol` SSL"


@pytest.mark.parametrize(
    "brokers", ["kafka-1:9092", "kafka-1:9092,kafka-2:9093", "[::1]:9092", ["a:1", "b:65535"]]
)
def test_addresses(brokers: object) -> None:
    config = KafkaConfig.model_validate({"bootstrap_servers": brokers})
    found = config.connection().bootstrap_servers
    assert list(found) == (brokers if isinstance(brokers, list) else str(brokers).split(","))


@pytest.mark.parametrize(
    "brokers", ["kafka", "kafka:", "kafka:1x", "kafka:0", "kafka:65536", ":9092", "tls://a:9092"]
)
def test_what_is_no_address_is_told(brokers: str) -> None:
    with pytest.raises(ValidationError, match="is no HOST:PORT, such as"):
        KafkaConfig.model_validate({"bootstrap_servers": brokers})


@pytest.mark.parametrize(
    ("protocol", "given", "said"),
    [
        ("SASL_SSL", {"sasl_mechanism": "PLAIN", "sasl_username": "ann"}, "needs a `sasl_username` and"),
        ("SASL_SSL", {"sasl_mechanism": "SCRAM-SHA-256", "sasl_password": "x"}, "needs a `sasl_username`"),
        ("SASL_PLAINTEXT", {"sasl_mechanism": "OAUTHBEARER"}, "needs a `sasl_oauth_token_file`"),
        ("SASL_PLAINTEXT", {}, "`security_protocol` SASL_PLAINTEXT needs a `sasl_mechanism`"),
        ("SSL", {"sasl_mechanism": "PLAIN"}, "`sasl_mechanism` PLAIN needs `security_protocol` SASL_SSL"),
        ("PLAINTEXT", {"sasl_password": "x"}, "a user or password needs a `sasl_mechanism`"),
        ("PLAINTEXT", {"ssl_ca_location": "x"}, CERTIFICATES),
        ("PLAINTEXT", {"ssl_key_location": "x", "ssl_certificate_location": "x"}, CERTIFICATES),
        ("SSL", {"ssl_key_location": "x"}, "go together"),
        ("ssl", {}, "'PLAINTEXT', 'SSL'"),
    ],
)  # fmt: skip
def test_who_logs_in_says_who_and_how(protocol: str, given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        KafkaConfig.model_validate({"security_protocol": protocol, **given})


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_whatever_else_the_client_knows_is_passed_on_and_shown(client: str, tmp_path: Path) -> None:
    file = tmp_path / "stream-rank.toml"
    dotted = client == "confluent"
    words = "fetch.max.bytes = 1000000" if dotted else "fetch_max_bytes = 1000000"
    secret = '"ssl.key.password" = "geheim"' if dotted else 'ssl_password = "geheim"'
    file.write_text(f'client = "{client}"\n[kafka]\n{words}\n{secret}\n')
    name = words.split()[0]
    for model, more in (
        (DaemonConfig, {"topics": ["t"], "out": "o"}),
        (ProduceConfig, {"topic": "t"}),
    ):
        config = gather(model, more, file, {})
        assert isinstance(config, KafkaConfig)
        connection = config.connection()
        assert connection.client_settings[name] == 1_000_000
        assert connection.secrets == ("geheim",)
        shown = json.dumps(config.shown())
        assert f'"{name}": 1000000' in shown
        assert "geheim" not in shown + repr(connection)


def test_variables_and_flags_have_them_too() -> None:
    variables = {"STREAM_RANK_KAFKA": "fetch_min_bytes=7 check_crcs=false client_rack=a=b"}
    found = gather(ProduceConfig, {"topic": "t"}, None, variables)
    assert found.kafka == {"fetch_min_bytes": 7, "check_crcs": False, "client_rack": "a=b"}
    found = gather(ProduceConfig, {"topic": "t", "kafka": ["linger_ms=5"]}, None, variables)
    assert found.kafka == {"linger_ms": 5}


@pytest.mark.parametrize("model", [DaemonConfig, ReplayConfig, ProduceConfig])
def test_wrong_types_in_a_file_are_one_sentence(model: type[Any], tmp_path: Path) -> None:
    """Of every setting: values of all types, each of which is taken or refused with a sentence that names the setting."""
    file = tmp_path / "any.toml"
    values = ["5", "-5", "0.5", "nan", "true", '"text"', '"a\\u0000b"', '""', "[]", "[5]", "[[5]]", "{}", "{ a = 5 }", "{ x = { y = 1 } }", "2026-01-01", "12:00:00", '["a\\u0000b"]']  # fmt: skip
    for name, field in model.model_fields.items():
        shown = field.alias or name
        for value in values:
            others = {k: v for k, v in NEEDED.items() if k in model.model_fields and k != shown}
            file.write_text(f"{shown} = {value}\n")
            said = ""
            try:
                found = gather(model, others, file, {})
                assert "u0000" not in json.dumps(found.shown()), (shown, value)
            except ConfigError as error:
                said = str(error)
            assert "\n" not in said
            assert not said or shown in said or "`" in said, (shown, value, said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("n_ranks = true", "n_ranks: true is no value of this setting"),
        ("from = false", "from: false is no value of this setting"),
        ('out = "a\\u0000b"', "out: text with the character NUL"),
        ('inputs = ["a\\u0000b"]', "inputs: text with the character NUL"),
        ("window = 0.5", "window: .* fractional part, not 0.5"),
        ('on_corrupt_snapshot = "newer"', "'refuse' or 'older', not 'newer'"),
        (f"out = [{'0,' * 100}]", r"0\.\.\.$"),
    ],
)
def test_what_is_said_of_wrong_values(line: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text(line)
    others = {k: v for k, v in {"out": "o", "inputs": ["f"]}.items() if not line.startswith(k)}
    with pytest.raises(ConfigError, match=said):
        gather(ReplayConfig, others, file, {})


def test_secrets_are_not_said(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    for line in ("sasl_password = [54321]", "kafka.ssl_password = [54321]"):
        file.write_text(line)
        with pytest.raises(ConfigError) as raised:
            gather(DaemonConfig, {"topics": ["t"], "out": "o"}, file, {})
        assert "54321" not in str(raised.value)


@pytest.mark.parametrize("text", ["a = ", "= 5", "a = 1\na = 2", "\0", "[" * 5_000])
def test_what_is_no_toml_is_one_sentence(text: str, tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"is not TOML: [^\n]*$"):
        gather(ReplayConfig, {}, file, {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("brokers", "bootstrap_servers"),
        ("group", "group_id"),
        ("tls", "security_protocol"),
        ("sasl", "sasl_mechanism"),
        ("tls_ca", "ssl_ca_location"),
        ("tls_cert", "ssl_certificate_location"),
        ("tls_key", "ssl_key_location"),
        ("username", "sasl_username"),
        ("password", "sasl_password"),
        ("password_file", "sasl_password_file"),
        ("token_file", "sasl_oauth_token_file"),
        ("lost", "on_lost_offsets"),
        ("damaged", "on_corrupt_snapshot"),
        ("keep", "snapshots_kept"),
        ("session_seconds", "session_timeout_seconds"),
    ],
)
def test_what_others_call_a_setting_leads_to_it(old: str, new: str, tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text(f'{old} = "x"\n')
    with pytest.raises(ConfigError, match=f"did you mean '{new}'"):
        gather(DaemonConfig, {}, file, {})
    with pytest.raises(ConfigError, match=f"did you mean 'STREAM_RANK_{new.upper()}'"):
        gather(DaemonConfig, {}, None, {f"STREAM_RANK_{old.upper()}": "x"})
