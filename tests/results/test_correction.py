"""The corrected accuracy of a run: by labels, by a validation, in table, gate and summary."""

from __future__ import annotations

from typing import Any

import pytest
from example_rows import row
from msgspec.structs import replace

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Json, Outcome, Row, Score
from pytest_llmeval.report.cards import card
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.report.table import render_table
from pytest_llmeval.results.answer_labels import AnswerLabel, Drawn
from pytest_llmeval.results.confusion import Confusion
from pytest_llmeval.results.figures import Corrected
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.gate_result import RuleResult
from pytest_llmeval.results.misclassification import Decided, rogan_gladen
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.results.task_info import TaskInfo, Validated

QUESTION = "judge/1 prompt 00895f1b"

MATRIX = Confusion(true_positives=47, false_negatives=3, true_negatives=45, false_positives=5)


def validated(confusion: Confusion = MATRIX, **changed: Any) -> Validated:
    fields: dict[str, Any] = {
        "judge": "openai/a",
        "question": QUESTION,
        "votes": 1,
        "made": "2026-11-23",
        "n": confusion.n,
        "unscored": 0,
        "accuracy": 0.92,
        "confusion": confusion,
        "false_positives": confusion.false_positives,
        "false_positive_rate": 0.1,
        "kappa": 0.84,
        "kappa_low": 0.7,
        "kappa_high": 0.9,
    }
    return Validated(**{**fields, **changed})


def judged(
    sample: int, *, correct: bool, by: str = "judge", question: str = QUESTION, epoch: int = 1
) -> Row:
    opinion: dict[str, Json] = {
        "judge": "openai/a",
        "correct": correct,
        "reason": "",
        "votes": [correct],
    }
    details: dict[str, Json] = {
        "decided_by": by,
        "judge": "openai/a",
        "tally": {},
        "opinions": [{**opinion, "wanted": 1}] if by == "judge" else [],
    }
    score = Score(
        name="judge",
        value=float(correct),
        correct=correct,
        grader=f"{question} prefilter/4 votes=1 by openai/a",
        details=details,
    )
    outcome: Outcome = "correct" if correct else "incorrect"
    return row(str(sample), outcome, scores=(score,), answer=f"it is {sample}", epoch=epoch)


def run(correct: int, judged_rows: int, sure: int = 0) -> list[Row]:
    """Return judged rows, the first of them correct, and some that the prefilter found correct."""
    rows = [judged(number, correct=number < correct) for number in range(judged_rows)]
    return rows + [judged(1000 + number, correct=True, by="symbolic") for number in range(sure)]


def summary(
    rows: list[Row], *validations: Validated, labels: tuple[AnswerLabel, ...] = ()
) -> Summary:
    return summarise(rows, {"demo": TaskInfo(title="demo", validations=validations)}, labels=labels)


def corrected(
    rows: list[Row], *validations: Validated, labels: tuple[AnswerLabel, ...] = ()
) -> Corrected | None:
    return summary(rows, *validations, labels=labels).entries[0].figures.accuracy_corrected


def drawn_label(row: Row, *, correct: bool, drawn: bool = True, **changed: Any) -> AnswerLabel:
    fields: dict[str, Any] = {
        "task": row.task,
        "sample": row.sample,
        "answer": answer_digest(row.answer),
        "drawn": (Drawn.of(row),) if drawn else (),
        "correct": {"": correct},
    }
    return AnswerLabel(**{**fields, **changed})


def test_only_what_the_judge_decided_is_corrected() -> None:
    found = corrected(run(30, 60, sure=40), validated())
    samples = [[Decided(number < 30, judged=True)] for number in range(60)]
    samples += [[Decided(correct=True, judged=False)]] * 40
    expected = rogan_gladen(samples, MATRIX)
    assert found is not None
    assert expected is not None
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert (found.method, found.labels, found.n) == ("validation", 100, 100)


@pytest.mark.parametrize(
    "other",
    [
        {"judge": "openai/b"},
        {"question": "judge/1 prompt ffffffff"},
        {"question": "judge/1 prompt 00895f1"},
        {"options": "votes=11"},
        {"options": "votes=1 minimum=7"},
    ],
)
def test_a_validation_of_another_judge_or_question_corrects_nothing(other: dict[str, Any]) -> None:
    assert corrected(run(30, 60), validated(**other)) is None


def test_the_judge_that_decides_is_the_one_whose_errors_count() -> None:
    rows = []
    for one in run(30, 60):
        further = replace(
            one.scores[0], name="tone", grader="helpfulness/1 prompt 1 votes=1", decides=False
        )
        rows.append(replace(one, scores=(*one.scores, further)))
    assert corrected(rows, validated()) == corrected(run(30, 60), validated())


def test_without_a_validation_or_labels_nothing_is_shown() -> None:
    found = summary(run(30, 60))
    assert found.entries[0].figures.accuracy_corrected is None
    assert "corrected" not in render_table(found, width=120, color=False)
    assert corrected(run(0, 0, sure=40), validated()) is None


def test_a_judge_that_does_not_follow_the_labels_is_told_without_a_number() -> None:
    useless = Confusion(true_positives=5, false_negatives=5, true_negatives=5, false_positives=5)
    found = summary(run(30, 60), validated(useless))
    figures = found.entries[0].figures.accuracy_corrected
    assert figures is not None
    assert figures.value is None
    text = render_table(found, width=100, color=False)
    assert "accuracy is not corrected: sensitivity 0.5 and specificity 0.5 add up to 1" in text
    assert "accuracy corrected" not in text


def test_labels_of_the_runs_own_answers_go_before_a_validation() -> None:
    rows = run(60, 100)
    # Of 25 labelled that were scored correct 20 are, of 15 others none.
    labels = (
        *(drawn_label(one, correct=number < 20) for number, one in enumerate(rows[:25])),
        *(drawn_label(one, correct=False) for one in rows[60:75]),
    )
    found = corrected(rows, validated(), labels=labels)
    assert found is not None
    assert (found.method, found.labels) == ("labels", 40)
    assert found.value == pytest.approx(0.6 * 20 / 25)


def test_only_answers_that_were_drawn_at_random_and_are_this_runs_count() -> None:
    rows = run(30, 60)
    drawn = [drawn_label(one, correct=True) for one in rows[:25]]
    chosen = [drawn_label(one, correct=False, drawn=False) for one in rows[25:50]]
    other = [drawn_label(one, correct=False, answer="sha256:other") for one in rows[50:]]
    tied = [replace(one, correct={"a": True, "b": False}) for one in drawn[:5]]
    found = corrected(rows, labels=(*drawn, *chosen, *other, *tied))
    assert found is not None
    assert found.labels == 20


def test_too_few_labels_leave_it_to_the_validation() -> None:
    rows = run(30, 60)
    labels = tuple(drawn_label(one, correct=True) for one in rows[:19])
    alone = corrected(rows, labels=labels)
    assert alone is not None
    assert (alone.value, alone.problem[:17]) == (None, "19 labels of answ")
    both = corrected(rows, validated(), labels=labels)
    assert both is not None
    assert both.method == "validation"


def result_of(rule: str, *validations: Validated) -> RuleResult:
    gate = parse_gate(f"rules:\n  demo.accuracy_corrected: {rule}", "gates.yaml")
    found = check(gate, summary(run(60, 100), *validations))
    [result] = [one for one in found.results if one.metric == "accuracy_corrected"]
    return result


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ("{min: 0.45}", "pass"),
        ("{min: 0.46}", "inconclusive"),
        ("{min: 0.74}", "fail"),
        ("{max: 0.74}", "pass"),
        ("{min: 0.59, point: true}", "pass"),
        ("{min: 0.60, point: true}", "fail"),
    ],
)
def test_a_gate_judges_the_corrected_accuracy_by_its_interval(rule: str, status: str) -> None:
    # 0.595, 0.459 to 0.732: worked out in test_misclassification.py.
    assert result_of(rule, validated()).status == status


def test_a_gate_says_what_is_missing() -> None:
    missing = result_of("{min: 0.5}")
    assert (missing.status, "llmeval label RUN" in missing.reason) == ("missing", True)
    useless = Confusion(true_positives=5, false_negatives=5, true_negatives=5, false_positives=5)
    unfit = result_of("{min: 0.5}", validated(useless))
    assert (unfit.status, "add up to 1 or less" in unfit.reason) == ("missing", True)


@pytest.mark.parametrize("rule", ["{max_drop: 0.05}", "{min: 0.5, max_rise: 0.1}"])
def test_a_gate_compares_no_corrected_accuracy_with_a_baseline(rule: str) -> None:
    with pytest.raises(TaskError, match=r"gates\.yaml:2: .*takes min and max only"):
        parse_gate(f"rules:\n  demo.accuracy_corrected: {rule}", "gates.yaml")


def test_the_table_shows_both_accuracies_and_says_what_the_second_rests_on() -> None:
    text = render_table(summary(run(60, 100), validated()), width=100, color=False)
    assert "59.5 %" in text
    assert "45.9–73.2" in text
    told = "accuracy corrected by the judge's errors on 100 labelled cases"
    assert told in text.replace("\n", " ")


def test_the_page_and_the_text_for_a_pull_request_show_it_too() -> None:
    found = summary(run(60, 100), validated())
    assert "accuracy corrected" in render_markdown(found, None, None, None, ())
    names = [figure.name for figure in card(found.entries[0]).figures]
    assert names == ["accuracy", "accuracy corrected"]


def test_the_summary_reads_back_as_it_was_written() -> None:
    written = summary(run(60, 100), validated())
    assert Summary.from_json(written.to_json()) == written
