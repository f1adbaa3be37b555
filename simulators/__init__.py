"""Streams to learn from, and the papers' protocols."""
