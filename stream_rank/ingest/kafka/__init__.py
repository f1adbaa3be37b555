"""Kafka, behind a port of few methods."""
