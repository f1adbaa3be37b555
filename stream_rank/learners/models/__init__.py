"""Models: a learner's memory, and the compiled functions of the engine that work on it."""
