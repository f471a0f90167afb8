"""The metrics that a task lists: found, checked, and worked out from rows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.figures import Mean, MetricValue
from pytest_llmeval.results.metric import TEXTLESS, MetricFunction, as_value
from pytest_llmeval.results.resampled import uncertainty
from pytest_llmeval.results.task_info import MetricEntry, metric_name
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.votes import SameAnswer, same_answer
from pytest_llmeval.task.options import OptionError, checked
from pytest_llmeval.task.registry import METRICS

ACCURACY: Final = "accuracy"

MACRO: Final = "macro"
"""What others call the mean of a score over samples; `METRICS` has nothing nearer than micro."""

SAME: Final = "same"
"""The parameter of a metric that is given the equality of answers."""


Equality: TypeAlias = Callable[[], SameAnswer | None]
"""Finds the equality of a task's answers, when a metric wants it; None where there is none."""


class MetricError(LLMEvalError):
    """A task's metric is wrong; `place` is its place in the list, and the option's name if any."""

    def __init__(self, place: tuple[int | str, ...], problem: str) -> None:
        """Keep where it stands and what is wrong."""
        super().__init__(problem)
        self.place, self.problem = place, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMetric:
    """A metric of a task: its function, with its options.

    `standing`: the `metric_name` of the figure that it equals, if that is worked out in any case:
    accuracy, a score's mean or a share. A score or a share listed by its name has no function.
    """

    name: str
    function: MetricFunction | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    standing: str | None = None

    @property
    def reads_texts(self) -> bool:
        """Whether its function may read the texts of rows, such as answers."""
        return self.function is not None and self.function not in TEXTLESS

    @property
    def lacks_equality(self) -> bool:
        """Whether its function compares answers, and there is nothing to compare them by."""
        return SAME in self.options and self.options[SAME] is None

    def values(
        self, scored: Sequence[Row], scores: Iterable[Mean], shares: Iterable[Mean]
    ) -> tuple[MetricValue, ...]:
        """Return its values over scored rows.

        Args:
            scored: the rows that are correct or incorrect.
            scores: the means of scores, worked out already.
            shares: accuracy and other shares, worked out already.

        A function that fails, or returns something else than a metric returns, gives a value of
        None that says why: the other figures of a run must not be lost with it.
        """
        for means, are_shares in ((scores, False), (shares, True)):
            for mean in means:
                if metric_name(mean.name) == self.standing:
                    return (as_value(mean, share=are_shares),)
        try:
            return () if self.function is None else self._values(self.function, scored)
        except Exception as error:  # noqa: BLE001 - a metric may be anybody's code
            problem = described_with_place(error)
            return (MetricValue(name=self.name, value=None, n=len(scored), problem=problem),)

    def _values(self, function: MetricFunction, scored: Sequence[Row]) -> tuple[MetricValue, ...]:
        found = function(scored, **self.options)
        if isinstance(found, MetricValue):
            return (found,)
        if isinstance(found, Sequence) and all(isinstance(one, MetricValue) for one in found):
            return tuple(found)
        value = _number(found)
        spread = uncertainty(scored, lambda rows: _number(function(rows, **self.options)))
        return (
            MetricValue(
                name=self.name,
                value=value,
                n=len(scored),
                standard_error=spread.standard_error,
                low=spread.low,
                high=spread.high,
            ),
        )


def _number(value: object) -> float | None:
    """Return what a metric returned, if it is a finite number or None; TypeError if not."""
    if value is None:
        return None
    # numpy's floats are floats; its integers and booleans are no numbers to Python.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        msg = f"it returned {value!r:.60}, which is no finite number, None or MetricValue"
        raise TypeError(msg)
    return float(value)


def check_metrics(
    entries: Sequence[MetricEntry],
    folder: Path,
    *,
    scores: Sequence[str] = (),
    shares: Sequence[str] = (),
) -> None:
    """Check the metrics that a task lists.

    Args:
        entries: names, or ``{name: options}``.
        folder: where ``./file.py`` of a metric is looked for.
        scores: names of the scores that the task's scorers make.
        shares: keys of the boolean details that its scorers and its solver declare.

    Raises:
        MetricError: a name is unknown, a function cannot be loaded, or an option does not fit.
    """
    names = {metric_name(score) for score in scores}
    for index, entry in enumerate(entries):
        name, options = _parted(index, entry)
        if METRICS.knows(name):
            _loaded(index, name, options, folder, lambda: same_answer(None))
        elif metric_name(name) not in names and name not in shares:
            problem = (
                f"is {name!r}; the mean of a score over the samples is listed by the score's name"
                if metric_name(name) == MACRO
                else METRICS.unknown(name)
            )
            if own := [*scores, *shares]:
                problem += f"; of this task: {', '.join(own)}"
            raise MetricError((index,), problem)
        elif options is not None:
            problem = "takes no options: it is a score, or a detail of one"
            raise MetricError((index, name), problem)


def declared_metrics(
    entries: Sequence[MetricEntry],
    folder: Path | None = None,
    equality: Equality = lambda: None,
) -> tuple[DeclaredMetric, ...]:
    """Return the metrics that a task lists.

    Args:
        entries: names, or ``{name: options}``.
        folder: where ``./file.py`` of a metric is looked for. Without it functions that are named
            by file or module are left out: what a stored run names is not loaded as code.
        equality: gives metrics that compare answers the equality to do it by, or None, and they
            are left out.

    Raises:
        MetricError: an option does not fit.
        TaskError, UsageError: a function cannot be loaded.
    """
    found = []
    for index, entry in enumerate(entries):
        name, options = _parted(index, entry)
        if not METRICS.knows(name):
            found.append(DeclaredMetric(name=name, standing=metric_name(name)))
        elif folder is not None or ":" not in name:
            metric = _loaded(index, name, options, folder or Path(), equality)
            if not metric.lacks_equality:
                found.append(metric)
    return tuple(found)


def share_names(entries: Sequence[MetricEntry]) -> tuple[str, ...]:
    """Return the listed names that are no metrics: of boolean details, or of scores."""
    names = (_parted(index, entry)[0] for index, entry in enumerate(entries))
    return tuple(name for name in names if not METRICS.knows(name))


def _parted(index: int, entry: MetricEntry) -> tuple[str, Json]:
    """Return a metric's name, and what stands after it (None: nothing)."""
    if isinstance(entry, str):
        return entry, None
    if isinstance(entry, Mapping) and len(entry) == 1:
        ((name, options),) = entry.items()
        return name, options
    problem = f"is {entry!r:.60}; write a metric's name, or one metric with its options"
    raise MetricError((index,), problem)


def _loaded(
    index: int, name: str, options: Json, folder: Path, equality: Equality
) -> DeclaredMetric:
    try:
        function = METRICS.load(name, folder)
        first, *others = inspect.signature(function).parameters
        needed = {SAME: equality()} if SAME in others else {}
        if options is not None and not isinstance(options, dict):
            # What is no mapping is the value of the first option.
            options = {others[0] if others else "": options}
        values = checked(function, options or {}, folder, skip=(first, SAME))
    except OptionError as error:
        inside = (part for part in error.place if part)
        raise MetricError((index, name, *inside), str(error)) from None
    except (TaskError, UsageError) as error:
        raise MetricError((index,), str(error)) from None
    except ValueError:
        problem = f"{name} is no metric: a metric takes the rows first"
        raise MetricError((index,), problem) from None
    return DeclaredMetric(
        name=name.rpartition(":")[2],
        function=function,
        options=values | needed,
        standing=_standing(function, values),
    )


def _standing(function: Callable[..., Any], options: Mapping[str, Any]) -> str | None:
    if function.__module__ != "pytest_llmeval.results.metric":
        return None
    if function.__name__ == "mean":
        return metric_name(options["score"])
    return ACCURACY if function.__name__ == ACCURACY else None
