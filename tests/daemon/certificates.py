"""Certificates made for a test: an authority, and a broker on loopback that it vouches for."""

import datetime
import ipaddress
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["make_certificates"]


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    name: str, key: Any, issuer: x509.Name, by: Any, authority: bool
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return made.sign(by, hashes.SHA256())


def make_certificates(folder: Path) -> tuple[Path, Path]:
    """The authority's certificate, and a file with a broker's key and certificates."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = _named("an authority for a test")
    authority = _certificate("an authority for a test", authority_key, issuer, authority_key, True)
    certificate = _certificate("localhost", key, issuer, authority_key, False)
    pem = serialization.Encoding.PEM
    ca, broker = folder / "ca.pem", folder / "broker.pem"
    ca.write_bytes(authority.public_bytes(pem))
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    broker.write_bytes(secret + certificate.public_bytes(pem) + authority.public_bytes(pem))
    return ca, broker
