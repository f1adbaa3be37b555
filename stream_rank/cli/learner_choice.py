"""Choosing one of the learners in a snapshot."""

from stream_rank.errors import ConfigError, unknown_name

__all__ = ["chosen"]


def chosen(where: str, name: str | None) -> str:
    """The given name, or that of the only learner, or committee beside its members; raises `ConfigError` if it is unknown, or there are several."""
    # imports the engine, which is slow
    from stream_rank.checkpoint.model_file import chosen_in, learners_in, open_snapshot

    snapshot = open_snapshot(where)
    names, only = learners_in(snapshot), chosen_in(snapshot)
    if name in names:
        return str(name)
    if name is not None:
        raise ConfigError(unknown_name("learner", name, names))
    if only is None:
        raise ConfigError(
            f"{where} has {', '.join(names) or 'no learner'}: which of them? --learner"
        )
    return only
