"""Values of metrics as text, with their scale."""

from __future__ import annotations

from typing import Protocol

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.figures import Corrected, Mean, MetricValue


class Scaled(Protocol):
    """A metric with its scale, such as a `Mean` or a `Change`."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def scale(self) -> float:
        """Its highest value."""
        ...


def is_percent(metric: Scaled) -> bool:
    """Whether a metric is shown in per cent: accuracies, and the shares among declared metrics."""
    if isinstance(metric, MetricValue) and metric.share:
        return True
    return metric.name == "accuracy" or isinstance(metric, Corrected)


def metric_value(value: float | None, metric: Scaled) -> str:
    """Return a value of a metric: in per cent, or a score in its scale."""
    return numbers.percent(value) if is_percent(metric) else numbers.score(value, metric.scale)


def metric_head(metric: Scaled) -> str:
    """Return what a metric is called, with its scale."""
    return "accuracy" if metric.name == "accuracy" else f"{clean(metric.name)} 0–{metric.scale:g}"


def metric_interval(mean: Mean) -> str:
    """Return a mean's 95 % interval in the form of its value."""
    if is_percent(mean) and mean.low is not None and mean.high is not None:
        return numbers.interval(100 * mean.low, 100 * mean.high, 100)
    return numbers.interval(mean.low, mean.high, mean.scale)
