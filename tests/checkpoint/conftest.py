"""A real S3 API on this machine, and stores in it."""

from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer

SECRETS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What S3's clients are told by their environment."""


@pytest.fixture(scope="session")
def s3_server() -> Iterator[ThreadedMotoServer]:
    """The server, which begins without a bucket."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server: ThreadedMotoServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty bucket; the environment leads to the server."""
    import boto3
    import s3fs

    host, port = s3_server.get_host_and_port()
    for name, value in {**SECRETS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    boto3.client("s3").create_bucket(Bucket="models")
    for item in boto3.client("s3").list_objects_v2(Bucket="models").get("Contents", []):
        boto3.client("s3").delete_object(Bucket="models", Key=item["Key"])
    return "s3://models"
