"""International football: ratings learned from match to match, beside the rating systems of others."""
