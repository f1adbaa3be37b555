"""Decoding: the schema of events, and the way from chunks of bytes or columns to batches."""
