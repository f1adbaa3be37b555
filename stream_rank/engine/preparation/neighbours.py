"""What reference users gave an item so far, as features of the event that asks for it."""

import numpy as np

from stream_rank.engine.jit import compiled

__all__ = ["FIRST", "HIGHEST", "LINES", "LOWEST", "REFERENCES", "neighbours"]

# Entries of `counts`, and of `labels_met`.
REFERENCES, LINES = range(2)
FIRST, LOWEST, HIGHEST = range(3)


@compiled
def neighbours(
    starts,
    slots,
    values,
    field_of,
    labels,
    learning,
    counts,
    labels_met,
    references,
    number_of,
    line_of,
    given,
    stars,
    seen,
    to_starts,
    to_numbers,
    to_values,
    fresh,
):
    """Write what references gave the item of every event before it, less the middle of all labels so far, at unit length.

    Users come to be references by their first learned event, as long as there is room; their own label is no feature of theirs.
    `to_starts` has where each event's entries begin, `fresh` the event and the number of each reference that a learned event had for the
    first time; how many of these there are is returned.

    Cost: O(references) an event.
    """
    at, n_fresh = 0, 0
    for event in range(len(learning)):
        to_starts[event] = at
        user, item = -1, -1
        for entry in range(starts[event], starts[event + 1]):
            slot = slots[entry]
            if slot < len(field_of) and values[entry] != 0.0:
                if field_of[slot] == 0 and user < 0:
                    user = slot
                elif field_of[slot] == 1 and item < 0:
                    item = slot
        mine = number_of[user] if user >= 0 else -1
        if item >= 0 and line_of[item] >= 0:
            line, middle, square = (
                line_of[item],
                0.5 * (labels_met[LOWEST] + labels_met[HIGHEST]),
                0.0,
            )
            for number in range(counts[REFERENCES]):
                if given[line, number] and number != mine:
                    moved = stars[line, number] - middle
                    to_numbers[at], to_values[at] = number, moved
                    square += moved * moved
                    at += 1
            length = np.sqrt(square)
            for entry in range(to_starts[event], at):
                if length > 0.0:
                    to_values[entry] /= length
        if not learning[event]:
            continue
        for entry in range(to_starts[event], at):
            number = to_numbers[entry]
            if not seen[number]:
                seen[number] = 1
                fresh[n_fresh, 0], fresh[n_fresh, 1] = event, number
                n_fresh += 1
        label = labels[event]
        if labels_met[FIRST] == 0.0 or label < labels_met[LOWEST]:
            labels_met[LOWEST] = label
        if labels_met[FIRST] == 0.0 or label > labels_met[HIGHEST]:
            labels_met[HIGHEST] = label
        labels_met[FIRST] = 1.0
        if user >= 0 and item >= 0:
            if mine < 0 and counts[REFERENCES] < len(references):
                mine = counts[REFERENCES]
                counts[REFERENCES] += 1
                references[mine], number_of[user] = user, mine
            if mine >= 0:
                if line_of[item] < 0:
                    line_of[item] = counts[LINES]
                    counts[LINES] += 1
                given[line_of[item], mine], stars[line_of[item], mine] = 1, label
    to_starts[len(learning)] = at
    return n_fresh
