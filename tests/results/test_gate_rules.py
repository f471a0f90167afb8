from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from example_rows import eed, row
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Outcome, Row, Score, Usage
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import load_gate, parse_gate
from pytest_llmeval.results.gate_result import GateResult, RuleResult
from pytest_llmeval.results.statistics import wilson
from pytest_llmeval.results.summarise import summarise

unhurried = settings(deadline=None)  # other tests run beside

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


def test_a_rule_may_name_a_score_with_a_dot_such_as_a_criterion() -> None:
    rated = Score(name="judge.style", value=7.0, scale=10.0, correct=None, decides=False)
    rows = [row(str(i), "correct", scores=(rated,)) for i in range(4)]
    found = result_of("rules:\n  demo.judge.style: {min: 6.5, point: true}", rows, "judge.style")
    assert (found.task, found.status, found.value) == ("demo", "pass", 7.0)


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("demo.accuracy: {min: 0.75, point: true}", "pass"),
        ("demo.accuracy: {min: 0.7501, point: true}", "fail"),
        ("demo.accuracy: {max: 0.5, point: true}", "fail"),
        ("demo.accuracy: {min: 0.5, max: 0.8, point: true}", "pass"),
        ("demo.EED: {min: 82.5, point: true}", "pass"),
        ("demo.eed: {min: 83, point: true}", "fail"),
        # Wilson's interval of 3 of 4 is 0.301 to 0.954.
        ("demo.accuracy: {min: 0.30}", "pass"),
        ("demo.accuracy: {min: 0.31}", "inconclusive"),
        ("demo.accuracy: {min: 0.95}", "inconclusive"),
        ("demo.accuracy: {min: 0.96}", "fail"),
        ("demo.accuracy: {max: 0.29}", "fail"),
        ("demo.accuracy: {min: 0.3, max: 0.96}", "pass"),
        ("demo.EED: {min: 20}", "pass"),
        ("demo.eed: {min: 83}", "inconclusive"),
        ("demo.EED published: {min: 1}", "missing"),
        ("demo.incorrect: {max: 1}", "pass"),
        ("demo.accuracy: {min: 0.3, samples: 4}", "pass"),
        ("demo.accuracy: {min: 0.3, samples: 5}", "inconclusive"),
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


@pytest.mark.parametrize(
    ("kind", "fields", "other"),
    [
        ("recorded", {"recorded": True}, "cached"),
        ("cached", {"cached": True}, "stand_in"),
        ("stand_in", {"engine": "arcadedb", "stands_in_for": "Neo4j"}, "recorded"),
    ],
)
def test_a_gate_fails_on_answers_from_elsewhere_unless_its_file_allows_them(
    kind: str, fields: dict[str, Any], other: str
) -> None:
    rows = [*FULL, row("9", **fields)]
    assert result_of("", rows, kind).status == "fail"
    assert f"`{kind}: allowed`" in result_of("", rows, kind).reason
    assert judged(f"{kind}: allowed", rows).passed
    assert not judged(f"{kind}: refused", rows).passed
    assert not judged(f"{other}: allowed", rows).passed


def test_a_gate_names_the_engine_that_stood_in_and_lets_the_real_one_pass() -> None:
    answered = [row(sample, engine="arcadedb", stands_in_for="Neo4j") for sample in "89"]
    rows = [*FULL, *answered]
    assert result_of("", rows, "stand_in").reason == (
        "2 rows rest on tools that others answered than the task is made for "
        "(arcadedb, not Neo4j), which only `stand_in: allowed` in the gate file permits"
    )
    assert judged("", [*FULL, row("9", engine="neo4j")]).passed


@pytest.mark.parametrize(("ending", "passed"), [("pass", True), ("fail", False)])
def test_the_file_says_what_becomes_of_a_rule_that_so_few_samples_cannot_decide(
    ending: str, *, passed: bool
) -> None:
    text = f"inconclusive: {ending}\nrules: {{demo.accuracy: {{min: 0.5, samples: 50}}}}"
    result = judged(text, FULL)
    assert result.results[-1].reason == "4 scored samples are too few; the rule wants 50"
    assert result.passed is passed
    assert not judged(f"inconclusive: {ending}\nrules: {{demo.acuracy: {{min: 0}}}}", FULL).passed


def accuracy_of(correct: int, n: int) -> list[Row]:
    return [row(str(i), "correct" if i < correct else "incorrect") for i in range(n)]


def test_an_inconclusive_rule_names_the_samples_that_would_decide() -> None:
    rule = "rules: {demo.accuracy: {min: 0.5}}"
    assert result_of(rule, accuracy_of(30, 50), "accuracy").reason == (
        "50 samples cannot decide min 0.5: 0.6 may be 0.4618 to 0.7239; about 97 like these would"
    )
    same = result_of(rule, accuracy_of(25, 50), "accuracy").reason
    assert "no number of samples would, for it lies on the bound itself" in same
    perfect = result_of("rules: {demo.accuracy: {min: 1}}", accuracy_of(25, 25), "accuracy").reason
    assert "(point: true compares the figure alone)" in perfect


@unhurried
@given(st.integers(1, 60), st.floats(0, 1), st.sampled_from([0.05, 0.3, 0.5, 0.77, 0.9]))
def test_so_many_samples_of_the_same_share_decide(n: int, share: float, bound: float) -> None:
    correct = round(share * n)
    rule = f"rules: {{demo.accuracy: {{min: {bound}}}}}"
    found = result_of(rule, accuracy_of(correct, n), "accuracy")
    assert ("would" in found.reason) == (found.status == "inconclusive")
    named = re.search(r"about ([\d,]+) like", found.reason)
    if named is None:
        return
    needed = int(named[1].replace(",", ""))
    for samples, decided in ((needed, True), (needed - 1, False)):
        ends = wilson(correct / n, samples)
        assert (not ends.low < bound < ends.high) == decided


def test_a_figure_without_an_interval_is_compared_as_it_is() -> None:
    rows = [row(str(i), usage=Usage(requests=1, cost=0.01)) for i in range(3)]
    assert result_of("rules: {demo.cost: {max: 0.03}}", rows, "cost").status == "pass"
    assert result_of("rules: {demo.cost: {max: 0.029}}", rows, "cost").status == "fail"
    assert result_of("rules: {demo.correct: {min: 3}}", rows, "correct").status == "pass"


def test_rates_of_several_epochs_are_judged_by_their_interval() -> None:
    rows = [row(str(i), epoch=epoch) for i in range(20) for epoch in (1, 2)]
    assert result_of("rules: {demo.pass^2: {min: 0.8}}", rows, "pass^2").status == "pass"
    assert result_of("rules: {demo.pass@2: {min: 0.9}}", rows, "pass@2").status == "inconclusive"


def test_every_model_must_meet_a_rule() -> None:
    rows = [*FULL, row("1", "incorrect", model="weak")]
    result = judged("rules: {demo.accuracy: {min: 0.5, point: true}}", rows)
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
            "g.yaml:1: rule: unknown key; expected one of recorded, cached, stand_in, coverage,",
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
        pytest.param(
            "rules: {demo.EED: {min: 1, point: 1}}",
            "rules.demo.EED.point: expected true or false, not 1",
            id="point",
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
    assert gate.stand_in_allowed
    assert not gate.cached_allowed
    assert {rule.task for rule in gate.rules} >= {"heracles", "phybench"}
