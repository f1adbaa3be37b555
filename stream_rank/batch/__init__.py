"""The papers' batch methods: what a learner that saw everything at once would have found.

They are references beside the learners of a stream, for research and for tests, in scikit-learn's manner: `fit(X, y, groups=None)`,
`fit_pairs(X, preferred, other, magnitude=None)`, `predict(X)`. They need scikit-learn: `pip install stream-rank[batch]`. Nothing
of the rest of the package needs them.

They use BLAS and LAPACK, which the rest does not: nothing of them is kept by a stream or compared to the bit, and their
last digits depend on the processor.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stream_rank.batch.mprank import MPRank
    from stream_rank.batch.ordering import Ordering, greedy_order, preferences_of
    from stream_rank.batch.rank_boost import RankBoost
    from stream_rank.batch.rank_rls import RankRLS
    from stream_rank.batch.rank_svm import RankSVM
    from stream_rank.batch.svrank import SVRank

__all__ = [
    "MPRank",
    "Ordering",
    "RankBoost",
    "RankRLS",
    "RankSVM",
    "SVRank",
    "greedy_order",
    "preferences_of",
]

_MODULE_OF = {
    "MPRank": "mprank",
    "Ordering": "ordering",
    "RankBoost": "rank_boost",
    "RankRLS": "rank_rls",
    "RankSVM": "rank_svm",
    "SVRank": "svrank",
    "greedy_order": "ordering",
    "preferences_of": "ordering",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("sklearn", "scipy"):
            raise
        raise ImportError(
            f"stream_rank.batch.{name} needs scikit-learn; install stream-rank[batch]"
        ) from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
