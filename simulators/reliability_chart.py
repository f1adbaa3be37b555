"""Reliability curves as a picture: how often things came that were held for so likely."""

from collections.abc import Mapping, Sequence
from html import escape

from stream_rank.report.charts import COLOURS
from stream_rank.report.scale import Scale, short

__all__ = ["reliability_charts"]

_SIDE, _LEFT, _TOP, _RIGHT, _BOTTOM = 200, 46, 30, 18, 40
_STYLE = "text{font:11px sans-serif;fill:#444}.grid{stroke:#e4e7ec}.even{stroke:#8a93a0;stroke-dasharray:4 4}"


def reliability_charts(curves: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> str:
    """A square for each title, with lines of what was said and what was seen; on the dashed line both are the same.

    >>> picture = reliability_charts({"car": {"hedge": [(0.1, 0.12), (0.9, 0.88)]}})
    >>> picture.count("<polyline")
    1
    """
    wide, high = _LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BOTTOM
    names = list(dict.fromkeys(name for lines in curves.values() for name in lines))
    size = f'viewBox="0 0 {wide * len(curves)} {high + 24}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>']
    for place, (title, lines) in enumerate(curves.items()):
        parts.append(f'<g transform="translate({place * wide} 0)">{_square(title)}')
        for name, line in lines.items():
            colour = COLOURS[names.index(name) % len(COLOURS)]
            points = [(_ACROSS.place(said), _UP.place(seen)) for said, seen in line]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            )
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points
            ]
        parts.append("</g>")
    for place, name in enumerate(names):
        x = _LEFT + 150 * place
        parts.append(
            f'<line x1="{x}" x2="{x + 20}" y1="{high + 8}" y2="{high + 8}" stroke="{COLOURS[place % len(COLOURS)]}" stroke-width="3"/>'
            f'<text x="{x + 26}" y="{high + 12}">{escape(name)}</text>'
        )
    return "".join([*parts, "</svg>\n"])


_ACROSS = Scale(0.0, 1.0, _LEFT, _LEFT + _SIDE)
_UP = Scale(0.0, 1.0, _TOP + _SIDE, _TOP)


def _square(title: str) -> str:
    """The axes of a square."""
    right, bottom, middle = _LEFT + _SIDE, _TOP + _SIDE, _LEFT + _SIDE / 2
    parts = [f'<text x="{middle}" y="{_TOP - 12}" text-anchor="middle">{escape(title)}</text>']
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _ACROSS.place(tick), _UP.place(tick)
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
            f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{short(tick)}</text>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    parts.append(
        f'<line class="even" x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{_TOP}"/>'
        f'<text x="{middle}" y="{bottom + 32}" text-anchor="middle">said</text>'
        f'<text transform="translate(12 {_TOP + _SIDE / 2}) rotate(-90)" text-anchor="middle">seen</text>'
    )
    return "".join(parts)
