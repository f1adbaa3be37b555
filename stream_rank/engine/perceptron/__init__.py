"""PRank members: weights, thresholds, votes and kernels."""
