"""Rating systems of others, by their own libraries where these are installed; none is needed."""
