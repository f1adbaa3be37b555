"""Print the JSON Schema of an event, as `stream-rank` checks it."""

import argparse
import json

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """There are no flags."""


def run(_: argparse.Namespace) -> int:
    """Print it; there are no flags to look at."""
    from stream_rank.codec.schema import json_schema

    print(json.dumps(json_schema(), indent=2))
    return 0
