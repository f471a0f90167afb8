"""What results need to know of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pytest_llmeval.records import Display, Json, Record
from pytest_llmeval.results.confusion import Confusion

MetricEntry: TypeAlias = str | Mapping[str, Json]
"""A metric as a task's `metrics` lists it: ``accuracy``, or ``{pass_at: [1, 10]}``."""

Ends: TypeAlias = tuple[float | None, float | None]
"""The ends of an interval; None where it is undefined."""


def metric_name(name: str) -> str:
    """Return a metric's name in the form in which names are compared.

    ``Word error`` and ``word-error`` are one name.
    """
    return "_".join(name.replace("-", " ").replace("_", " ").lower().split())


class Published(Record, frozen=True, kw_only=True):
    """One figure from the literature, in the scale of its `metric` (a `metric_name`)."""

    name: str
    metric: str
    value: float
    source: str


class Validated(Record, frozen=True, kw_only=True):
    """How far a judge agreed with the labels of `n` cases on the day `made`.

    It was asked `question` (version and digest) under `options` (as in a grader's text, among them
    the `votes` of each judge). `confusion` counts its verdicts. `kappa` is Cohen's, with its 95 %
    interval; rates lie in 0..1, and ``..._95`` are the ends of their 95 % intervals. None:
    undefined for these cases.
    """

    judge: str
    question: str
    options: str = "votes=1"
    votes: int
    made: str
    n: int
    unscored: int
    unscored_rate: float | None = None
    unscored_rate_95: Ends = (None, None)
    accuracy: float | None
    accuracy_95: Ends = (None, None)
    confusion: Confusion
    false_positives: int
    false_positive_rate: float | None
    false_positive_rate_95: Ends = (None, None)
    false_negative_rate: float | None = None
    false_negative_rate_95: Ends = (None, None)
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None


class ScoreInfo(Record, frozen=True, kw_only=True):
    """A score that a task declares.

    Attributes:
        name: its name.
        scale: its highest value.
        decides: whether outcomes follow it.
        display: how its details are shown.
        scorer: its scorer as the task names it; "" in runs of earlier versions.
        options: the scorer's options in the task file.
    """

    name: str
    scale: float = 1.0
    decides: bool = True
    display: Display = Display()
    scorer: str = ""
    options: Mapping[str, Json] = {}


class TaskInfo(Record, frozen=True, kw_only=True):
    """What the figures need to know of a task.

    Attributes:
        title: its name in tables.
        metrics: as in its YAML.
        group_by: as in its YAML.
        demo: whether its dataset is another than the public one of its benchmark.
        published: figures from the literature that may stand next to its own.
        validations: those of judges that were asked as this task asks.
        whole: number of samples of the public dataset, if known.
        scores: the scores that its scorers make.
        display: how details of its solver are shown.
    """

    title: str
    metrics: tuple[MetricEntry, ...] = ()
    group_by: tuple[str, ...] = ()
    demo: bool = False
    published: tuple[Published, ...] = ()
    validations: tuple[Validated, ...] = ()
    whole: int | None = None
    scores: tuple[ScoreInfo, ...] = ()
    display: Display = Display()

    @property
    def displays(self) -> tuple[Display, ...]:
        """The displays of the solver and of all scores."""
        return self.display, *(score.display for score in self.scores)

    @property
    def shares(self) -> tuple[str, ...]:
        """Keys of the details that are declared as shares, each once."""
        return tuple(dict.fromkeys(key for one in self.displays for key in one.shares))

    def heading(self, key: str) -> str:
        """Return what a share or a label is called where it is shown."""
        found = (one.headings[key] for one in self.displays if key in one.headings)
        return next(found, key.replace("_", " "))
