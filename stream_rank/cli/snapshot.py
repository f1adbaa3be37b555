"""List, show, verify, compare, merge and export snapshots."""

import argparse
import json
from collections.abc import Iterator
from typing import Any

from stream_rank.printable import printable

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Commands and flags of `snapshot`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    where = "a snapshot, a model that was saved, or a run's folder (its latest)"
    listed = commands.add_parser("list", help="the snapshots in a folder", allow_abbrev=False)
    listed.add_argument("where", help="a folder of snapshots, or of a run")
    listed.add_argument("--json", action="store_true")
    show = commands.add_parser("show", help="the contents of a snapshot", allow_abbrev=False)
    show.add_argument("where", help=where)
    verify = commands.add_parser(
        "verify", help="check that snapshots are intact and can be loaded", allow_abbrev=False
    )
    verify.add_argument("where", nargs="+", help=where)
    verify.add_argument("--json", action="store_true")
    diff = commands.add_parser(
        "diff",
        help="the differences of two snapshots; the exit code is 1 if there are any",
        allow_abbrev=False,
    )
    diff.add_argument("one", help=where)
    diff.add_argument("other", help=where)
    diff.add_argument("--json", action="store_true")
    export = commands.add_parser(
        "export", help="averaged weights and thresholds as plain JSON", allow_abbrev=False
    )
    export.add_argument("where", help=where)
    export.add_argument("--learner", help="which one, where there are several")
    export.add_argument(
        "--npz", metavar="FILE", help="arrays for NumPy, with all traits, instead of JSON"
    )
    merge = commands.add_parser(
        "merge",
        help="one learner out of several that learned from shards of a stream: their average, as a model",
        allow_abbrev=False,
    )
    merge.add_argument("where", nargs="+", help=where)
    merge.add_argument(
        "--learner",
        help="which one of each, where there are several, or which member of a committee",
    )
    merge.add_argument("--out", required=True, metavar="FILE", help="a file, or a URL")


def run(given: argparse.Namespace) -> int:
    """Run the action; returns 1 if two snapshots differ."""
    return int(
        {
            "list": _list,
            "show": _show,
            "verify": _verify,
            "diff": _diff,
            "export": _export,
            "merge": _merge,
        }[given.action](given)
    )


def _list(given: argparse.Namespace) -> int:
    from stream_rank.checkpoint.store import SnapshotStore
    from stream_rank.errors import SnapshotError

    for folder in (given.where, f"{given.where.rstrip('/')}/snapshots"):
        store = SnapshotStore(folder)
        kept, latest = store.kept(), store.latest()
        if kept:
            break
    else:
        raise SnapshotError(f"there is no snapshot in {given.where}")
    if given.json:
        found = [
            {
                "name": each.name,
                "records": each.records,
                "written": each.written.isoformat(),
                "latest": each.name == latest,
            }
            for each in kept
        ]
        print(json.dumps(found, indent=2))
        return 0
    for each in kept:
        mark = "  latest" if each.name == latest else ""
        words = f"{store.url_of(each.name)}  {each.records:>12,} records  {each.written}{mark}"
        print(printable(words))
    return 0


def _opened(where: str) -> tuple[Any, dict[str, Any]]:
    """A snapshot, and the learners in it."""
    from stream_rank.checkpoint.model_file import learner_in, learners_in, open_snapshot

    snapshot = open_snapshot(where)
    return snapshot, {name: learner_in(snapshot, name) for name in learners_in(snapshot)}


def _described(where: str) -> dict[str, Any]:
    """The description of a snapshot that `show` prints."""
    from stream_rank.checkpoint.model_file import state_digest

    snapshot, learners = _opened(where)
    found: dict[str, Any] = {}
    if "progress" in snapshot.keys:
        progress = snapshot.part("progress").metadata
        found |= {"position": progress["position"], "counts": progress["counts"]}
        found["settings"] = snapshot.metadata["settings"]
    found["learners"] = {
        name: {
            **_described_model(model),
            "features": len(model.features),
            "state_sha256": state_digest(model),
        }
        for name, model in learners.items()
    }
    return found


def _described_model(model: Any) -> dict[str, Any]:
    """What a learner is, and what prepares its events."""
    learner = getattr(model, "learner", model)
    found = {
        "class": type(learner).__name__,
        "parameters": learner.parameters,
        "events": learner.n_events,
    }
    stages = [{type(stage).__name__: stage.parameters} for stage in getattr(model, "stages", [])]
    return {"preparation": stages, **found} if stages else found


def _show(given: argparse.Namespace) -> int:
    print(json.dumps(_described(given.where), indent=2))
    return 0


def _verify(given: argparse.Namespace) -> int:
    sound = {where: list(_opened(where)[1]) for where in given.where}
    if given.json:
        print(json.dumps(sound, indent=2))
        return 0
    for where, learners in sound.items():
        print(printable(f"{where}: sound; {', '.join(learners) or 'no learner'}"))
    return 0


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings, with dotted names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _diff(given: argparse.Namespace) -> int:
    one, other = (dict(_flat(_with_rules(where))) for where in (given.one, given.other))
    names = [*one, *(name for name in other if name not in one)]
    changed = [name for name in names if repr(one.get(name)) != repr(other.get(name))]  # NaN too
    if given.json:
        print(json.dumps({name: [one.get(name), other.get(name)] for name in changed}, indent=2))
        return int(bool(changed))
    for name in changed:
        print(printable(f"{name}: {one.get(name)!r} -> {other.get(name)!r}"))
    if not changed:
        print("no difference")
    return int(bool(changed))


def _with_rules(where: str) -> dict[str, Any]:
    from stream_rank.checkpoint.rule_export import exported

    described = _described(where)
    for name, learner in _opened(where)[1].items():
        rule = exported(learner)
        kept = ("weights", "thresholds", "bias")
        described["learners"][name]["rule"] = {
            key: dict(enumerate(rule[key], 1)) if key == "thresholds" else rule[key]
            for key in kept
            if key in rule
        }
    return described


def _export(given: argparse.Namespace) -> int:
    from stream_rank.checkpoint.model_file import load
    from stream_rank.checkpoint.rule_export import exported
    from stream_rank.cli.learner_choice import chosen

    learner = load(given.where, chosen(given.where, given.learner))
    if given.npz is not None:
        return _written(learner, given.npz)
    print(json.dumps(exported(learner), indent=2))
    return 0


def _merge(given: argparse.Namespace) -> int:
    """Write the average of learners to a file, which has no position: of a run, it is where several streams were, and none can go on there."""
    from stream_rank.checkpoint.model_file import load, open_snapshot, save
    from stream_rank.cli.learner_choice import chosen
    from stream_rank.errors import MergeError
    from stream_rank.features.average import average

    known: dict[str, str] = {}
    for where in given.where:
        labels = (open_snapshot(where).metadata.get("settings") or {}).get("labels")
        if labels is not None:
            known.setdefault(json.dumps(labels), where)
    if len(known) > 1:
        told = "; ".join(f"{where} learned {labels}" for labels, where in known.items())
        raise MergeError(f"ranks that are not of the same labels have no average: {told}")
    learners = [load(where, chosen(where, given.learner)) for where in given.where]
    try:
        merged = average(learners)
    except MergeError as error:
        listed = "; ".join(f"{number} is {where}" for number, where in enumerate(given.where, 1))
        raise MergeError(f"{error} (learner {listed})") from None
    save(merged, given.out)
    events = [getattr(each, "learner", each).n_events for each in (merged, *learners)]
    print(
        printable(
            f"{given.out}: what {len(learners)} learned from {events[0]:,} events "
            f"({', '.join(f'{count:,}' for count in events[1:])})"
        )
    )
    return 0


def _written(model: Any, path: str) -> int:
    """Write the rule of a learner as arrays, one file without code in it."""
    import numpy as np

    from stream_rank.errors import SnapshotError

    learner = getattr(model, "learner", model)
    if not hasattr(learner, "rule_arrays"):
        raise SnapshotError("a committee has no arrays of its own: export its members as JSON")
    with open(path, "wb") as file:
        np.savez(file, **learner.rule_arrays())
    return 0
