"""Batches through stages to learners: the one loop."""
