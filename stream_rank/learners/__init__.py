"""River estimators that learn to rank, one a file."""
