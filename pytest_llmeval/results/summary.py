"""The figures of a run: what is told of each task under each model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Outcome, Usage
from pytest_llmeval.results.wire import dumped, loaded

SCHEMA = 1
"""Version of the JSON form; it rises when a reader of the old form would misread the new."""


def metric_name(name: str) -> str:
    """Return a metric's name as it is compared: ``EED published`` and ``eed_published`` are one."""
    return "_".join(name.replace("-", " ").replace("_", " ").lower().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One figure from the literature, in the scale of its `metric` (a `metric_name`); never mixed into a run's own."""

    name: str
    metric: str
    value: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """How far a judge agreed with the labels of `n` cases on the day `made`.

    `kappa` is Cohen's, with its 95 % interval; rates lie in 0..1. None stands for what cannot be
    said.
    """

    judge: str
    prompt: str
    votes: int
    made: str
    n: int
    unscored: int
    accuracy: float | None
    false_positives: int
    false_positive_rate: float | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """What the figures need to know of a task.

    `metrics` and `group_by` as in its YAML; `demo`: its dataset is not the public one of its
    benchmark; `calibrations` are those of judges that were asked as this task asks; `whole`: how
    many samples the public dataset has, where that is known.
    """

    title: str
    metrics: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    demo: bool = False
    published: tuple[Published, ...] = ()
    calibrations: tuple[Calibrated, ...] = ()
    whole: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return dumped(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> TaskInfo:
        """Return the info that `to_json` wrote; UsageError when it is none."""
        return loaded(TaskInfo, data, "task's info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The planned samples by outcome; five counts, kept apart."""

    correct: int = 0
    incorrect: int = 0
    error: int = 0
    unscored: int = 0
    not_run: int = 0

    @classmethod
    def of(cls, outcomes: list[Outcome]) -> Counts:
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
        """All of them: what the run set out to do."""
        return self.scored + self.error + self.unscored + self.not_run

    @property
    def scored(self) -> int:
        """The denominator of accuracy: correct or incorrect."""
        return self.correct + self.incorrect

    @property
    def coverage(self) -> float | None:
        """Scored of planned, 0..1; None when nothing was planned."""
        return self.scored / self.planned if self.planned else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean in 0..`scale` over `n` values, its standard error (clustered by sample) and its 95 % interval.

    None stands for what cannot be said: the mean of no values, the spread of one.
    """

    name: str
    value: float | None
    n: int
    scale: float = 1.0
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """Over `n` samples with `k` scored epochs or more: pass@k (one of k is correct) and pass^k (all k are), 0..1."""

    k: int
    n: int
    at_least_one: float
    every_one: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """For a mean with the same relative error, accuracy needs `ratio` times the samples that the score `name` needs.

    Seen in `n` rows. Literature tells the excess, ``ratio - 1``.
    """

    name: str
    ratio: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Seconds that the models took: the sum over all rows; median and 95th percentile of the rows that asked one."""

    total: float = 0.0
    median: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far raters agree beyond chance over `n` answers; a kappa of None has no value."""

    kappa: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How judged answers were decided.

    `deciders` counts them by who did: "symbolic", "judge" or "nobody". `judges` were asked, several
    that decide together under one name. `agreement` is that of several judges (Cohen's kappa of
    two, Fleiss' of more), `vote_agreement` that of one judge's votes among each other (Fleiss');
    None where there are not several.
    """

    deciders: Mapping[str, int]
    judges: tuple[str, ...] = ()
    agreement: Agreement | None = None
    vote_agreement: Agreement | None = None
    calibration: Calibrated | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The figures of one set of rows.

    `scores` by name; `shares`: how many of the answers have a property, such as ``valid_cypher``.
    `unpriced` rows have replies without a known price, so `usage.cost` is too low. `cut` counts
    replies by stop reason. `live` rows were answered in this run by a model, `recorded` ones from a
    recording, `cached` ones by other runs, the oldest of them `oldest` seconds ago. `reruns` counts
    reports that were replaced, `engine_uncertain` the rows that Neo4j might have answered
    otherwise. `taxonomy` counts wrong answers by the kind of their error, those without a usable
    label as "unlabelled"; empty when no labels were asked for. `judging` is None when nothing was
    judged.
    """

    counts: Counts
    samples: int
    epochs: int
    accuracy: Mean
    scores: tuple[Mean, ...] = ()
    shares: tuple[Mean, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    efficiency: tuple[Efficiency, ...] = ()
    taxonomy: Mapping[str, int] = field(default_factory=dict)
    judging: Judging | None = None
    usage: Usage = field(default_factory=Usage)
    unpriced: int = 0
    seconds: Seconds = field(default_factory=Seconds)
    cut: Mapping[str, int] = field(default_factory=dict)
    live: int = 0
    recorded: int = 0
    cached: int = 0
    oldest: float | None = None
    reruns: int = 0
    engine_uncertain: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rows that share one value of one `group_by` key."""

    key: str
    value: str
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSummary:
    """One task under one model, as one test function ran it.

    `versions`: every version of task, dataset, prompt and grader met in the rows; more than one
    means mixed rows.
    """

    task: str
    test: str
    model: str
    info: TaskInfo
    tally: Tally
    groups: tuple[Group, ...] = ()
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All figures of a run, ordered by task, test and model."""

    entries: tuple[TaskSummary, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, under its schema's version."""
        return {"schema": SCHEMA, **dumped(self)}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Summary:
        """Return the summary that `to_json` wrote; UsageError when it is none, or of a newer schema."""
        if data.get("schema") != SCHEMA:
            msg = f"this is no summary of schema {SCHEMA}, but {data.get('schema')!r}; make it again from the run's rows"
            raise UsageError(msg)
        return loaded(Summary, data, "summary")
