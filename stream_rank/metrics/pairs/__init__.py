"""How pairs of events are counted without looking at every pair."""
