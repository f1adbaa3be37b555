"""Sinks: rejects and predictions, to files or topics."""
