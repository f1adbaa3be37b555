"""The learners on Spark Structured Streaming: one model for each shard of a stream, its state in Spark's own store.

PySpark is imported when it is needed: what a shard is, and what becomes of its records, needs none.
"""
