from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from example_rows import eed, row

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Outcome, Row, Usage
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import load_gate, parse_gate
from pytest_llmeval.results.gate_result import GateResult, RuleResult
from pytest_llmeval.results.summarise import summarise

OUTCOMES: tuple[Outcome, ...] = ("correct", "correct", "correct", "incorrect")
FULL = [
    row(str(i), outcome, scores=eed(100 if outcome == "correct" else 30))
    for i, outcome in enumerate(OUTCOMES)
]


def judged(text: str, rows: Sequence[Row]) -> GateResult:
    return check(parse_gate(text, "gates.yaml"), summarise(rows, {}))


def result_of(text: str, rows: Sequence[Row], metric: str) -> RuleResult:
    [found] = [one for one in judged(text, rows).results if one.metric == metric]
    return found


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("demo.accuracy: {min: 0.75}", "pass"),
        ("demo.accuracy: {min: 0.7501}", "fail"),
        ("demo.accuracy: {max: 0.5}", "fail"),
        ("demo.accuracy: {min: 0.5, max: 0.8}", "pass"),
        ("demo.EED: {min: 82.5}", "pass"),
        ("demo.eed: {min: 83}", "fail"),
        ("demo.EED published: {min: 1}", "missing"),
        ("demo.incorrect: {max: 1}", "pass"),
        ("demo.accuracy: {min: 0.5, samples: 4}", "pass"),
        ("demo.accuracy: {min: 0.5, samples: 5}", "inconclusive"),
        ("demo.not-run: {max: 0}", "pass"),
        ("demo.cost: {max: 100}", "missing"),
        ("demo.acuracy: {min: 0}", "missing"),
        ("other.accuracy: {min: 0}", "missing"),
    ],
)
def test_a_rule_is_judged_by_the_value_in_its_own_scale(rule: str, verdict: str) -> None:
    result = judged(f"rules:\n  {rule}", FULL)
    assert result.results[-1].status == verdict
    assert result.passed is (verdict == "pass")


def test_a_misspelt_metric_and_an_absent_task_say_what_there_is() -> None:
    assert (
        "there are accuracy, coverage"
        in judged("rules: {demo.acuracy: {min: 0}}", FULL).results[-1].reason
    )
    assert "in it: demo" in judged("rules: {dmo.accuracy: {min: 0}}", FULL).results[-1].reason


def test_an_empty_gate_passes_a_full_live_run() -> None:
    assert check(Gate(), summarise(FULL, {})).passed


@pytest.mark.parametrize("lost", ["error", "unscored", "not run"])
def test_a_gate_fails_below_full_coverage_and_says_what_was_lost(lost: Outcome) -> None:
    rows = [*FULL, row("9", lost)]
    result = result_of("", rows, "coverage")
    assert (result.status, result.reason) == (
        "fail",
        f"4 of 5 planned samples were scored (1 {lost})",
    )
    assert not judged("", rows).passed
    assert judged("coverage: 0.8", rows).passed
    assert judged("rules: {demo.coverage: {min: 0.8}}", rows).passed
    assert not judged("rules: {other.coverage: {min: 0.8}}", rows).passed


@pytest.mark.parametrize("kind", ["recorded", "cached"])
def test_a_gate_fails_on_answers_from_elsewhere_unless_its_file_allows_them(kind: str) -> None:
    fields: dict[str, Any] = {kind: True}
    rows = [*FULL, row("9", **fields)]
    other = {"recorded": "cached", "cached": "recorded"}[kind]
    assert result_of("", rows, kind).status == "fail"
    assert f"`{kind}: allowed`" in result_of("", rows, kind).reason
    assert judged(f"{kind}: allowed", rows).passed
    assert not judged(f"{kind}: refused", rows).passed
    assert not judged(f"{other}: allowed", rows).passed


@pytest.mark.parametrize(("ending", "passed"), [("pass", True), ("fail", False)])
def test_the_file_says_what_becomes_of_a_rule_that_so_few_samples_cannot_decide(
    ending: str, *, passed: bool
) -> None:
    text = f"inconclusive: {ending}\nrules: {{demo.accuracy: {{min: 0.5, samples: 50}}}}"
    result = judged(text, FULL)
    assert result.results[-1].reason == "4 scored samples are too few; the rule wants 50"
    assert result.passed is passed
    assert not judged(f"inconclusive: {ending}\nrules: {{demo.acuracy: {{min: 0}}}}", FULL).passed


def test_every_model_must_meet_a_rule() -> None:
    rows = [*FULL, row("1", "incorrect", model="weak")]
    result = judged("rules: {demo.accuracy: {min: 0.5}}", rows)
    verdicts = {one.model: one.status for one in result.results if one.metric == "accuracy"}
    assert verdicts == {"openai/small": "pass", "weak": "fail"}
    assert not result.passed


def test_a_cost_of_which_a_part_is_unknown_is_not_judged() -> None:
    rows = [row("1", usage=Usage(requests=1, cost=0.01)), row("2", usage=Usage(requests=1))]
    assert result_of("rules: {demo.cost: {max: 1}}", rows, "cost").status == "missing"
    assert result_of("rules: {demo.cost: {max: 1}}", rows[:1], "cost").status == "pass"


def test_a_run_without_rows_does_not_pass() -> None:
    assert not judged("", []).passed
    assert not judged("rules: {demo.accuracy: {min: 0}}", []).passed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "rule: {}",
            "g.yaml:1: rule: unknown key; expected one of recorded, cached, coverage, compared,",
            id="key on top",
        ),
        pytest.param(
            "coverage: 1\nrules:\n  demo.accuracy:\n    minimum: 1",
            "g.yaml:4: rules.demo.accuracy.minimum: unknown key; "
            "expected one of min, max, max_drop",
            id="bound",
        ),
        pytest.param(
            "\nrecorded: yes",
            "g.yaml:2: recorded: expected allowed or refused, not True",
            id="permission",
        ),
        pytest.param(
            "coverage: 95",
            "g.yaml:1: coverage: 95 is not in 0..1, the scale of coverage",
            id="per cent",
        ),
        pytest.param(
            "rules: {demo.accuracy: {min: 50}}",
            "50 is not in 0..1, the scale of accuracy",
            id="accuracy",
        ),
        pytest.param("rules: {demo.EED: {min: high}}", "expected a number, not 'high'", id="word"),
        pytest.param("rules: {demo.EED: {min: true}}", "expected a number, not True", id="bool"),
        pytest.param(
            "rules: {demo.EED: {min: 9999999999999999999}}", "expected a number", id="too large"
        ),
        pytest.param("rules: {demo.EED: {min: 5, max: 4}}", "min 5 is above max 4", id="crossed"),
        pytest.param(
            "rules: {demo.EED: {}}", "needs min, max, max_drop or max_rise", id="no bound"
        ),
        pytest.param(
            "rules: {demo.EED: 50}",
            "g.yaml:1: rules.demo.EED: expected a mapping, not 50",
            id="bare number",
        ),
        pytest.param("rules: {accuracy: {min: 1}}", "a rule is named TASK.METRIC", id="no task"),
        pytest.param(
            "inconclusive: skip",
            "g.yaml:1: inconclusive: expected pass or fail, not 'skip'",
            id="ending",
        ),
        pytest.param(
            "significance: 5", "g.yaml:1: significance: 5 is not between 0 and 1", id="significance"
        ),
        pytest.param("rules: {demo.EED: {max_drop: -1}}", "-1 is below 0", id="signed step"),
        pytest.param(
            "rules: {demo.cost: {max_rise: a lot}}",
            "expected a number, or such as 10 %",
            id="words",
        ),
        pytest.param(
            "rules: {demo.accuracy: {max_drop: 3 %}}",
            "0.03 stands for three percentage",
            id="per cent of share",
        ),
        pytest.param(
            "rules: {demo.EED: {max_drop: 1, samples: x}}",
            "samples: expected a number",
            id="samples",
        ),
        pytest.param("rules: [a]", "g.yaml:1: rules: expected a mapping", id="list"),
        pytest.param("[]", "g.yaml:1: expected a mapping", id="list on top"),
        pytest.param("coverage: 1\ncoverage: 0", "g.yaml:2: ", id="key twice"),
        pytest.param("coverage: }", "g.yaml:1: ", id="no YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_file_line_key_and_the_allowed_values(
    text: str, said: str
) -> None:
    with pytest.raises(TaskError, match=re.escape(said)):
        parse_gate(text, "g.yaml")


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"gates\.yaml"):
        load_gate(tmp_path / "gates.yaml")


def test_the_gate_of_the_demo_is_valid_and_allows_recorded_replies() -> None:
    gate = load_gate(Path(__file__).parents[2] / "benchmarks" / "gates.yaml")
    assert gate.recorded_allowed
    assert not gate.cached_allowed
    assert {rule.task for rule in gate.rules} >= {"heracles", "phybench"}
