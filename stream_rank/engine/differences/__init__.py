"""Learners of scores: what is learned from differences between events."""
