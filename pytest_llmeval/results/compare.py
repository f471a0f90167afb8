"""Two runs, sample by sample: what changed, and whether by more than chance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_llmeval.records import Row
from pytest_llmeval.results.changes import Change, changes_of
from pytest_llmeval.results.entry_key import EntryKey, differing_versions, rows_by_entry
from pytest_llmeval.results.paired import holm
from pytest_llmeval.results.regrading import Regrading, regrading_of
from pytest_llmeval.results.row_use import RowUse, use_of
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.statistics import CONFIDENCE
from pytest_llmeval.results.targets import target_digest

_NO_ROWS: Final = RowUse()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One task in both runs.

    Only samples that both scored, with the same question and target, are compared.

    Attributes:
        task: name of the task.
        test: node id of the test function.
        model_a: the model in run a.
        model_b: the model in run b.
        n: number of compared samples.
        changes: of accuracy and of each score.
        gained: ids of samples that are correct more often in b.
        lost: ids of samples that are correct less often in b.
        correct: of these samples, the shares of correct epochs in a and in b.
        only_a: number of samples that run a alone scored.
        only_b: number of samples that run b alone scored.
        retargeted: number of samples whose target changed.
        requestioned: number of further samples whose question changed, as far as both runs know it.
        uses: what became of the rows of a, and of b.
        versions: what differs, as (in a, in b).
        regrading: how graders differ; None if they do not.
    """

    task: str
    test: str
    model_a: str
    model_b: str
    n: int
    changes: tuple[Change, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    correct: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    only_a: int = 0
    only_b: int = 0
    retargeted: int = 0
    requestioned: int = 0
    uses: tuple[RowUse, RowUse] = (_NO_ROWS, _NO_ROWS)
    versions: Mapping[str, tuple[str, str]]
    regrading: Regrading | None = None

    @property
    def compared(self) -> tuple[Change, ...]:
        """The changes that other graders cannot have made."""
        found = self.regrading
        return tuple(one for one in self.changes if found is None or not found.touches(one.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All pairs, and the (task, test, model) of either run that has no counterpart.

    `uses`: what became of all rows of a, and of b.
    """

    pairs: tuple[Pair, ...]
    unpaired: tuple[tuple[str, str, str], ...] = ()
    uses: tuple[RowUse, RowUse] = (_NO_ROWS, _NO_ROWS)


def compare(a: Iterable[Row], b: Iterable[Row], *, confidence: float = CONFIDENCE) -> Comparison:
    """Return how run `b` differs from run `a`, with intervals at the level `confidence`.

    Parts of the runs pair by task, test function and model; when the two have no model of a task in
    common and each ran a single one, those two are paired.
    """
    parts_a, parts_b = rows_by_entry(a), rows_by_entry(b)
    partners = _partners(list(parts_a), list(parts_b))
    pairs = [
        pair_of(parts_a[one], parts_b[other], confidence=confidence) for one, other in partners
    ]
    alone = {*parts_a, *parts_b} - {part for partner in partners for part in partner}
    uses = (
        _use([pair.uses[0] for pair in pairs], parts_a, {one for one, _ in partners}),
        _use([pair.uses[1] for pair in pairs], parts_b, {other for _, other in partners}),
    )
    return Comparison(pairs=adjusted(pairs), unpaired=tuple(sorted(alone)), uses=uses)


def _use(
    uses: Sequence[RowUse], parts: Mapping[EntryKey, Sequence[Row]], paired: AbstractSet[EntryKey]
) -> RowUse:
    """Return what became of all rows of a run: those of its pairs, and of parts without one."""
    unpaired = sum(len(rows) for part, rows in parts.items() if part not in paired)
    return RowUse.total((*uses, RowUse(unpaired=unpaired)))


def _partners(a: Sequence[EntryKey], b: Sequence[EntryKey]) -> list[tuple[EntryKey, EntryKey]]:
    partners = []
    for place in sorted({part[:2] for part in a} & {part[:2] for part in b}):
        of_a, of_b = (
            [part for part in a if part[:2] == place],
            [part for part in b if part[:2] == place],
        )
        shared = [(part, part) for part in of_a if part in of_b]
        single = len(of_a) == len(of_b) == 1
        partners += shared or ([(of_a[0], of_b[0])] if single else [])
    return partners


def pair_of(
    rows_a: Sequence[Row], rows_b: Sequence[Row], *, confidence: float = CONFIDENCE
) -> Pair:
    """Return the pair of two parts: the rows of one task, test and model each.

    Its p-values are not yet adjusted.
    """
    by_sample_a, by_sample_b = _by_sample(rows_a), _by_sample(rows_b)
    reasons = _reasons(by_sample_a, by_sample_b)
    kept = [sample for sample in by_sample_a if reasons[sample] == "compared"]
    paired = [(by_sample_a[sample], by_sample_b[sample]) for sample in kept]
    correct = {
        sample: (_correct(of_a), _correct(of_b))
        for sample, (of_a, of_b) in zip(kept, paired, strict=True)
    }
    found = Counter(reasons.values())
    return Pair(
        task=rows_a[0].task,
        test=rows_a[0].test,
        model_a=rows_a[0].model,
        model_b=rows_b[0].model,
        n=len(kept),
        changes=changes_of(paired, confidence),
        gained=tuple(sample for sample, (of_a, of_b) in correct.items() if of_b > of_a),
        lost=tuple(sample for sample, (of_a, of_b) in correct.items() if of_b < of_a),
        correct={name: shares for name, shares in correct.items() if shares[0] != shares[1]},
        only_a=sum(sample not in by_sample_b for sample in by_sample_a),
        only_b=sum(sample not in by_sample_a for sample in by_sample_b),
        retargeted=found["retargeted"],
        requestioned=found["requestioned"],
        uses=(use_of(rows_a, reasons), use_of(rows_b, reasons)),
        versions={
            name: (of_a, of_b)
            for name, (of_a, of_b) in differing_versions((rows_a, rows_b)).items()
        },
        regrading=regrading_of(paired),
    )


def _by_sample(rows: Sequence[Row]) -> dict[str, list[Row]]:
    by_sample: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome in SCORED:
            by_sample[row.sample].append(row)
    return by_sample


def _reasons(a: Mapping[str, Sequence[Row]], b: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Return for each sample whether it is compared, or why not; the fields of `RowUse`."""
    return {sample: _reason(a.get(sample, ()), b.get(sample, ())) for sample in {**a, **b}}


def _reason(a: Sequence[Row], b: Sequence[Row]) -> str:
    if not (a and b):
        return "alone"
    if not _same_target(a, b):
        return "retargeted"
    asked_a, asked_b = ({row.question for row in part if row.question} for part in (a, b))
    # Rows of earlier versions do not know what they asked.
    return "requestioned" if asked_a and asked_b and asked_a != asked_b else "compared"


def _same_target(a: Sequence[Row], b: Sequence[Row]) -> bool:
    # A baseline has digests only.
    of_a, of_b = ({target_digest(row.dataset_target) for row in part} for part in (a, b))
    return of_a == of_b


def _correct(rows: Sequence[Row]) -> float:
    return sum(row.outcome == "correct" for row in rows) / len(rows)


def adjusted(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with the p-values of all their changes adjusted together."""
    known = {
        (place, number): change.p_value
        for place, pair in enumerate(pairs)
        for number, change in enumerate(pair.changes)
    }
    after_holm = holm(known)
    return tuple(
        replace(
            pair,
            changes=tuple(
                replace(change, adjusted=after_holm[place, number], together=len(known))
                for number, change in enumerate(pair.changes)
            ),
        )
        for place, pair in enumerate(pairs)
    )
