"""The few kinds of panels that the dashboards are made of; core ones, which every Grafana has."""

from dashboards.panels.firing import firing
from dashboards.panels.lines import Scale, lines
from dashboards.panels.matrix import matrix
from dashboards.panels.numbers import numbers
from dashboards.panels.overview import Column, overview
from dashboards.panels.parts import BAD, FAIR, GOOD, NEUTRAL, SOURCE, UNKNOWN, Panel
from dashboards.panels.timeline import timeline
from dashboards.panels.words import Word, words

__all__ = [
    "BAD",
    "FAIR",
    "GOOD",
    "NEUTRAL",
    "SOURCE",
    "UNKNOWN",
    "Column",
    "Panel",
    "Scale",
    "Word",
    "firing",
    "lines",
    "matrix",
    "numbers",
    "overview",
    "timeline",
    "words",
]
