"""Kafka: the source of topics, and the port (`port.py`) that both client libraries implement."""
