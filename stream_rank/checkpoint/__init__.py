"""What a run keeps, in which order, and how it is found again."""
