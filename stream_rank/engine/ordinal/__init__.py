"""Ordinal regression by the likelihood of ranks: a Gaussian belief about weights and thresholds, moved by every event."""
