"""The metrics that a task declares, with known values worked out by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from example_rows import eed, row

from pytest_llmeval.records import Outcome, Row, Score
from pytest_llmeval.results.declared_metrics import (
    MetricError,
    check_metrics,
    declared_metrics,
)
from pytest_llmeval.results.figures import Figures, MetricValue
from pytest_llmeval.results.metric import f1_macro, mcc, pass_at
from pytest_llmeval.results.summarise import figures, summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import MetricEntry, TaskInfo


def repeated(sample: str, *answers: tuple[str | None, bool]) -> list[Row]:
    """Return the epochs of a sample, by answer and whether it is correct."""
    return [
        row(sample, "correct" if right else "incorrect", epoch=epoch, answer=answer)
        for epoch, (answer, right) in enumerate(answers, 1)
    ]


def classified(*pairs: tuple[str, str | None]) -> list[Row]:
    """Return a row for each pair of target and answer."""
    return [
        row(str(i), "correct" if target == answer else "incorrect", target=target, answer=answer)
        for i, (target, answer) in enumerate(pairs)
    ]


def of(rows: Sequence[Row], *entries: MetricEntry, folder: Path | None = None) -> Figures:
    return figures(rows, TaskInfo(title="demo", metrics=entries), declared_metrics(entries, folder))


RIGHT, WRONG = ("a", True), ("b", False)

# Three classes. Confusion (target: answers): a: a a b; b: b c; c: c.
PAIRS = [("a", "a"), ("a", "a"), ("a", "b"), ("b", "b"), ("b", "c"), ("c", "c")]


def test_pass_at_k_is_the_unbiased_estimate_and_counts_the_samples_left_out() -> None:
    # Sample 1: 1 of 4 right, sample 2: 4 of 4, sample 3: 1 of 1.
    rows = [
        *repeated("1", RIGHT, WRONG, WRONG, WRONG),
        *repeated("2", *[RIGHT] * 4),
        *repeated("3", RIGHT),
    ]
    one, two, four = pass_at(rows, [1, 2, 4])
    assert (one.name, one.n, one.left_out) == ("pass@1", 3, 0)
    assert one.value == pytest.approx((1 / 4 + 1 + 1) / 3)
    # 1 - C(3, 2) / C(4, 2) = 1/2.
    assert (two.name, two.n, two.left_out) == ("pass@2", 2, 1)
    assert two.value == pytest.approx(0.75)
    assert (four.value, four.n, four.left_out) == (1.0, 2, 1)
    assert pass_at(rows)[0] == one
    [none] = pass_at(rows, [9])
    assert (none.value, none.n, none.left_out) == (None, 0, 3)


def test_f1_is_the_mean_over_the_classes_of_the_targets() -> None:
    # a: 2 hits, 3 targets, 2 answers: 4/5. b: 1, 2, 2: 1/2. c: 1, 1, 2: 2/3.
    assert f1_macro(classified(*PAIRS)) == pytest.approx((4 / 5 + 1 / 2 + 2 / 3) / 3)
    # An answer that is no class, or none at all: only a's recall falls, to 2/4: 2 * 2 / (4 + 2).
    more = [*PAIRS, ("a", "no idea")]
    assert f1_macro(classified(*more)) == pytest.approx((4 / 6 + 1 / 2 + 2 / 3) / 3)
    assert f1_macro(classified(*PAIRS, ("a", None))) == f1_macro(classified(*more))
    assert f1_macro([]) is None


def test_mcc_of_two_classes_is_that_of_the_four_counts() -> None:
    # TP 6, TN 3, FP 1, FN 2: (6*3 - 1*2) / sqrt(7 * 8 * 4 * 5) = 16 / sqrt(1120).
    two = [("y", "y")] * 6 + [("n", "n")] * 3 + [("n", "y")] + [("y", "n")] * 2
    assert mcc(classified(*two)) == pytest.approx(16 / math.sqrt(1120))
    # R_K: c = 4 hits of s = 6; sum of t * p = 3*2 + 2*2 + 1*2 = 12; 36 - (9+4+1), 36 - (4+4+4).
    assert mcc(classified(*PAIRS)) == pytest.approx((4 * 6 - 12) / math.sqrt(22 * 24))
    assert mcc(classified(("a", "a"), ("a", "a"))) == 0.0
    assert mcc([]) is None


def test_a_metric_without_an_interval_gets_one_by_redrawing_whole_samples() -> None:
    rows = classified(*PAIRS * 10)
    [f1] = of(rows, "f1_macro").metrics
    [again] = of(rows, "f1_macro").metrics
    assert f1 == again
    assert (f1.name, f1.n) == ("f1_macro", 60)
    assert f1.low is not None
    assert f1.high is not None
    assert f1.value is not None
    assert f1.low < f1.value < f1.high
    # Ten epochs of each of six samples say no more of other samples than one.
    six = [one for i, pair in enumerate(PAIRS) for one in ten_times(str(i), *pair)]
    [wide] = of(six, "f1_macro").metrics
    assert wide.low is not None
    assert wide.high is not None
    assert wide.high - wide.low > 2 * (f1.high - f1.low)
    [alone] = of(classified(("a", "a")), "f1_macro").metrics
    assert (alone.value, alone.low, alone.standard_error) == (1.0, None, None)


def ten_times(sample: str, target: str, answer: str) -> list[Row]:
    outcome: Outcome = "correct" if target == answer else "incorrect"
    return [
        row(sample, outcome, epoch=epoch, target=target, answer=answer) for epoch in range(1, 11)
    ]


def test_a_sample_that_is_drawn_twice_counts_as_two(tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text(
        "def samples(rows):\n    return float(len({row.sample for row in rows}))\n"
    )
    [found] = of([row(str(i)) for i in range(20)], "./metrics.py:samples", folder=tmp_path).metrics
    # All draws have twenty samples, so nothing spreads.
    assert (found.name, found.value, found.low) == ("samples", 20.0, None)


def test_scores_shares_and_accuracy_are_taken_from_the_figures_that_stand() -> None:
    rows = [
        row("1", scores=eed(100), details={"cites": True}),
        row("2", "incorrect", scores=eed(40), details={"cites": False}),
        row("3", "error", scores=eed(0)),
    ]
    found = of(rows, "accuracy", "eed", {"mean": "EED"}, "cites", {"mean": {"score": "other"}})
    assert [(one.name, one.value, one.n, one.share) for one in found.metrics] == [
        ("accuracy", 0.5, 2, True),
        ("EED", 70.0, 2, False),
        ("EED", 70.0, 2, False),
        ("cites", 0.5, 2, True),
        ("other", None, 0, False),
    ]
    assert found.metrics[1].low == found.scores[0].low
    assert [one.name for one in found.further_metrics] == ["other"]


def test_a_metric_of_ones_own_takes_options_and_its_failure_costs_it_alone(tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text(
        "from pytest_llmeval.results.figures import MetricValue\n"
        "def longer(rows, than: int = 0):\n"
        "    return sum(len(row.answer) > than for row in rows) / len(rows)\n"
        "def broken(rows):\n    return 1 / 0\n"
        "def text(rows):\n    return 'high'\n"
        "def two(rows):\n"
        "    return [MetricValue(name=name, value=1.0, n=1) for name in ('x', 'y')]\n"
    )
    rows = [row("1", answer="abc"), row("2", "incorrect", answer="a")]
    entries: list[MetricEntry] = [
        {"./metrics.py:longer": 1},
        "./metrics.py:broken",
        "./metrics.py:text",
        "./metrics.py:two",
    ]
    check_metrics(entries, tmp_path)
    longer, broken, text, x, y = of(rows, *entries, folder=tmp_path).metrics
    assert (longer.name, longer.value, longer.n) == ("longer", 0.5, 2)
    assert (broken.value, broken.problem) == (
        None,
        "ZeroDivisionError: division by zero (metrics.py, line 5, in broken)",
    )
    assert "it returned 'high', which is no finite number" in text.problem
    assert (x.name, y.name) == ("x", "y")
    # What a stored run names is not loaded.
    assert of(rows, *entries).metrics == ()
    summary = summarise(
        rows,
        {"demo": TaskInfo(title="demo", metrics=tuple(entries))},
        {"demo": declared_metrics(entries, tmp_path)},
    )
    assert Summary.from_json(json.loads(json.dumps(summary.to_json()))) == summary


@pytest.mark.parametrize(
    ("entry", "place", "said"),
    [
        ("acuracy", (0,), r"is 'acuracy'; did you mean 'accuracy'\? \(allowed: accuracy, mean, "),
        ("acuracy", (0,), r"module:function\); of this task: EED, valid"),
        ({"pass_at": ["two"]}, (0, "pass_at", "k"), "valid integer"),
        ({"pass_at": [0]}, (0, "pass_at", "k"), "greater than or equal to 1"),
        ({"pass_at": {"n": 1}}, (0, "pass_at", "n"), r"is not an option here \(allowed: k\)"),
        ({"maj_at": {"same": 3}}, (0, "maj_at", "same"), r"is not an option here \(allowed: k\)"),
        ("maj_at", (0, "maj_at", "k"), "is missing"),
        ({"mcc": 3}, (0, "mcc"), r"is not an option here \(it has none\)"),
        ("mean", (0, "mean", "score"), "is missing"),
        ("macro", (0,), "is 'macro'; the mean of a score .* the score's name; of this task: EED"),
        ({"eed": 3}, (0, "eed"), "takes no options"),
        ({"accuracy": None, "mcc": None}, (0,), "one metric with its options"),
    ],
)
def test_a_wrong_metric_is_refused_with_its_place_and_what_is_allowed(
    tmp_path: Path, entry: Any, place: tuple[int | str, ...], said: str
) -> None:
    with pytest.raises(MetricError, match=said) as caught:
        check_metrics([entry], tmp_path, scores=["EED"], shares=["valid"])
    assert caught.value.place == place


def test_what_a_task_may_list_passes_and_a_missing_function_is_told(tmp_path: Path) -> None:
    known: list[MetricEntry] = [
        "accuracy",
        {"pass_at": [1, 10]},
        {"pass_at": 5},
        {"pass_at": {"k": [2]}},
        {"mean": "eed"},
        "f1_macro",
        "mcc",
        {"maj_at": [1, 8]},
        "eed",
        "valid",
    ]
    check_metrics(known, tmp_path, scores=["EED"], shares=["valid"])
    with pytest.raises(MetricError, match="no such file"):
        check_metrics(["./absent.py:mine"], tmp_path)


def test_a_score_repeats_the_accuracy_only_if_it_decides_and_does_so_in_every_row() -> None:
    def rows(*values: float, decides: bool = True) -> list[Row]:
        outcomes: tuple[Outcome, ...] = ("correct", "incorrect")
        return [
            row(
                str(i),
                outcome,
                scores=(Score(name="fluent", value=value, correct=None, decides=decides),),
            )
            for i, (outcome, value) in enumerate(zip(outcomes, values, strict=True))
        ]

    info = TaskInfo(title="demo")
    assert figures(rows(1.0, 0.0), info).repeating == ("fluent",)
    # The same mean, from other rows: by chance.
    assert figures(rows(0.0, 1.0), info).repeating == ()
    assert figures(rows(0.5, 0.5), info).repeating == ()
    assert figures(rows(1.0, 0.0, decides=False), info).repeating == ()
    # A row without the score.
    assert figures([*rows(1.0, 0.0), row("3")], info).repeating == ()
    assert [one.name for one in figures(rows(0.0, 1.0), info).graded] == ["fluent"]


@pytest.mark.parametrize("listed", ["fluent", {"mean": "fluent"}])
def test_a_score_that_the_task_lists_is_shown_whatever_the_rows_hold(listed: MetricEntry) -> None:
    outcomes: list[tuple[Outcome, float]] = [("correct", 1.0), ("incorrect", 0.0)]
    repeating = [
        row(str(i), outcome, scores=(Score(name="fluent", value=value, correct=None),))
        for i, (outcome, value) in enumerate(outcomes)
    ]
    info = TaskInfo(title="demo", metrics=(listed,))
    found = figures(repeating, info, declared_metrics(info.metrics))
    assert found.repeating == ("fluent",)
    assert [one.name for one in found.graded] == ["fluent"]
    assert not figures(repeating, TaskInfo(title="demo")).graded


def test_metric_values_go_through_json_with_all_they_hold() -> None:
    value = MetricValue(name="pass@2", value=0.5, n=4, left_out=1, share=True)
    assert MetricValue.from_json(json.loads(json.dumps(value.to_json()))) == value


def test_an_answer_is_the_class_that_it_names() -> None:
    def one(answer: str, outcome: Outcome = "incorrect", target: Any = "no") -> Row:
        return row(answer, outcome, answer=answer, target=target)

    others = [one("yes", "correct", "yes"), one("no", "correct")]
    exact = [*others, one("yes"), one("no", target="yes")]
    loose = [*others, one("Yes."), one("NO", target="yes")]
    assert f1_macro(loose) == f1_macro(exact) == 0.5
    assert f1_macro([*others, one("maybe"), one("no", target="yes")]) != 0.5
    # A scorer may find correct what is written otherwise.
    assert f1_macro([*others, one("It is no", "correct")]) == 1
    # "C" and "C++" differ by punctuation alone, so an answer must be one of them.
    signs = [one("C", "correct", "C"), one("C++", "correct", "C++")]
    assert f1_macro([*signs, one("c", target="C")]) == f1_macro([*signs, one("?", target="C")])
    # Of several texts as target the answer's one counts.
    assert f1_macro([*others, one("yes", "incorrect", ("yes", "no"))]) == 1
