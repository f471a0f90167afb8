"""Who decided, how far judges agree, and what a gate may demand of them."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest
from example_rows import row

from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.report.table import render_table
from pytest_llmeval.results.confusion import Confusion
from pytest_llmeval.results.figures import Judging
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.gate_result import RuleResult
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import TaskInfo, Validated

Vote: TypeAlias = bool | None

VALIDATED = Validated(
    judge="openai/a",
    question="judge/1",
    votes=1,
    made="2026-11-22",
    n=143,
    unscored=1,
    unscored_rate=0.007,
    unscored_rate_95=(0.001, 0.038),
    accuracy=0.98,
    accuracy_95=(0.94, 0.993),
    confusion=Confusion(true_positives=68, false_negatives=2, true_negatives=70, false_positives=2),
    false_positives=2,
    false_positive_rate=0.02,
    false_positive_rate_95=(0.004, 0.068),
    false_negative_rate=0.03,
    false_negative_rate_95=(0.008, 0.1),
    kappa=0.95,
    kappa_low=0.88,
    kappa_high=0.98,
)


def opinion(judge: str, correct: Vote, *votes: Vote, wanted: int = 1) -> dict[str, Any]:
    return {
        "judge": judge,
        "correct": correct,
        "reason": "",
        "votes": [*votes],
        "wanted": wanted,
    }


def judged(sample: int, decided_by: str | None, *opinions: dict[str, Any]) -> Row:
    names = " + ".join(one["judge"] for one in opinions)
    details: dict[str, Json] = {
        "decided_by": decided_by,
        "judge": names,
        "tally": {},
        "opinions": [*opinions],
    }
    correct = None if decided_by is None else True
    score = Score(name="judge", value=1.0, correct=correct, details=details)
    return row(str(sample), "unscored" if correct is None else "correct", scores=(score,))


def summary(*rows: Row) -> Summary:
    return summarise(rows, {"demo": TaskInfo(title="demo", validations=(VALIDATED,))})


def judging(*rows: Row) -> Judging:
    found = summary(*rows).entries[0].figures.judging
    assert found is not None
    return found


def test_rows_are_counted_by_who_decided() -> None:
    rows = [judged(1, "symbolic"), judged(2, "judge", opinion("openai/a", True)), judged(3, None)]
    assert judging(*rows).deciders == {"symbolic": 1, "judge": 1, "nobody": 1}
    assert judging(*rows).judges == ("openai/a",)


def test_rows_that_no_judge_scores_have_no_such_figures() -> None:
    assert summary(row("1")).entries[0].figures.judging is None


def test_two_judges_agree_by_cohens_kappa_where_both_decided() -> None:
    verdicts = [(True, True), (True, False), (False, False), (False, False), (None, True)]
    rows = [
        judged(n, "judge", opinion("a", one), opinion("b", two))
        for n, (one, two) in enumerate(verdicts)
    ]
    # observed 3/4; chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2; (3/4 - 1/2) / (1 - 1/2) = 1/2
    found = judging(*rows).agreement
    assert found is not None
    assert (found.kappa, found.n) == (0.5, 4)


def test_three_judges_agree_by_fleiss_kappa() -> None:
    verdicts = [(True, True, True), (True, False, False)]
    rows = [
        judged(n, "judge", *(opinion(j, v) for j, v in zip("abc", said, strict=True)))
        for n, said in enumerate(verdicts)
    ]
    # worked out in test_judge_validation.py
    found = judging(*rows).agreement
    assert found is not None
    assert found.kappa == pytest.approx(0.25)


def test_votes_that_ended_early_are_compared_by_those_that_are_always_cast() -> None:
    votes = [
        (True, True),
        (False, False),
        (True, False, True),
        (False, True, False),
        (True, None, True),
    ]
    rows = [
        judged(n, "judge", opinion("a", cast[-1], *cast, wanted=3)) for n, cast in enumerate(votes)
    ]
    # the first two of each ballot: observed 1/2, shares 1/2 and 1/2, chance 1/2; the ballot with a
    # lost vote is out
    found = judging(*rows).vote_agreement
    assert found is not None
    assert (found.kappa, found.n) == (0.0, 4)


def test_a_judge_has_the_validation_that_was_made_of_it() -> None:
    assert judging(judged(1, "judge", opinion("openai/a", True))).validation == VALIDATED
    assert judging(judged(1, "judge", opinion("openai/b", True))).validation is None


def result_of(rule: str, *rows: Row) -> RuleResult:
    gate = check(parse_gate(f"rules:\n  judge.{rule}", "gates.yaml"), summary(*rows))
    [found] = [one for one in gate.results if one.task == "judge"]
    return found


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("kappa: {min: 0.85}", "pass"),
        ("kappa: {min: 0.9}", "inconclusive"),
        ("kappa: {min: 0.9, point: true}", "pass"),
        ("kappa: {min: 0.99}", "fail"),
        ("false_positive_rate: {max: 0.07}", "pass"),
        ("false_positive_rate: {max: 0.003}", "fail"),
        ("false_negative_rate: {max: 0.1}", "pass"),
        ("false_negative_rate: {max: 0.007}", "fail"),
        ("unscored_rate: {max: 0.04}", "pass"),
        ("unscored: {max: 2}", "missing"),
        ("cases: {min: 143}", "pass"),
        ("agreement: {min: 0.5}", "missing"),
        # Of the 143 labelled cases 142 have a verdict; the run has a single row.
        ("kappa: {min: 0.85, samples: 142}", "pass"),
        ("kappa: {min: 0.85, samples: 143}", "inconclusive"),
    ],
)
def test_a_gate_may_demand_a_validated_judge(rule: str, verdict: str) -> None:
    assert result_of(rule, judged(1, "judge", opinion("openai/a", True))).status == verdict


def test_a_judge_without_validation_meets_no_demand() -> None:
    found = result_of("kappa: {min: 0.9}", judged(1, "judge", opinion("openai/b", True)))
    assert found.status not in {"pass", "fail"}
    assert "llmeval validate" in found.reason
    assert result_of("kappa: {min: 0.9}", row("1")).reason == "no judge was asked in this run"


def test_the_table_says_who_decided_and_what_the_judge_is_worth() -> None:
    rows = [judged(1, "symbolic"), judged(2, "judge", opinion("openai/a", True))]
    text = render_table(summary(*rows), width=120, color=False)
    assert "judged scores decided by" in text
    assert (
        "judged by openai/a: kappa 0.950 (95 % 0.880–0.980) on 143 labelled cases"
        in text.replace("\n", " ")
    )
    unknown = render_table(
        summary(judged(1, "judge", opinion("openai/b", True))), width=120, color=False
    )
    assert "judged by openai/b, which is not validated" in unknown


def test_the_summary_reads_back_as_it_was_written() -> None:
    written = summary(judged(1, "judge", opinion("openai/a", True, True, True, wanted=3)))
    assert Summary.from_json(written.to_json()) == written


def test_a_judge_of_several_that_failed_is_told_once_below_the_table() -> None:
    failed = {**opinion("openai/b", None), "failure": "HTTP 401: the key is refused"}
    later = {**failed, "failure": f"its judge is lost: {failed['failure']}"}
    rows = [judged(n, "judge", opinion("openai/a", True), later if n else failed) for n in range(3)]
    [found] = judging(*rows, judged(3, "judge", opinion("openai/b", True))).failures
    assert (found.judge, found.n, found.asked, found.reason) == (
        "openai/b",
        3,
        4,
        "HTTP 401: the key is refused",
    )
    table = " ".join(render_table(summary(*rows), width=100, color=False).split())
    assert table.count("judge openai/b failed on 3 of 3 answers") == 1
