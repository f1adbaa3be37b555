"""All products of up to so many of an event's features."""

import numpy as np

from stream_rank.engine.jit import compiled, inlined

__all__ = ["count_powers", "powers_of"]

_MOST = 100_000
"""No more products are made of an event: with a degree of 2 these are those of 446 features."""
_LARGEST = 1e130


@inlined
def _end(starts, slots, event, bits):
    """The end of the entries that take part: those whose slot and one have so many bits."""
    end = starts[event]
    while end < starts[event + 1] and slots[end] + 1 < 1 << bits:
        end += 1
    return end


@compiled
def count_powers(starts, slots, least, degree, bits):
    """How many products `powers_of` finds in events. Cost: O(entries)."""
    count = 0
    for event in range(len(starts) - 1):
        n = _end(starts, slots, event, bits) - starts[event]
        found, ways = 0.0, 1.0
        for size in range(degree + 1):
            if size > 0:
                ways = ways * (n + size - 1) / size
            if size >= least:
                found += ways
        count += int(min(found + 0.5, _MOST))
    return count


@inlined
def _ways(chosen, size, degree):
    """In how many orders the factors of a product come in a power, with what is left of it."""
    ways, run = 1.0, 1
    for i in range(2, degree + 1):
        ways *= i
    for i in range(2, degree - size + 1):
        ways /= i
    for i in range(1, size):
        run = run + 1 if chosen[i] == chosen[i - 1] else 1
        ways /= run
    return ways


@compiled
def powers_of(starts, slots, values, least, degree, others, bits, events, keys, products):
    """The products of `least` to `degree` features of every event: whose each is, its key, and what it is.

    It is `sqrt(ways * others[size])` times the product: `ways` are those in which its factors come in the power of a sum, and
    `others` what the rest of the power counts. A key has `bits` bits for each factor, its slot and one. The slots of an event
    ascend. Returns how many there are. Cost: O(degree) a product.
    """
    count, chosen = 0, np.empty(degree + 1, np.int64)
    for event in range(len(starts) - 1):
        begin, end = starts[event], _end(starts, slots, event, bits)
        most = count + _MOST
        for size in range(least, degree + 1):
            for i in range(size):
                chosen[i] = begin
            more = size == 0 or begin < end
            while more and count < most:
                key, product = 0, 1.0
                for i in range(size):
                    key = key << bits | (slots[chosen[i]] + 1)
                    product *= values[chosen[i]]
                product *= np.sqrt(_ways(chosen, size, degree) * others[size])
                events[count], keys[count] = event, key
                products[count] = min(max(product, -_LARGEST), _LARGEST)
                count += 1
                place = size - 1
                while place >= 0 and chosen[place] == end - 1:
                    place -= 1
                more = place >= 0
                for i in range(size - 1, place - 1, -1):
                    if more:
                        chosen[i] = chosen[place] + 1
    return count
