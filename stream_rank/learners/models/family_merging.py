"""Families of members that learned apart, in one: members of the same number are averaged.

A rule counts for as many events as it learned, and thresholds are averaged by that. A feature's weight is averaged over the families that
know it: one that never met it says nothing of it, and its zero would only shrink what the others learned. Where a rule is
averaged over rounds, its sum over rounds is the sum of theirs. A feature that came late to one of them is averaged
over the rounds that it was in, in each; one that was there from the beginning was in all.

Cost: O(members * (d + k)) a family.

Reference: R. McDonald, K. Hall and G. Mann. Distributed training strategies for the structured perceptron. NAACL 2010.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import Memory
from stream_rank.engine.perceptron.state import EVENTS, LASTING, PRESENT, RANKS, RULE, UPDATES
from stream_rank.learners.models.part import Part, laid_out, shares_of

__all__ = ["merge_families"]

Array = npt.NDArray[Any]


def merge_families(parts: Sequence[Part]) -> None:
    """Let the first part be what all of them are together."""
    memory: Memory = parts[0].model.memory
    slots, inner = memory["mean"].size, slice(1, int(memory["sizes"][RANKS]))
    rule, theirs = int(memory["sizes"][RULE]), [part.model.memory for part in parts]
    events = [int(each["sizes"][EVENTS]) for each in theirs]
    total, lasting = sum(events), rule in (LASTING, PRESENT)
    names = ("weights", "mean", "thresholds", "mean_thresholds", "correct")
    found = {name: np.zeros(memory[name].shape, _wider(memory[name])) for name in names}
    leads = np.zeros(slots)
    rounds = [_rounds(part, slots) for part in parts]
    for part, each, count, share in zip(parts, theirs, events, shares_of(rounds), strict=True):
        # sums are over as many rounds as there are, also those of slots that only some have
        times = total / max(1, count) if lasting else 1.0
        found["weights"] += share * laid_out(each["weights"], part, slots)
        found["mean"] += share * times * laid_out(each["mean"], part, slots)
        leads += share * laid_out(part.model.averaged()[0], part, slots) if lasting else 0.0
        of_all = count / max(1, total)
        for name, factor in (("thresholds", of_all), ("mean_thresholds", of_all * times)):
            found[name][..., inner] += factor * each[name][..., inner]
        found["correct"] += each["correct"]
    late = _merge_clocks(parts, rounds, memory) if rule == PRESENT else np.zeros(slots, np.bool_)
    updates = sum(int(each["sizes"][UPDATES]) for each in theirs)
    for name in ("weights", "mean", "correct"):
        memory[name][...] = found[name]
    for name in ("thresholds", "mean_thresholds"):
        memory[name][..., inner] = found[name][..., inner]
    if late.any():
        memory["mean"][late] = 0.0
        memory["lag"][late] = leads[late] - memory["weights"][0, late]
    memory["sizes"][EVENTS], memory["sizes"][UPDATES] = total, updates


def _wider(array: Array) -> Any:
    """In what numbers are added up."""
    return np.int64 if array.dtype.kind == "i" else np.float64


def _rounds(part: Part, slots: int) -> Array:
    """In how many rounds each feature of a part was averaged, by slot of the whole."""
    memory = part.model.memory
    events, rule = float(memory["sizes"][EVENTS]), int(memory["sizes"][RULE])
    clocks = memory["clocks"] if rule == PRESENT else np.full(len(part.places), -1.0)
    return laid_out(np.where(clocks < 0, events, clocks), part, slots)


def _merge_clocks(
    parts: Sequence[Part], rounds: Sequence[Array], memory: Memory
) -> npt.NDArray[np.bool_]:
    """Merge the clocks of features; which of them came late to any part."""
    slots = len(rounds[0])
    late, first, whole = (np.zeros(slots, kind) for kind in ("bool", "bool", "float64"))
    for part, many in zip(parts, rounds, strict=True):
        clocks = laid_out(part.model.memory["clocks"], part, slots)
        late |= clocks > 0
        first |= clocks < 0
        whole += many
    memory["clocks"][...] = np.where(late, whole, np.where(first, -1.0, 0.0))
    memory["lag"][...] = 0.0
    memory["late"][0] = np.count_nonzero(late)
    return late
