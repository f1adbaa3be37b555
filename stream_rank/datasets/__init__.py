"""Synthetic streams, for examples and comparisons."""
