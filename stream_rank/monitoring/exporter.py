"""The exporter of metrics, which are collected per scrape and cost nothing per event."""

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
"""Values by metric name and label values; None for a value that is not known yet."""

_FAMILIES: dict[str, Any] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


class Exporter(Collector):
    """Converts readings to metric families. A name that is not in the catalogue is an error."""

    def __init__(self, readings: Callable[[], Readings]) -> None:
        self._readings = readings
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def describe(self) -> Iterator[Any]:
        """Nothing: metrics are not collected on registration."""
        return iter(())

    def collect(self) -> Iterator[Any]:
        """The current metrics."""
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
        """The text of `/metrics`."""
        return generate_latest(self._registry)


def _buckets(times: Histogram) -> list[tuple[str, float]]:
    """Cumulative buckets."""
    bounds = [*(f"{bound:g}" for bound in times.bounds), "+Inf"]
    return list(zip(bounds, accumulate(times.counts), strict=True))
