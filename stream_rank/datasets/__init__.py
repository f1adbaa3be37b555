"""Streams made by rule, for examples and comparisons."""
