"""The HTML report of a replay, and its charts."""
