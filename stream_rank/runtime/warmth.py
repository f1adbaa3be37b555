"""Whether the engine is compiled already."""

from stream_rank.engine.jit import cache_folder

__all__ = ["COLD", "cold"]

COLD = (
    "the engine (the loops that read, learn and score) is compiled for this machine, once: that takes a minute or two of a processor, "
    "as it is needed; `stream-rank warm` does it beforehand"
)


def cold() -> bool:
    """Whether nothing of this version of the engine was compiled before."""
    return next(cache_folder().glob("*/*.nbi"), None) is None
