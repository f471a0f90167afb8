"""Pipelines over the same questions: their tables, and what became of each sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.report import numbers
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.matrix_sheet import contender_names, matrix_sheet, short_matrix_sheet
from pytest_llmeval.report.natural_order import natural_order
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.results.pipelines import AskedSample, Pipelines

PIPELINES: Final = "pipelines"
"""How their titles begin."""

_CELLS: Final = 6_000
"""Cells that the tables of samples of one page may have together."""

_MOST_SAMPLES: Final = 300
"""Samples of one table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCell:
    """What became of a sample in one pipeline; `address` is that of its page, "" without one."""

    text: str
    outcome: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleLine:
    """One sample in all pipelines."""

    name: str
    tags: str
    cells: tuple[SampleCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSection:
    """The pipelines of one model: their sheet, and their samples with the totals.

    `remark` says which samples are not shown; "" if all are.
    """

    sheet: Sheet
    names: tuple[str, ...]
    totals: tuple[str, ...]
    lines: tuple[SampleLine, ...]
    samples: int
    remark: str


def pipeline_sheet(found: Pipelines) -> Sheet:
    """Return the figures of pipelines over common samples, and all differences."""
    return matrix_sheet(found.matrix, PIPELINES)


def short_pipeline_sheet(found: Pipelines) -> Sheet:
    """Return the same for the end of a run."""
    return short_matrix_sheet(found.matrix, PIPELINES)


def pipeline_sections(
    found: Sequence[Pipelines], addresses: Addresses
) -> tuple[PipelineSection, ...]:
    """Return a section for each model's pipelines; `addresses` are those of their rows."""
    columns = sum(len(one.matrix.contenders) for one in found)
    most = min(_MOST_SAMPLES, _CELLS // max(columns, 1))
    return tuple(_section(one, addresses, most) for one in found)


def _section(found: Pipelines, addresses: Addresses, most: int) -> PipelineSection:
    every = len(found.samples) <= most
    wanted = found.samples if every else [one for one in found.samples if one.differs]
    shown = sorted(wanted, key=lambda sample: natural_order(sample.id))[:most]
    remark = (
        ""
        if every
        else f"{len(shown):,} of the {len(wanted):,} samples whose "
        f"outcomes differ are shown; pipelines.csv holds all {len(found.samples):,}."
    )
    return PipelineSection(
        sheet=pipeline_sheet(found),
        names=contender_names(found.matrix),
        totals=tuple(
            f"{one.counts.correct:,} of {one.counts.planned:,}" for one in found.matrix.contenders
        ),
        lines=tuple(_line(one, addresses) for one in shown),
        samples=len(found.samples),
        remark=remark,
    )


def _line(sample: AskedSample, addresses: Addresses) -> SampleLine:
    return SampleLine(
        name=clean(sample.id),
        tags=clean(", ".join(sample.tags)),
        cells=tuple(
            SampleCell(
                text=_text(outcomes),
                outcome=next(iter(outcomes.values())) if len(set(outcomes.values())) == 1 else "",
                address=_address(rows, addresses),
            )
            for outcomes, rows in zip(sample.outcomes, sample.rows, strict=True)
        ),
    )


def _address(rows: Mapping[int, Row], addresses: Addresses) -> str:
    """Return the address of a sample's only row, or of all its epochs; "" if there is none."""
    row = next(iter(rows.values()), None)
    if row is None:
        return ""
    epoch = row.epoch if len(rows) == 1 else None
    return addresses.of(row.task, row.test, row.sample, row.model, epoch)


def _text(outcomes: Mapping[int, Outcome]) -> str:
    """Return the outcome, or how often each came in several epochs; a dash: not asked."""
    met = list(outcomes.values())
    if len(met) <= 1:
        return met[0] if met else numbers.NONE
    return ", ".join(f"{met.count(one)} × {one}" for one in sorted(set(met)))
