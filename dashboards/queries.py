"""Expressions for Prometheus, of metrics that the catalogue has."""

from stream_rank.monitoring.catalogue import CATALOGUE, PROCESS

__all__ = [
    "AT",
    "CHALLENGER",
    "CHAMPION",
    "ONE_OF_SEVERAL",
    "champion",
    "grown",
    "increase",
    "mean",
    "metric",
    "ours",
    "per_daemon",
    "per_second",
    "quantile",
    "scored",
    "series",
    "total",
]

_SCOPE = 'job=~"$job", instance=~"$instance"'
"""Every expression is about the daemons that were chosen above."""
_OWN = "stream_rank_"

AT = "$at"
"""In a legend: the instance, where there are several; of a single one it would only be in the way."""
ONE_OF_SEVERAL = (
    "label_replace(count(count by (job, instance) "
    f"(last_over_time({_OWN}ready{{{_SCOPE}}}[$__range]))) > 1, "
    '"at", "{{instance}}", "", "")'
)
"""Has what `AT` stands for as a label, which is a piece of a legend itself; nothing at all, if there is one instance."""

CHAMPION = f'{_OWN}learner_info{{{_SCOPE}, role="champion"}}'
"""1 for every learner that is its daemon's first, ..."""
CHALLENGER = CHAMPION.replace("champion", "challenger")
"""... and for all others."""


def series(name: str, **labels: str) -> str:
    """Something by its whole name: a recording rule, or what Prometheus knows by itself."""
    more = "".join(f', {label}="{value}"' for label, value in labels.items())
    return f"{name}{{{_SCOPE}{more}}}"


def metric(name: str, **labels: str) -> str:
    """A gauge, by its name without the prefix.

    >>> metric("ready")
    'stream_rank_ready{job=~"$job", instance=~"$instance"}'
    """
    return series(_known(name, "gauge"), **labels)


def per_second(name: str, **labels: str) -> str:
    """By how much a counter grows, or the sum of a histogram."""
    return f"rate({_counter(name, **labels)}[$__rate_interval])"


def increase(name: str, window: str = "$__rate_interval", **labels: str) -> str:
    """By how much a counter grew."""
    return f"increase({_counter(name, **labels)}[{window}])"


def grown(name: str, since: str) -> str:
    """By how much a counter grew since then, to the sample: what came between two windows of `increase` is in neither."""
    counter = _counter(name)
    return f"({counter} - {counter} offset {since})"


def mean(name: str, by: str) -> str:
    """The mean of what a histogram observed."""
    whole = _known(name, "histogram")
    total, count = (
        f"sum by ({by}) (rate({series(f'{whole}_{part}')}[$__rate_interval]))"
        for part in ("sum", "count")
    )
    return f"{total} / ({count} > 0)"


def quantile(share: float, name: str, by: str = "") -> str:
    """The amount that a share of what a histogram observed does not exceed."""
    buckets = series(f"{_known(name, 'histogram')}_bucket")
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share:g}, sum by ({labels}) (rate({buckets}[$__rate_interval])))"


def champion(expression: str) -> str:
    """An expression, of champions only."""
    return f"{expression} and on (job, instance, learner) {CHAMPION}"


def scored() -> str:
    """Ratings and preferences a second that each learner predicted before it learned them; it has both counters, whatever comes."""
    return f"({per_second('scored_predictions_total')} + {per_second('scored_preferences_total')})"


def per_daemon(expression: str) -> str:
    """The largest number of each daemon, without the other labels that a Prometheus may give to what it scrapes."""
    return f"max by (job, instance) ({expression})"


def total(expression: str) -> str:
    """The sum of each daemon's numbers."""
    return f"sum by (job, instance) ({expression})"


def ours(expression: str) -> str:
    """An expression about processes of all kinds, of those that are, or were within a day, daemons of ours."""
    daemons = series(f"{_OWN}build_info")
    return f"{expression} and on (job, instance) last_over_time({daemons}[1d])"


def _counter(name: str, **labels: str) -> str:
    if name.endswith("_sum"):
        return series(f"{_known(name.removesuffix('_sum'), 'histogram')}_sum", **labels)
    return series(_known(name, "counter"), **labels)


def _known(name: str, kind: str) -> str:
    whole = name if name in PROCESS else f"{_OWN}{name}"
    found = (PROCESS | CATALOGUE)[whole]
    if found.kind != kind:
        raise ValueError(f"{whole} is a {found.kind}, no {kind}")
    return whole
