"""A chart of means and how sure they are, a line for each name."""

from collections.abc import Mapping
from html import escape

from stream_rank.report.charts import COLOURS
from stream_rank.report.scale import Scale, short

__all__ = ["interval_chart"]

_WIDTH, _ROW, _TOP, _BOTTOM, _RIGHT = 720, 26, 8, 44, 24
_LETTER = 6.6
"""About as wide as a letter of twelve pixels is, so that names fit beside the chart."""
_MOST_LETTERS = 44


def interval_chart(means: Mapping[str, tuple[float, float, float]], label: str) -> str:
    """For each name a mean, and the ends of its interval.

    >>> chart = interval_chart({"prank": (0.5, 0.4, 0.6), "oap-bpm": (0.45, 0.4, 0.5)}, "rank loss")
    >>> chart.count("<circle")
    2
    """
    left = 16 + _LETTER * min(_MOST_LETTERS, max(map(len, means)))
    bottom = _TOP + _ROW * len(means)
    low, high = min(each[1] for each in means.values()), max(each[2] for each in means.values())
    margin = 0.05 * (high - low) or 0.5
    across = Scale(low - margin, high + margin, left, _WIDTH - _RIGHT)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {bottom + _BOTTOM}" role="img" aria-label="{escape(label)}">'
    ]
    for tick in across.ticks():
        x = across.place(tick)
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
            f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{short(tick)}</text>'
        )
    for place, (name, (mean, first, last)) in enumerate(means.items()):
        y, colour = _TOP + _ROW * (place + 0.5), COLOURS[place % len(COLOURS)]
        shown = name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
        parts.append(
            f'<text x="{left - 8:.1f}" y="{y + 4}" text-anchor="end">{escape(shown)}</text>'
            f'<g stroke="{colour}" fill="{colour}"><title>{escape(name)}: {mean:.4f} ({first:.4f} to {last:.4f})</title>'
            f'<line x1="{across.place(first):.1f}" x2="{across.place(last):.1f}" y1="{y}" y2="{y}" stroke-width="3"/>'
            f'<circle cx="{across.place(mean):.1f}" cy="{y}" r="5"/></g>'
        )
    parts.append(
        f'<text x="{(left + _WIDTH - _RIGHT) / 2:.1f}" y="{bottom + 38}" text-anchor="middle">{escape(label)}</text></svg>'
    )
    return "".join(parts)
