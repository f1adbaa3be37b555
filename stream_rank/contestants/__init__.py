"""Learners that ride on a stream side by side: the package's own, and any estimator of River's.

They are a room of their own because both the loop and the scoreboards know them, and neither may know the other's business.
"""
