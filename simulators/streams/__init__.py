"""Streams made by rule, of which the best possible loss is known: the same bytes for the same seed, on every machine."""
