"""Metrics for Prometheus, read off when it asks: events pay nothing for them."""

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from stream_rank.monitoring.catalogue import CATALOGUE
from stream_rank.pipeline.histogram import Histogram

__all__ = ["Exporter", "Readings"]

Readings = Mapping[str, Mapping[tuple[str, ...], float | Histogram | None]]
"""Values by the values of labels, by the name of the metric; None where there is none yet."""

_FAMILIES: dict[str, Any] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


class Exporter(Collector):
    """Turns readings into what Prometheus reads. A name that is not in the catalogue is an error."""

    def __init__(self, readings: Callable[[], Readings]) -> None:
        self._readings = readings
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def describe(self) -> Iterator[Any]:
        """Nothing is asked when it is registered."""
        return iter(())

    def collect(self) -> Iterator[Any]:
        """All metrics now."""
        for name, values in self._readings().items():
            metric = CATALOGUE[name]
            family = _FAMILIES[metric.kind](name, metric.meaning, labels=metric.labels)
            for labels, value in values.items():
                if isinstance(value, Histogram):
                    family.add_metric(labels, _buckets(value), sum_value=value.total)
                elif value is not None:
                    family.add_metric(labels, value)
            yield family

    def text(self) -> bytes:
        """As `/metrics` has it."""
        return generate_latest(self._registry)


def _buckets(times: Histogram) -> list[tuple[str, float]]:
    """Bounds, with how many were at most as much."""
    bounds = [*(f"{bound:g}" for bound in times.bounds), "+Inf"]
    return list(zip(bounds, accumulate(times.counts), strict=True))
