"""Pictures: the same bytes whenever they are drawn, and lines that differ by more than their colour, for print and for the colour-blind."""

from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl

__all__ = ["STYLES", "begin", "save"]

STYLES: tuple[Any, ...] = (
    *("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1))),
)
"""Of lines, one after the other."""


def begin(size: float = 11) -> ModuleType:
    """What draws, without a screen."""
    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "stream-rank", "svg.fonttype": "none", "font.size": size})
    from matplotlib import pyplot

    return pyplot


def save(plot: Any, out: Path) -> None:
    """Keep a picture, and let it go."""
    for axes in plot.axes:
        axes.spines[["top", "right"]].set_visible(False)
    out.parent.mkdir(parents=True, exist_ok=True)
    without = {"Date": None, "Creator": None} if out.suffix == ".svg" else None
    plot.savefig(out, metadata=without, dpi=150)
    begin().close(plot)
