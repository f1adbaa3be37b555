"""Print the JSON Schema of an event, as `stream-rank` checks it."""

import argparse
import json

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """`schema` has no flags."""


def run(_: argparse.Namespace) -> int:
    """Print the schema; returns the exit code."""
    from stream_rank.codec.schema import json_schema

    print(json.dumps(json_schema(), indent=2))
    return 0
