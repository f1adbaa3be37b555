"""What an event is: from raw bytes or columns to batches."""
