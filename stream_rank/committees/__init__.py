"""Committees: learners, each maybe behind stages, that vote on the same stream."""
