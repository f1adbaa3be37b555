"""What people call settings elsewhere, where the name itself does not lead to ours."""

__all__ = ["SYNONYMS"]

SYNONYMS = {
    "brokers": "bootstrap_servers",
    "tls": "security_protocol",
    "sasl": "sasl_mechanism",
    "tls_ca": "ssl_ca_location",
    "tls_cert": "ssl_certificate_location",
    "tls_key": "ssl_key_location",
    "lost": "on_lost_offsets",
    "damaged": "on_corrupt_snapshot",
    "keep": "snapshots_kept",
}
"""For the sentence that names the nearest setting; they are no aliases."""
