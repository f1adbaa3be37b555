"""River metrics of ranks, one a file."""
