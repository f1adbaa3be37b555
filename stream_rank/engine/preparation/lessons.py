"""Events that are predicted and then learned, as rows of a sequence: which event a row is of, and what comes back."""

from stream_rank.engine.jit import compiled

__all__ = ["answers", "rise", "twice"]


@compiled
def twice(asking, learning, events, learned):
    """For every event a row if it is asked for, and another if it is learned; how many rows there are."""
    count = 0
    for event in range(len(asking)):
        if asking[event]:
            events[count], learned[count] = event, False
            count += 1
        if learning[event]:
            events[count], learned[count] = event, True
            count += 1
    return count


@compiled
def answers(events, learned, predictions, found):
    """Write what was predicted in the rows that were asked for to their events."""
    for row in range(len(events)):
        if not learned[row]:
            found[events[row]] = predictions[row]


@compiled
def rise(met, most, risen):
    """Write how many of at most so many names were met after each row; a row that comes late has met what those before it had."""
    reached = 0
    for row in range(len(met)):
        reached = max(reached, min(met[row], most))
        risen[row] = reached
