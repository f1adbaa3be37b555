"""Learners of other packages to compare with, as far as they are installed."""

from importlib.util import find_spec

__all__ = ["WABBIT", "peers"]

WABBIT = "vowpal-wabbit"
_OF_RANKS = (
    "scale | river.linear_model.SoftmaxRegression",
    "river.tree.HoeffdingAdaptiveTreeClassifier",
    WABBIT,
)
_OF_SCORES = (
    "scale | river.linear_model.LinearRegression",
    "river.tree.HoeffdingAdaptiveTreeRegressor",
    WABBIT,
)


def peers(ranks: bool) -> tuple[list[str], list[str]]:
    """Their specifications, for ranks or for scores, and why others are left out."""
    found, missing = [], []
    for name in _OF_RANKS if ranks else _OF_SCORES:
        if name == WABBIT and find_spec("vowpalwabbit") is None:
            missing.append(f"{WABBIT} is not installed (pip install vowpalwabbit)")
        else:
            found.append(name)
    return found, missing
