"""The gate and the baseline by which a run is measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.report.html import Against
from pytest_llmeval.results.baseline import Baseline, read_baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import load_gate
from pytest_llmeval.results.regression import check_against
from pytest_llmeval.results.statistics import CONFIDENCE
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.session.cut_off import cut_off_text
from pytest_llmeval.session.findings import Findings
from pytest_llmeval.session.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """A gate and a baseline; one of them may be None."""

    gate: Gate | None = None
    baseline: Baseline | None = None

    def applied(self, rows: tuple[Row, ...], summary: Summary) -> Findings:
        """Return a run's findings, with the gate's result and the comparison with the baseline."""
        gate, baseline = self.gate, self.baseline
        if baseline is None:
            return Findings(
                rows=rows, summary=summary, gate=None if gate is None else check(gate, summary)
            )
        comparison = compare(
            baseline.rows, rows, confidence=CONFIDENCE if gate is None else 1 - gate.significance
        )
        return Findings(
            rows=rows,
            summary=summary,
            gate=None if gate is None else check_against(gate, summary, baseline, comparison),
            against=Against(baseline=baseline, comparison=comparison),
        )


def load_yardstick(gate: Path | None, baseline: Path | None) -> Yardstick:
    """Return the gate and the baseline in these files.

    Raises:
        TaskError: the gate file is invalid.
        UsageError: the baseline cannot be read or was cut off, or the gate needs one and none is
            given.
    """
    loaded = None if gate is None else load_gate(gate)
    if loaded is not None and loaded.changes and baseline is None:
        rule = loaded.changes[0]
        msg = (
            f"{gate}: {rule.task}.{rule.metric} ({rule.bounds}) needs a baseline: name one "
            "(in pytest --llmeval-baseline PATH); llmeval baseline set RUN makes one"
        )
        raise UsageError(msg)
    return Yardstick(gate=loaded, baseline=None if baseline is None else _whole(baseline))


def _whole(path: Path) -> Baseline:
    """Return a baseline; UsageError if it is a run of which rows are missing."""
    found = read_baseline(path)
    if found.missing:
        msg = (
            f"{path}: {cut_off_text(found.missing)}, so it is no baseline; "
            "continue it first (pytest --llmeval-resume)"
        )
        raise UsageError(msg)
    return found


def yardstick_of(settings: Settings) -> Yardstick:
    """Return the session's gate and baseline. Raises as `load_yardstick`."""
    gate, baseline = (
        None if name is None else Path(name) for name in (settings.gate, settings.baseline)
    )
    return load_yardstick(gate, baseline)
