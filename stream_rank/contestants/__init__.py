"""Contestants: the learners of a run, the package's own and any estimator of River's, behind one protocol.

They are a layer of their own because both `evaluation` and `pipeline` use them.
"""
