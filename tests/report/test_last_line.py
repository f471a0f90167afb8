"""The last line of a run that fails by its gate or its files."""

from __future__ import annotations

import pytest

from pytest_llmeval.report.last_line import last_line
from pytest_llmeval.results.gate import Bounds
from pytest_llmeval.results.gate_result import GateResult, RuleResult, RuleStatus


def rule(metric: str, status: RuleStatus, model: str = "m") -> RuleResult:
    return RuleResult(
        task="sums",
        model=model,
        metric=metric,
        value=0.5,
        bounds=Bounds(minimum=0.9),
        status=status,
    )


PASSED = GateResult(results=(rule("accuracy", "pass"),))
LENIENT = GateResult(results=(rule("accuracy", "inconclusive"),), inconclusive_passes=True)


@pytest.mark.parametrize("gate", [None, PASSED, LENIENT])
def test_a_run_that_does_not_fail_has_none(gate: GateResult | None) -> None:
    assert last_line(gate, (), 0) is None
    assert last_line(gate, (), 1) is None  # by its tests, which pytest tells itself


def test_it_names_the_first_rules_once_each_and_says_how_many() -> None:
    shut = GateResult(
        results=(
            rule("accuracy", "fail"),
            rule("accuracy", "fail", "other"),
            rule("EED", "pass"),
            rule("coverage", "missing"),
            rule("error", "inconclusive"),
            rule("cost", "fail"),
            rule("cut", "fail"),
        )
    )
    assert last_line(shut, (), 1) == (
        "gate not passed: 6 of 7 rules: sums.accuracy, sums.coverage (missing), "
        "sums.error (inconclusive) and 2 more - exit status 1"
    )


def test_a_run_without_rows_does_not_pass_its_gate() -> None:
    assert last_line(GateResult(), (), 5) == (
        "gate not passed: the run holds no rows to judge - exit status 5"
    )


def test_what_could_not_be_written_stands_there_too() -> None:
    unwritten = ("rows could not be written: disk full", "summary.json could not be written")
    assert last_line(PASSED, unwritten, 1) == (
        "rows could not be written: disk full (and 1 more) - exit status 1"
    )
    shut = GateResult(results=(rule("accuracy", "fail"),))
    assert last_line(shut, unwritten[:1], 1) == (
        "gate not passed: 1 of 1 rules: sums.accuracy; "
        "rows could not be written: disk full - exit status 1"
    )


def test_names_cannot_break_the_line() -> None:
    shut = GateResult(results=(rule("a\nb\x1b[2J", "fail"),))
    line = last_line(shut, ("x" * 5000,), 1)
    assert line is not None
    assert line.isprintable()
    assert len(line) < 400
