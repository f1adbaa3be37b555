"""Charts as inline SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite

from stream_rank.report.scale import Scale, short

__all__ = ["CLIP", "COLOURS", "Line", "heat_map", "line_chart"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#5b5b5b", "#e69f00")
"""The colour-blind safe palette of Okabe and Ito, its yellow darkened for a white background."""

_DASHES = ("", "7 3", "2 3", "9 3 2 3", "14 4")
"""Neighbours differ in print too; as many as have no divisor in common with colours, so that forty lines are all different."""
_WIDTH, _HEIGHT = 720, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 14, 46

CLIP = (
    f'<svg width="0" height="0" style="position:absolute"><clipPath id="box"><rect x="{_LEFT}" y="{_TOP}" '
    f'width="{_WIDTH - _LEFT - _RIGHT}" height="{_HEIGHT - _BOTTOM - _TOP}"/></clipPath></svg>'
)
"""A clip path, needed once on a page with line charts: it cuts lines at the edge of their chart."""

Line = Sequence[tuple[float, float | None]]

_GREY = 'stroke="#8a93a0" stroke-dasharray="4 4"'


def _style(number: int) -> str:
    colour = COLOURS[number % len(COLOURS)]
    dash = _DASHES[number % len(_DASHES)]
    return f'stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def line_chart(
    lines: Mapping[str, Line],
    x_label: str,
    y_label: str,
    marks: Mapping[str, Sequence[float]] | None = None,
    from_zero: bool = True,
    highest: float | None = None,
    beside: Mapping[str, Line] | None = None,
    whole: bool = False,
) -> str:
    """Lines over a logarithmic axis of events, with marks on that axis; what is not finite cannot be drawn.

    Losses that no prediction can exceed are drawn whole: `highest`. Others are cut where the first ones are very large.
    Lines `beside` the others are what those are compared with, and are grey. What is counted has `whole` numbers at its axis.
    """
    points = {
        name: [(x, y) for x, y in line if y is not None and isfinite(y)]
        for name, line in {**(beside or {}), **lines}.items()
    }
    styles = {name: _style(place) for place, name in enumerate(lines)}
    styles |= dict.fromkeys((beside or {}).keys() - lines.keys(), _GREY)
    xs = [x for line in points.values() for x, _ in line]
    ys = sorted(y for line in points.values() for _, y in line)
    if not xs:
        return "<p>No events yet.</p>"
    high, low = ys[-1], 0.0 if from_zero else ys[0]
    if from_zero:
        # the first few losses may be very large: they are cut off, so that the rest stays readable
        high = high if highest is not None else min(high, 2.5 * ys[len(ys) // 2])
        high = high or 1.0
    if high == low:
        low, high = low - 0.5, high + 0.5
    margin = 0.05 * (high - low)
    across = Scale(max(min(xs), 1), max(*xs, 2), _LEFT, _WIDTH - _RIGHT, logarithmic=True)
    least = low if from_zero else low - margin
    up = Scale(least, high + margin, _HEIGHT - _BOTTOM, _TOP, whole=whole)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(y_label)} against {escape(x_label)}">'
    ]
    bottom = _HEIGHT - _BOTTOM
    for tick in up.ticks(6 if whole else 5):
        y = up.place(tick)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    for tick in across.ticks():
        x = across.place(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{short(tick)}</text>'
        )
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text transform="translate(15 {(_TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>'
    )
    for name, line in points.items():
        path = " ".join(f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in line)
        last = f": {line[-1][1]:.4g} after {line[-1][0]:,.0f} events" if line else ""
        parts.append(
            f'<polyline clip-path="url(#box)" points="{path}" fill="none" stroke-width="2" {styles[name]}>'
            f"<title>{escape(name)}{last}</title></polyline>"
        )
        for x in (marks or {}).get(name, ()):
            place = across.place(x)
            parts.append(
                f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{bottom - 9}" y2="{bottom}" stroke-width="3" '
                f"{styles[name]}><title>{escape(name)}: drift at {x:,.0f}</title></line>"
            )
    parts.append("</svg>")
    return "".join(parts) + _legend(points, styles)


def _legend(points: Mapping[str, Sequence[tuple[float, float]]], styles: Mapping[str, str]) -> str:
    """The colour, name and last value of each line."""
    entries = []
    for name, line in points.items():
        last = f" <b>{line[-1][1]:.4g}</b>" if line else ""
        entries.append(
            f'<span><svg class="key" viewBox="0 0 22 10"><line x1="0" x2="22" y1="5" y2="5" stroke-width="3" '
            f"{styles[name]}/></svg>{escape(name)}{last}</span>"
        )
    return f'<p class="legend">{"".join(entries)}</p>'


def heat_map(rows: Sequence[Sequence[int]], down: str, across: str) -> str:
    """A heat map of the shares of each row."""
    size, left, top = 46, 52, 26
    count = len(rows)
    if count > 12:
        size = max(8, 560 // count)
    width, height = left + size * count + 10, top + size * count + 34
    parts = [
        f'<svg class="heat" style="width:{width}px" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(down)} against {escape(across)}">'
    ]
    for i, row in enumerate(rows):
        total = sum(row)
        y = top + i * size
        if count <= 12:
            parts.append(
                f'<text x="{left - 8}" y="{y + size / 2 + 4}" text-anchor="end">{i + 1}</text>'
            )
            parts.append(
                f'<text x="{left + (i + 0.5) * size}" y="{top - 8}" text-anchor="middle">{i + 1}</text>'
            )
        for j, number in enumerate(row):
            share = number / total if total else 0.0
            ink = "#fff" if share > 0.5 else "#222"
            x = left + j * size
            parts.append(
                f'<rect x="{x}" y="{y}" width="{size - 1}" height="{size - 1}" fill="#0072b2" fill-opacity="{0.04 + 0.96 * share:.3f}">'
                f"<title>{escape(down)} {i + 1}, {escape(across)} {j + 1}: {number:,}</title></rect>"
            )
            if count <= 12 and number:
                parts.append(
                    f'<text x="{x + size / 2}" y="{y + size / 2 + 4}" text-anchor="middle" style="fill:{ink}">{100 * share:.0f}</text>'
                )
    parts.append(
        f'<text x="{left + size * count / 2}" y="{height - 10}" text-anchor="middle">{escape(across)}, % of each row</text>'
    )
    parts.append(
        f'<text transform="translate(13 {top + size * count / 2}) rotate(-90)" text-anchor="middle">{escape(down)}</text></svg>'
    )
    return "".join(parts)
