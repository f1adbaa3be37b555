"""Which of the learners in a snapshot is meant."""

from stream_rank.errors import ConfigError, unknown_name

__all__ = ["chosen"]


def chosen(where: str, name: str | None) -> str:
    """The name given, or that of the only learner; a `ConfigError` if it is not there, or there are several."""
    # which brings the engine
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
