"""Loops that prepare features before they are learned: entries in, entries out, in the order of the events."""
