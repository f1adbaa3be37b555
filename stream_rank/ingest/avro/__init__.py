"""Avro: schemas, the registry that has them, and values as JSON."""
