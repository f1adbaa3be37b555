"""Users who come by: many more than are known at a time, and memory that stays where it is."""

import os

import numpy as np

from tests.benchmarks.factors import learned, lines_of, loop_of


def test_memory_is_flat_at_the_bound_however_many_users_come() -> None:
    """A million users in full; every one comes twice, so that they are let in, and gives the place to another."""
    count, known = (1_000_000, 20_000) if os.environ.get("SOAK") else (20_000, 1_000)
    loop, sizes = loop_of(known, expire_after=5 * known), []
    generator, part = np.random.default_rng(1), count // 10
    for begin in range(0, count, part):
        users = np.repeat(np.arange(begin, begin + part), 2)
        items = (known // 10 * generator.random(len(users)) ** 2).astype(np.int64)
        learned(loop, lines_of(users, items, generator.integers(1, 6, len(users))))
        model = loop.contestants[0].model
        sizes.append(sum(memory.n_bytes for memory in model._model.memories().values()))
        assert len(model.features) <= known
    assert sizes[0] == sizes[-1]
    names = set(model.features)
    assert "user=u0" not in names  # forgotten long ago
    assert any(f"user=u{each}" in names for each in range(count - part, count))
    assert loop.progress.counts.learned == 2 * count
