"""Two runs, sample by sample: what changed, and whether by more than chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_llmeval.records import Row
from pytest_llmeval.results.changes import Change, changes_of
from pytest_llmeval.results.entry_key import EntryKey, differing_versions, rows_by_entry
from pytest_llmeval.results.paired import holm
from pytest_llmeval.results.regrading import Regrading, regrading_of
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.statistics import CONFIDENCE
from pytest_llmeval.results.targets import target_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One task in both runs; only samples that both scored, with the same target, are compared.

    Attributes:
        task: name of the task.
        test: node id of the test function.
        model_a: the model in run a.
        model_b: the model in run b.
        n: number of compared samples.
        changes: of accuracy and of each score.
        gained: ids of samples that are correct more often in b.
        lost: ids of samples that are correct less often in b.
        only_a: number of samples that run a alone scored.
        only_b: number of samples that run b alone scored.
        retargeted: number of samples whose target changed.
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
    only_a: int = 0
    only_b: int = 0
    retargeted: int = 0
    versions: Mapping[str, tuple[str, str]]
    regrading: Regrading | None = None

    @property
    def compared(self) -> tuple[Change, ...]:
        """The changes that other graders cannot have made."""
        found = self.regrading
        return tuple(one for one in self.changes if found is None or not found.touches(one.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All pairs, and the (task, test, model) of either run that has no counterpart."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[tuple[str, str, str], ...] = ()


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
    return Comparison(pairs=adjusted(pairs), unpaired=tuple(sorted(alone)))


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
    both = [sample for sample in by_sample_a if sample in by_sample_b]
    kept = [sample for sample in both if _same_target(by_sample_a[sample], by_sample_b[sample])]
    paired = [(by_sample_a[sample], by_sample_b[sample]) for sample in kept]
    steps = {
        sample: _correct(of_b) - _correct(of_a)
        for sample, (of_a, of_b) in zip(kept, paired, strict=True)
    }
    return Pair(
        task=rows_a[0].task,
        test=rows_a[0].test,
        model_a=rows_a[0].model,
        model_b=rows_b[0].model,
        n=len(kept),
        changes=changes_of(paired, confidence),
        gained=tuple(sample for sample, step in steps.items() if step > 0),
        lost=tuple(sample for sample, step in steps.items() if step < 0),
        only_a=len(by_sample_a) - len(both),
        only_b=len(by_sample_b) - len(both),
        retargeted=len(both) - len(kept),
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
