"""The base class of all metrics of the package."""

from river import base, metrics

__all__ = ["StreamMetric"]


class StreamMetric(metrics.base.Metric):
    """A metric of numbers against predicted numbers, for classifiers and regressors alike."""

    _fmt = ",.6f"

    @property
    def bigger_is_better(self) -> bool:
        """A loss is better when it is smaller."""
        return False

    @property
    def requires_labels(self) -> bool:
        """River asks classifiers for labels, not for probabilities."""
        return True

    def works_with(self, model: base.Estimator) -> bool:
        """Ranks are predicted by classifiers, and by regressors as scores."""
        return isinstance(model, base.Classifier | base.Regressor)

    def __add__(self, other: metrics.base.Metric) -> metrics.base.Metrics:
        together: metrics.base.Metrics = metrics.base.Metrics([self, other])  # type: ignore[no-untyped-call]
        return together
