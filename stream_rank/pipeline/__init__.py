"""The loop of a run: batches pass through stages to learners."""
