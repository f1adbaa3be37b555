"""Events out of bytes: JSON, numbers, times and lines."""
