"""How learners stand, for the terminal: a table, and sentences about it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from stream_rank.contestants.spec_parts import members_of
from stream_rank.evaluation.comparison import costs
from stream_rank.evaluation.standing import ANSWERING, Standing
from stream_rank.printable import printable

__all__ = ["Standings", "beside_table", "of_summary", "table_of", "verdict"]

Standings = Sequence[tuple[str, Standing]]
"""The names of learners, and how each stands by one loss."""

_LARGE, _LOWEST = 1e6, 100.0
"""A loss that is shown with all its digits, and a skill: those of a learner that diverged may have any number of them."""


def _shown(loss: float | None) -> str:
    if loss is None:
        return "-"
    return f"{loss:.4f}" if loss < _LARGE else f"{loss:.3e}"


def _share(skill: float | None) -> str:
    if skill is None:
        return "-"
    return f"{skill:.3f}" if skill > -_LOWEST else f"below -{_LOWEST:.0f}"


def table_of(standings: Standings) -> Table:
    """The losses of every learner, its skill, and what it is worse than."""
    table = Table(box=None, pad_edge=False)
    table.add_column("learner", overflow="fold")
    for title in ("loss of", "so far", "lately", "skill", "lately"):
        table.add_column(title, justify="right")
    table.add_column()
    for name, each in standings:
        losses = map(_shown, (each.loss, each.recent_loss))
        skills = map(_share, (each.skill, each.recent_skill))
        mark = f"worse than the {each.baseline}" if each.worse else ""
        table.add_row(Text(printable(name)), each.kind, *losses, *skills, Text(mark, "red"))
    return table


def beside_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """How learners compare on the last half of a stream, the best first; those that it does not tell from the best are bold."""
    table = Table(box=None, pad_edge=False)
    table.add_column("learner", overflow="fold")
    titles = ("loss of", "last half", "90 %", "behind the best", "best in", "skill", "µs an event")
    for title in titles:
        table.add_column(title, justify="right")
    for row in rows:
        likely, behind = (
            "-" if row[key] is None else "–".join(f"{end:.3g}" for end in row[key])
            for key in ("likely", "behind")
        )
        chance = "-" if row["chance"] is None else f"{row['chance']:.0%}"
        table.add_row(
            Text(printable(row["name"]), "bold" if row["level"] else ""),
            *(row["loss"], _shown(row["late"]), likely, behind, chance, _share(row["skill"])),
            costs(row["microseconds"]),
        )
    return table


def of_summary(summary: Mapping[str, Any]) -> list[tuple[str, Standing]]:
    """How the learners stand, by every loss that they may have."""
    found = []
    for name, said in summary["learners"].items():
        kind = "rank" if "rank_loss" in said else "magnitude"
        losses = said[f"{kind}_loss"], said[f"recent_{kind}_loss"]
        free = said["baseline"], said["baseline_loss"], said["recent_baseline_loss"]
        if said["events"] or not said["preferences"]:
            found.append((name, Standing(kind, said["events"], *losses, *free)))
        if said["preferences"]:
            losses = said["preference_error"], said["recent_preference_error"]
            free = said["preference_baseline"], *2 * [said["preference_baseline_loss"]]
            found.append((name, Standing("preference", said["preferences"], *losses, *free)))
    return found


def verdict(standings: Standings) -> Iterator[str]:
    """What the skills are of, and whether any learner is of use at all."""
    voting = {member for name, _ in standings for member in members_of(name) or ()}
    by_kind: dict[str, list[tuple[str, Standing]]] = {}
    for name, each in standings:
        if each.events:
            by_kind.setdefault(each.kind, []).append((name, each))
    for kind, some in by_kind.items():
        free = some[0][1]
        answering = ANSWERING[free.baseline]
        if free.baseline_loss is None:
            continue
        yield (
            f"skill: what is saved of the {kind} loss of {answering}, "
            f"{_shown(free.baseline_loss)} (lately {_shown(free.recent_baseline_loss)})"
        )
        if all(each.beaten for _, each in some):
            yield f"No learner is better than {answering}."
        else:
            # what members are worth their committee knows
            worse = [name for name, each in some if each.worse and name not in voting]
            if worse:
                yield f"Worse than {answering}: {', '.join(worse)}."
