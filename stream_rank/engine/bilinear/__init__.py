"""Scores that are products of what is believed of a user and of an item, and thresholds that cut them into ranks."""
