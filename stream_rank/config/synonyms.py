"""Other names of settings, for suggestions where the spelling is not similar to ours."""

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
    "columns": "fields",
}
"""For suggestions in error messages only; they are not aliases."""
