"""Choosing one of the learners in a snapshot."""

from stream_rank.errors import ConfigError, unknown_name

__all__ = ["chosen"]


def chosen(where: str, name: str | None) -> str:
    """The given name, or that of the only learner; raises `ConfigError` if it is unknown, or there are several."""
    # imports the engine, which is slow
    from stream_rank.checkpoint.model_file import learners_in, open_snapshot

    names = learners_in(open_snapshot(where))
    if name in names:
        return str(name)
    if name is not None:
        raise ConfigError(unknown_name("learner", name, names))
    if len(names) != 1:
        raise ConfigError(
            f"{where} has {', '.join(names) or 'no learner'}: which of them? --learner"
        )
    return names[0]
