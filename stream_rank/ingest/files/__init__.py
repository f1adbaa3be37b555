"""Sources that read files: JSON lines, CSV, Parquet and Arrow, plain or compressed."""
