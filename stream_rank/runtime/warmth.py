"""What a run says where the engine is not compiled yet."""

__all__ = ["COLD"]

COLD = (
    "the engine (the loops that read, learn and score) is compiled for this machine, once: that takes a minute or two of a processor, "
    "as it is needed; `stream-rank warm` does it beforehand"
)
