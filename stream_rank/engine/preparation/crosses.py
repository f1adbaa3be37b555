"""Products of an event's entries of two kinds."""

from stream_rank.engine.jit import compiled

__all__ = ["count_products", "products_of"]

_MOST = 10_000
"""As many products has an event, those of the first slots: a message could ask for gigabytes of them."""


@compiled
def count_products(starts, slots, first_kind, second_kind):
    """How many products events have: of every entry of the first kind with every one of the second."""
    count = 0
    for event in range(len(starts) - 1):
        first = second = 0
        for entry in range(starts[event], starts[event + 1]):
            first += first_kind[slots[entry]]
            second += second_kind[slots[entry]]
        count += min(first * second, _MOST)
    return count


@compiled
def products_of(starts, slots, values, first_kind, second_kind, events, one, two, products):
    """Every product of events: whose it is, the two slots, and the product. Cost: O(entries and products)."""
    count = 0
    for event in range(len(starts) - 1):
        end = count + _MOST
        for i in range(starts[event], starts[event + 1]):
            if not first_kind[slots[i]]:
                continue
            for j in range(starts[event], starts[event + 1]):
                if second_kind[slots[j]] and count < end:
                    events[count] = event
                    one[count], two[count] = slots[i], slots[j]
                    products[count] = values[i] * values[j]
                    count += 1
