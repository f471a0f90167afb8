"""Rows to figures: counts, means with intervals, groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import fsum
from typing import TypeVar

from pytest_llmeval.records import ERROR_KINDS, TAXONOMY, Row, RowKey, Usage
from pytest_llmeval.results.efficiency import efficiencies
from pytest_llmeval.results.judging import judging
from pytest_llmeval.results.statistics import (
    Clusters,
    bootstrap_interval,
    clustered_error,
    mean,
    pass_all_k,
    pass_at_k,
    proportion_interval,
)
from pytest_llmeval.results.summary import (
    Counts,
    Group,
    Mean,
    Repeated,
    Seconds,
    Summary,
    Tally,
    TaskInfo,
    TaskSummary,
)

VALIDITY = ("valid_cypher", "valid_sldp")
"""Properties of an answer that are counted wherever a row's or score's details hold them (Heracles'
own tables do)."""

CUT = frozenset({"length", "refusal", "filter"})
"""Stop reasons of replies that ended before the model was done."""

NO_GROUP = "(none)"

UNLABELLED = "unlabelled"
"""Where answers count whose error the judge could not label."""

SCORED = frozenset({"correct", "incorrect"})
"""Outcomes that tell of the model: the denominator of accuracy."""

_Key = TypeVar("_Key", bound=Hashable)


def summarise(rows: Iterable[Row], tasks: Mapping[str, TaskInfo]) -> Summary:
    """Return the figures of complete `rows`: planned samples without a report are rows with outcome "not run".

    `tasks` by name; a task that it lacks is titled by its name. Of several rows under one key the
    last counts.
    """
    ordered = sorted(latest(rows), key=_order)
    parts = _parted(ordered, lambda row: (row.key.task, row.key.test, row.key.model))
    return Summary(
        entries=tuple(
            _task_summary(part, tasks.get(task, TaskInfo(title=task)))
            for (task, _, _), part in sorted(parts.items())
        )
    )


def latest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows with the last one of each key, at the place where the key first stood."""
    by_key: dict[RowKey, Row] = {}
    for row in rows:
        by_key[row.key] = row
    return tuple(by_key.values())


def tally(rows: Sequence[Row], info: TaskInfo) -> Tally:
    """Return the figures of rows of one task, test and model."""
    scored = [row for row in rows if row.outcome in SCORED]
    accuracy = _mean("accuracy", [(row, float(row.outcome == "correct")) for row in scored])
    scores = _scores(scored)
    return Tally(
        counts=Counts.of([row.outcome for row in rows]),
        samples=len({row.key.sample for row in rows}),
        epochs=max((row.key.epoch for row in rows), default=0),
        accuracy=accuracy,
        scores=scores,
        shares=_shares(scored, info),
        repeated=_repeated(scored),
        efficiency=tuple(efficiencies(accuracy, scores)),
        taxonomy=_taxonomy(rows),
        judging=judging(rows, info.calibrations),
        usage=sum((row.usage for row in rows), Usage()),
        unpriced=sum(row.usage.requests > 0 and row.usage.cost is None for row in rows),
        seconds=_seconds(rows),
        cut=dict(
            sorted(Counter(row.stop_reason for row in rows if row.stop_reason in CUT).items())
        ),
        live=sum(map(_is_live, rows)),
        recorded=sum(row.recorded for row in rows),
        cached=sum(row.cached for row in rows),
        oldest=max((row.age for row in rows if row.cached and row.age is not None), default=None),
        reruns=sum(row.reports - 1 for row in rows if row.reports > 1),
        engine_uncertain=sum(row.engine_uncertain for row in rows),
    )


def _is_live(row: Row) -> bool:
    """Whether a model was asked here and now; a row that failed before any request tells nothing of where from."""
    asked = row.usage.requests > 0 or row.outcome not in {"error", "not run"}
    return asked and not (row.recorded or row.cached)


def _order(row: Row) -> tuple[str, str, str, int, str]:
    """Arrival under xdist has no order, and sums of floats and resampling depend on theirs."""
    return row.key.task, row.key.sample, row.key.model, row.key.epoch, row.key.test


def _parted(rows: Iterable[Row], by: Callable[[Row], _Key]) -> dict[_Key, list[Row]]:
    parts: dict[_Key, list[Row]] = defaultdict(list)
    for row in rows:
        parts[by(row)].append(row)
    return parts


def _task_summary(rows: Sequence[Row], info: TaskInfo) -> TaskSummary:
    first = rows[0].key
    return TaskSummary(
        task=first.task,
        test=first.test,
        model=first.model,
        info=info,
        tally=tally(rows, info),
        groups=tuple(group for key in info.group_by for group in _groups(rows, key, info)),
        versions=versions_met(rows),
    )


def _groups(rows: Sequence[Row], key: str, info: TaskInfo) -> list[Group]:
    """Return the figures by value; a row with several values, such as a list of tags, counts under each.

    A column that no row has makes none: a benchmark's public data may lack what others hold.
    """
    if not any(row.groups.get(key) for row in rows):
        return []
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for value in row.groups.get(key) or (NO_GROUP,):
            parts[value].append(row)
    return [
        Group(key=key, value=value, tally=tally(part, info))
        for value, part in sorted(parts.items())
    ]


def versions_met(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Return every version that the rows hold of each thing, such as of a grader."""
    met: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, version in row.versions.items():
            met[name].add(str(version))
    return {name: tuple(sorted(values)) for name, values in sorted(met.items())}


def _mean(name: str, values: Sequence[tuple[Row, float]], scale: float = 1.0) -> Mean:
    """Return the mean of one value a row; its interval by bootstrap, or Wilson's when all values are 0 or `scale`."""
    by_sample: dict[str, list[float]] = defaultdict(list)
    for row, value in values:
        by_sample[row.key.sample].append(value)
    clusters = list(by_sample.values())
    low, high = _interval(clusters, scale)
    return Mean(
        name=name,
        value=mean(clusters),
        n=len(values),
        scale=scale,
        standard_error=clustered_error(clusters),
        low=low,
        high=high,
    )


def _interval(clusters: Clusters, scale: float) -> tuple[float, float] | tuple[None, None]:
    if all(value in {0.0, scale} for cluster in clusters for value in cluster):
        found = proportion_interval([[value / scale for value in cluster] for cluster in clusters])
        return (None, None) if found is None else (found.low * scale, found.high * scale)
    found = bootstrap_interval(clusters)
    return (None, None) if found is None else (found.low, found.high)


def _scores(scored: Sequence[Row]) -> tuple[Mean, ...]:
    """Return the mean of each score in the order in which they first appear; in a row the last of a name counts."""
    values: dict[tuple[str, float], list[tuple[Row, float]]] = {}
    for row in scored:
        for score in {score.name: score for score in row.scores}.values():
            if score.value is not None:
                values.setdefault((score.name, score.scale), []).append((row, score.value))
    return tuple(_mean(name, found, scale) for (name, scale), found in values.items())


def _shares(scored: Sequence[Row], info: TaskInfo) -> tuple[Mean, ...]:
    """Return the share of answers with each property that the task's metrics name, and of the VALIDITY ones."""
    shares = []
    for name in dict.fromkeys([*VALIDITY, *info.metrics]):
        found = [
            (row, float(value)) for row in scored if (value := _property(row, name)) is not None
        ]
        if found:
            shares.append(_mean(name, found))
    return tuple(shares)


def _property(row: Row, name: str) -> bool | None:
    for details in (row.details, *(score.details for score in row.scores)):
        value = details.get(name)
        if isinstance(value, bool):
            return value
    return None


def _repeated(scored: Sequence[Row]) -> tuple[Repeated, ...]:
    """Return pass@k and pass^k for k = 2, 4, 8, ... and the number of epochs; nothing for a single epoch."""
    trials = [
        (len(part), sum(row.outcome == "correct" for row in part))
        for part in _parted(scored, lambda row: row.key.sample).values()
    ]
    most = max((n for n, _ in trials), default=0)
    found = []
    for k in sorted(
        {2**power for power in range(1, most.bit_length())} | ({most} if most > 1 else set())
    ):
        enough = [(n, correct) for n, correct in trials if n >= k]
        found.append(
            Repeated(
                k=k,
                n=len(enough),
                at_least_one=fsum(pass_at_k(n, correct, k) for n, correct in enough) / len(enough),
                every_one=fsum(pass_all_k(n, correct, k) for n, correct in enough) / len(enough),
            )
        )
    return tuple(found)


def _taxonomy(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many wrong answers have each label; nothing when none was asked for."""
    findings = [finding for row in rows if isinstance(finding := row.details.get(TAXONOMY), dict)]
    labels = [finding.get("label") for finding in findings]
    counts: dict[str, int] = {kind: labels.count(kind) for kind in ERROR_KINDS}
    return {**counts, UNLABELLED: len(labels) - sum(counts.values())} if labels else {}


def _seconds(rows: Sequence[Row]) -> Seconds:
    taken = sorted(row.seconds for row in rows if row.seconds > 0)
    if not taken:
        return Seconds()
    return Seconds(total=fsum(taken), median=quantile(taken, 0.5), p95=quantile(taken, 0.95))


def quantile(ordered: Sequence[float], level: float) -> float:
    """Return the quantile of sorted values (one or more) at `level` in 0..1, linear between neighbours."""
    place = level * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
