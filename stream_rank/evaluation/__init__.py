"""Evaluation of learners while they learn: losses, drift and learning curves."""
