"""The figures of one set of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from pytest_llmeval.records import Outcome, Record, Usage
from pytest_llmeval.results.stand_in import StandIn
from pytest_llmeval.results.task_info import Ends, Validated


class Counts(Record, frozen=True, kw_only=True):
    """The planned samples by outcome: five counts, each sample in one of them."""

    correct: int = 0
    incorrect: int = 0
    error: int = 0
    unscored: int = 0
    not_run: int = 0

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Counts:
        """Count the outcomes."""
        return cls(
            correct=outcomes.count("correct"),
            incorrect=outcomes.count("incorrect"),
            error=outcomes.count("error"),
            unscored=outcomes.count("unscored"),
            not_run=outcomes.count("not run"),
        )

    @property
    def planned(self) -> int:
        """All of them."""
        return self.scored + self.error + self.unscored + self.not_run

    @property
    def scored(self) -> int:
        """The denominator of accuracy: correct or incorrect."""
        return self.correct + self.incorrect

    @property
    def coverage(self) -> float | None:
        """Scored of planned, 0..1; None when nothing was planned."""
        return self.scored / self.planned if self.planned else None


class Mean(Record, frozen=True, kw_only=True):
    """A mean in 0..`scale` over `n` values.

    `standard_error` is clustered by sample, `low` and `high` bound the 95 % interval. None: not
    defined, such as the mean of no values or the spread of one.
    """

    name: str
    value: float | None
    n: int
    scale: float = 1.0
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


class MetricValue(Mean, frozen=True, kw_only=True):
    """The value of a metric over `n` rows or samples.

    `left_out` counts the samples that it could not take in; `share`: it is a share of samples,
    shown in per cent; `problem`: why there is no value, as when its function failed.
    """

    left_out: int = 0
    share: bool = False
    problem: str = ""


Correction: TypeAlias = Literal["labels", "validation"]
"""What an accuracy is corrected by: labels of the run's own answers, or a validation of its judge
on other answers."""


class Corrected(Mean, frozen=True, kw_only=True):
    """Accuracy over `n` scored rows, corrected for the errors of what scored it.

    `labels`: how many labelled answers it rests on; `problem`: why there is no value.
    """

    method: Correction
    labels: int
    problem: str = ""


class Repeated(Record, frozen=True, kw_only=True):
    """pass@k (one of k epochs is correct) and pass^k (all k are), 0..1.

    Over the `n` samples with `k` scored epochs or more; ``..._95`` are the ends of the 95 %
    intervals.
    """

    k: int
    n: int
    at_least_one: float
    every_one: float
    at_least_one_95: Ends = (None, None)
    every_one_95: Ends = (None, None)


class Efficiency(Record, frozen=True, kw_only=True):
    """How many times the samples of the score `name` accuracy needs.

    For a mean with the same relative error, over the same `n` rows. Literature gives the excess,
    ``ratio - 1``.
    """

    name: str
    ratio: float
    n: int


class Seconds(Record, frozen=True, kw_only=True):
    """Seconds that the models took: the sum, median and 95th percentile of rows with a call."""

    total: float = 0.0
    median: float | None = None
    p95: float | None = None


class Agreement(Record, frozen=True, kw_only=True):
    """How far raters agree beyond chance over `n` answers; kappa None: undefined."""

    kappa: float | None
    n: int


class JudgeFailure(Record, frozen=True, kw_only=True):
    """A judge of several that failed on `n` of the `asked` answers, and the shortest error."""

    judge: str
    n: int
    asked: int
    reason: str


class Judging(Record, frozen=True, kw_only=True):
    """How judged answers were decided.

    Attributes:
        deciders: number of answers by what decided: "symbolic", "judge", "nobody", or
            "no answer" of empty ones.
        judges: the judges that were asked; several that decide together have one name.
        agreement: of several judges (Cohen's kappa of two, Fleiss' of more), else None.
        vote_agreement: of one judge's votes (Fleiss' kappa), None with a single vote.
        validation: of the judge as it was asked, if it has one.
        failures: the judges of several that failed, whose votes are missing.
    """

    deciders: Mapping[str, int]
    judges: tuple[str, ...] = ()
    agreement: Agreement | None = None
    vote_agreement: Agreement | None = None
    validation: Validated | None = None
    failures: tuple[JudgeFailure, ...] = ()


class Figures(Record, frozen=True, kw_only=True):
    """The figures of one set of rows.

    Attributes:
        counts: samples by outcome.
        samples: number of samples.
        epochs: the highest epoch.
        accuracy: correct of scored.
        accuracy_corrected: None where nothing is known of the errors of what scored; of groups.
        scores: the mean of each score.
        repeating: names of deciding scores that are 1 for each correct and 0 for each incorrect
            row, so that their means repeat the accuracy.
        shares: how many of the answers have a property, such as being valid.
        metrics: values of the metrics that the task declares.
        repeated: pass@k and pass^k by k; empty for one epoch.
        efficiency: sample efficiency of the scores that declare it.
        labels: by the key of a detail, the number of answers with each label; answers without a
            usable one as "unlabelled".
        confusion: of a classification, by the class of the target, how many answers name which
            class; else empty.
        unclassed: of a classification, incorrect answers that name no class, where correct ones
            name theirs within other words, so that F1 is too high.
        judging: None when nothing was judged.
        usage: tokens and cost of all rows.
        unpriced: rows that have replies without a known price, so `usage.cost` is too low.
        seconds: time of the models.
        cut: replies by the stop reason that cut them.
        live: rows that a model answered in this run.
        recorded: rows answered from a recording.
        cached: rows answered by other runs, the oldest `oldest` seconds ago.
        oldest: age of the oldest such answer, in seconds.
        reruns: reports that a later one replaced.
        stand_ins: engines that answered tools in place of the one that the task is made for.
    """

    counts: Counts
    samples: int
    epochs: int
    accuracy: Mean
    accuracy_corrected: Corrected | None = None
    scores: tuple[Mean, ...] = ()
    repeating: tuple[str, ...] = ()
    shares: tuple[Mean, ...] = ()
    metrics: tuple[MetricValue, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    efficiency: tuple[Efficiency, ...] = ()
    labels: Mapping[str, Mapping[str, int]] = {}
    confusion: Mapping[str, Mapping[str, int]] = {}
    unclassed: int = 0
    judging: Judging | None = None
    usage: Usage = Usage()
    unpriced: int = 0
    seconds: Seconds = Seconds()
    cut: Mapping[str, int] = {}
    live: int = 0
    recorded: int = 0
    cached: int = 0
    oldest: float | None = None
    reruns: int = 0
    stand_ins: tuple[StandIn, ...] = ()

    @property
    def graded(self) -> tuple[Mean, ...]:
        """The scores to show: those that the task lists, and that say more than right or wrong."""
        listed = {metric.name for metric in self.metrics}
        return tuple(
            mean for mean in self.scores if mean.name in listed or mean.name not in self.repeating
        )

    @property
    def further_metrics(self) -> tuple[MetricValue, ...]:
        """The declared metrics that no other figure holds already."""
        named = {self.accuracy.name, *(mean.name for mean in (*self.scores, *self.shares))}
        return tuple(metric for metric in self.metrics if metric.name not in named)
