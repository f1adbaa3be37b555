"""Checkpoints: the snapshot format, the store, the order of a commit, and resuming."""
