"""Rank losses by group."""

from stream_rank.engine.jit import compiled

__all__ = ["COUNT", "GROUPS", "NUMBER", "STEPS", "SUM", "count_by_group"]

# Rows of `groups`, and entries of `gone`.
NUMBER, COUNT, STEPS = range(3)
GROUPS, SUM = range(2)


@compiled
def count_by_group(labels, predictions, numbers, groups, gone):
    """Add how many steps each prediction was off to its group's column; group 0 is no group.

    Where a group needs the column of another, that one's mean goes to `gone`.

    Cost: a nanosecond an event.
    """
    for i in range(len(labels)):
        if numbers[i] == 0:
            continue
        column = 1 + (numbers[i] - 1) % (groups.shape[1] - 1)
        if groups[NUMBER, column] != numbers[i]:
            if groups[COUNT, column] > 0.0:
                gone[GROUPS] += 1.0
                gone[SUM] += groups[STEPS, column] / groups[COUNT, column]
            groups[NUMBER, column] = numbers[i]
            groups[COUNT, column] = groups[STEPS, column] = 0.0
        groups[COUNT, column] += 1.0
        groups[STEPS, column] += abs(labels[i] - predictions[i])
