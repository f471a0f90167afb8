"""Two runs, sample by sample: what changed, and whether by more than chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import NamedTuple

from pytest_llmeval.records import Row
from pytest_llmeval.results.metrics import SCORED, latest, versions_met
from pytest_llmeval.results.paired import holm, mcnemar, paired_difference, smallest_share
from pytest_llmeval.results.statistics import CONFIDENCE
from pytest_llmeval.results.targets import target_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A metric in two runs over the same `n` samples, in 0..`scale`; `low` and `high` bound the difference.

    `effect` is Cohen's d_z: the difference in units of its standard deviation over the samples.
    `smallest` is the smallest difference that so many samples would show in four of five
    repetitions. `adjusted` is the p-value after Holm, for all changes of the comparison together.
    None stands for what cannot be said.
    """

    name: str
    scale: float
    n: int
    a: float
    b: float
    low: float
    high: float
    p_value: float | None
    effect: float | None
    smallest: float | None
    adjusted: float | None = None

    @property
    def difference(self) -> float:
        """How much b is above a."""
        return self.b - self.a


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One task of both runs. Only samples that both scored, with the same target, are compared.

    `gained` and `lost`: ids of samples that are correct more often, less often in b. `only_a`,
    `only_b`: how many samples one run alone scored; `retargeted`: how many have another target now.
    `versions`: what was not the same, as (in a, in b).
    """

    task: str
    test: str
    model_a: str
    model_b: str
    n: int
    changes: tuple[Change, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    only_a: int = 0
    only_b: int = 0
    retargeted: int = 0
    versions: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All pairs, and the (task, test, model) of either run that has no counterpart."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[tuple[str, str, str], ...] = ()


class Part(NamedTuple):
    """A task as one test function ran it under one model."""

    task: str
    test: str
    model: str


def compare(a: Iterable[Row], b: Iterable[Row], *, confidence: float = CONFIDENCE) -> Comparison:
    """Return how run `b` differs from run `a`, with intervals at the level `confidence`.

    Parts of the runs pair by task, test function and model; when the two have no model of a task in
    common and each ran a single one, those two are paired.
    """
    parts_a, parts_b = parts_of(a), parts_of(b)
    partners = _partners(list(parts_a), list(parts_b))
    pairs = [
        pair_of(parts_a[one], parts_b[other], confidence=confidence) for one, other in partners
    ]
    lonely = {*parts_a, *parts_b} - {part for partner in partners for part in partner}
    return Comparison(pairs=adjusted(pairs), unpaired=tuple(sorted(lonely)))


def parts_of(rows: Iterable[Row]) -> dict[Part, list[Row]]:
    """Return the rows by task, test and model, the last one of each key, in stable order."""
    parts: dict[Part, list[Row]] = defaultdict(list)
    for row in sorted(latest(rows), key=lambda row: row.key):
        parts[Part(row.key.task, row.key.test, row.key.model)].append(row)
    return parts


def _partners(a: Sequence[Part], b: Sequence[Part]) -> list[tuple[Part, Part]]:
    partners = []
    for place in sorted({part[:2] for part in a} & {part[:2] for part in b}):
        of_a, of_b = (
            [part for part in a if part[:2] == place],
            [part for part in b if part[:2] == place],
        )
        shared = [(part, part) for part in of_a if part in of_b]
        alone = len(of_a) == len(of_b) == 1
        partners += shared or ([(of_a[0], of_b[0])] if alone else [])
    return partners


def pair_of(
    rows_a: Sequence[Row], rows_b: Sequence[Row], *, confidence: float = CONFIDENCE
) -> Pair:
    """Return the pair of two parts: the rows of one task, test and model each.

    Its p-values are not yet adjusted.
    """
    by_sample_a, by_sample_b = _by_sample(rows_a), _by_sample(rows_b)
    both = [sample for sample in by_sample_a if sample in by_sample_b]
    kept = [
        sample for sample in both if _targets(by_sample_a[sample]) == _targets(by_sample_b[sample])
    ]
    paired = [(by_sample_a[sample], by_sample_b[sample]) for sample in kept]
    steps = {
        sample: _correct(of_b) - _correct(of_a)
        for sample, (of_a, of_b) in zip(kept, paired, strict=True)
    }
    return Pair(
        task=rows_a[0].key.task,
        test=rows_a[0].key.test,
        model_a=rows_a[0].key.model,
        model_b=rows_b[0].key.model,
        n=len(kept),
        changes=_changes(paired, confidence),
        gained=tuple(sample for sample, step in steps.items() if step > 0),
        lost=tuple(sample for sample, step in steps.items() if step < 0),
        only_a=len(by_sample_a) - len(both),
        only_b=len(by_sample_b) - len(both),
        retargeted=len(both) - len(kept),
        versions={
            name: (of_a, of_b)
            for name, (of_a, of_b) in differing_versions((rows_a, rows_b)).items()
        },
    )


def _by_sample(rows: Sequence[Row]) -> dict[str, list[Row]]:
    by_sample: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome in SCORED:
            by_sample[row.key.sample].append(row)
    return by_sample


def _targets(rows: Sequence[Row]) -> set[str]:
    return {target_digest(row.target) for row in rows}


def _correct(rows: Sequence[Row]) -> float:
    return sum(row.outcome == "correct" for row in rows) / len(rows)


def _changes(
    paired: Sequence[tuple[list[Row], list[Row]]], confidence: float
) -> tuple[Change, ...]:
    """Return the change of accuracy, and of each score that both rows of some sample have.

    A score that says in 0 and 1 what the outcome says is no second finding.
    """
    if not paired:
        return ()
    outcomes = [(_outcomes(a), _outcomes(b)) for a, b in paired]
    changes = [_accuracy(outcomes, confidence)]
    for name, scale in dict.fromkeys(
        (s.name, s.scale) for a, _ in paired for row in a for s in row.scores
    ):
        values = [(_values(a, name, scale), _values(b, name, scale)) for a, b in paired]
        known = [(of_a, of_b) for of_a, of_b in values if of_a and of_b]
        if known and values != outcomes:
            changes.append(_change(name, scale, known, confidence))
    return tuple(changes)


def _accuracy(outcomes: Sequence[tuple[list[float], list[float]]], confidence: float) -> Change:
    """Return the change of accuracy; with one epoch, McNemar's test counts the samples that flipped."""
    change = _change("accuracy", 1.0, outcomes, confidence)
    if not all(len(a) == len(b) == 1 for a, b in outcomes):
        return change
    floor = smallest_share(len(outcomes), 1 - confidence)
    return replace(
        change,
        p_value=mcnemar(sum(a > b for a, b in outcomes), sum(a < b for a, b in outcomes)),
        smallest=None if floor is None else max(floor, change.smallest or 0.0),
    )


def _outcomes(rows: Sequence[Row]) -> list[float]:
    return [float(row.outcome == "correct") for row in rows]


def _values(rows: Sequence[Row], name: str, scale: float) -> list[float]:
    last = [
        [score for score in row.scores if (score.name, score.scale) == (name, scale)][-1:]
        for row in rows
    ]
    return [score.value for scores in last for score in scores if score.value is not None]


def _change(
    name: str, scale: float, pairs: Sequence[tuple[list[float], list[float]]], confidence: float
) -> Change:
    found = paired_difference(pairs, scale=scale, confidence=confidence)
    return Change(
        name=name,
        scale=scale,
        n=len(pairs),
        a=fsum(fsum(a) / len(a) for a, _ in pairs) / len(pairs),
        b=fsum(fsum(b) / len(b) for _, b in pairs) / len(pairs),
        low=found.interval.low,
        high=found.interval.high,
        p_value=found.p_value,
        effect=found.effect,
        smallest=found.smallest,
    )


def differing_versions(parts: Iterable[Sequence[Row]]) -> dict[str, tuple[str, ...]]:
    """Return the versions that are not the same set in all parts, as the set's text for each part."""
    told = [version_texts(rows) for rows in parts]
    names = sorted({name for texts in told for name in texts})
    met = {name: tuple(texts.get(name) or "none" for texts in told) for name in names}
    return {name: texts for name, texts in met.items() if len(set(texts)) > 1}


def version_texts(rows: Iterable[Row]) -> dict[str, str]:
    """Return every version that the rows hold of each thing, several of one thing as one text."""
    return {name: ", ".join(versions) for name, versions in versions_met(rows).items()}


def adjusted(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with the p-values of all their changes adjusted together."""
    known = {
        (place, number): change.p_value
        for place, pair in enumerate(pairs)
        for number, change in enumerate(pair.changes)
        if change.p_value is not None
    }
    after_holm = holm(known)
    return tuple(
        replace(
            pair,
            changes=tuple(
                replace(change, adjusted=after_holm.get((place, number)))
                for number, change in enumerate(pair.changes)
            ),
        )
        for place, pair in enumerate(pairs)
    )
