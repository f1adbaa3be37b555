"""Predictions counted against what came."""
