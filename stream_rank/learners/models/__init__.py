"""What a learner knows: memory of the engine's, and the compiled functions that work on it."""
