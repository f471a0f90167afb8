"""A comparison of two runs, as texts and positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Row
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.condition_lines import (
    ConditionLine,
    condition_lines,
    sample_sentences,
)
from pytest_llmeval.report.difference_line import DifferenceLine, difference_line, reach_of
from pytest_llmeval.report.flips import Flips, flips_of, shown_flips
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.compare import Comparison, Pair
from pytest_llmeval.results.conditions import CommonSamples, common_samples, conditions
from pytest_llmeval.results.entry_key import EntryKey, rows_by_entry
from pytest_llmeval.results.run_conditions import run_conditions

MOST_FLIPS: Final = 500
"""Samples that the lists of one page show together: half a megabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPair:
    """One task in both runs; `sheet` holds its figures and notes."""

    task: str
    models: str
    model: str
    n: int
    sheet: Sheet
    differences: tuple[DifferenceLine, ...]
    flips: tuple[Flips, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two runs.

    Attributes:
        pairs: the tasks that both ran.
        others: sheets that belong to no pair.
        ticks: ends of the axis of all differences, as texts.
        level: of the intervals, as text.
        differing: what differs besides the results, or may: it is not known of one run.
        same: what is the same in both.
        samples: sentences on samples that are not in both, or not the same.
        files: names of the sides that are files of baselines, without answers and evidence.
    """

    pairs: tuple[ComparedPair, ...]
    others: tuple[Sheet, ...]
    ticks: tuple[str, str, str]
    level: str
    differing: tuple[ConditionLine, ...]
    same: tuple[ConditionLine, ...]
    samples: tuple[str, ...]
    files: tuple[str, ...]


def compared(
    comparison: Comparison, a: Side, b: Side, addresses: Addresses | None = None
) -> Compared:
    """Return how run `b` differs from run `a`.

    `addresses` are those of b's rows in a page that is about b alone, and lists what flipped; a
    page of both shows that in its table.
    """
    entries = rows_by_entry(a.rows), rows_by_entry(b.rows)
    parts = [_parts(pair, *entries) for pair in comparison.pairs]
    common = [common_samples(of_a, of_b) for of_a, of_b in parts]
    lines = condition_lines(
        run_conditions(a.info, b.info),
        [
            (pair.task, conditions(of_a, of_b))
            for pair, (of_a, of_b) in zip(comparison.pairs, parts, strict=True)
        ],
    )
    most = MOST_FLIPS if addresses is not None else 0
    shown = shown_flips(comparison, (a, b), addresses, most)
    sheets, reach = comparison_sheets(comparison), reach_of(comparison.pairs)
    return Compared(
        pairs=tuple(
            _pair(pair, sheet, reach, flips_of(pair, shown))
            for pair, sheet in zip(comparison.pairs, sheets, strict=False)
        ),
        others=sheets[len(comparison.pairs) :],
        ticks=_ticks(reach),
        level=_level(comparison.pairs),
        differing=tuple(line for line in lines if line.likeness != "same"),
        same=tuple(line for line in lines if line.likeness == "same"),
        samples=_sentences(comparison.pairs, common),
        files=tuple(clean(side.name) for side in (a, b) if side.run is None),
    )


def _pair(pair: Pair, sheet: Sheet, reach: float, flips: tuple[Flips, ...]) -> ComparedPair:
    kept = pair.compared
    same = pair.model_a == pair.model_b
    return ComparedPair(
        task=clean(pair.task),
        models=clean(pair.model_a) if same else f"a {clean(pair.model_a)}, b {clean(pair.model_b)}",
        model=pair.model_b,
        n=pair.n,
        sheet=sheet,
        differences=tuple(
            difference_line(change, compared=change in kept, reach=reach) for change in pair.changes
        ),
        flips=flips,
    )


def _parts(
    pair: Pair, a: dict[EntryKey, list[Row]], b: dict[EntryKey, list[Row]]
) -> tuple[list[Row], list[Row]]:
    """Return the rows of a pair in both runs."""
    return (
        a[EntryKey(pair.task, pair.test, pair.model_a)],
        b[EntryKey(pair.task, pair.test, pair.model_b)],
    )


def _ticks(reach: float) -> tuple[str, str, str]:
    return f"−{100 * reach:g}", "0", f"+{100 * reach:g}"


def _level(pairs: Sequence[Pair]) -> str:
    levels = [change.confidence for pair in pairs for change in pair.changes]
    return f"{100 * levels[0]:g} %" if levels else ""


def _sentences(pairs: Sequence[Pair], common: Sequence[CommonSamples]) -> tuple[str, ...]:
    return tuple(
        sentence
        for pair, shared in zip(pairs, common, strict=True)
        for sentence in sample_sentences(pair.task, shared)
    )
