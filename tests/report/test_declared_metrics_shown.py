"""Declared metrics, and scores that do not decide, in the table and in Markdown."""

from __future__ import annotations

import re

from example_rows import eed, row

from pytest_llmeval.records import Row, Score
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.report.table import render_table
from pytest_llmeval.results.figures import MetricValue
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import MetricEntry, TaskInfo


def summary(rows: list[Row], *metrics: MetricEntry) -> Summary:
    return summarise(rows, {"demo": TaskInfo(title="demo", metrics=metrics)})


EPOCHS = [
    row(str(sample), "correct" if epoch <= sample else "incorrect", epoch=epoch, answer=str(epoch))
    for sample in range(3)
    for epoch in (1, 2)
]


def test_a_metric_has_a_column_with_its_interval_unless_its_figure_stands_there() -> None:
    # Samples with 0, 1 and 2 of 2 right: pass@1 = 1/2, pass@2 = 2/3.
    found = summary(EPOCHS, "accuracy", {"pass_at": [1, 2, 4]}, "mcc")
    text = render_table(found, width=200, color=False)
    assert re.search(r"  pass\^2 +pass@1 +95 % +pass@2 +95 % +pass@4 +95 % +mcc +95 %", text)
    assert len(re.findall("accuracy", text)) == 1
    assert re.search(r"33\.3 % +50\.0 % +\d\S+ +66\.7 % +\d", text)
    assert text.count("pass@2") == 1
    assert "pass@\u20601 | 95 % |" in render_markdown(found)


def test_samples_left_out_are_told() -> None:
    text = render_table(summary([*EPOCHS, row("9")], {"pass_at": 2}), width=200, color=False)
    assert "66.7 % (1 left out)" in text
    more = [row("1", epoch=epoch) for epoch in (1, 2, 3)]
    text = render_table(summary([*more, row("2")], {"pass_at": 2}), width=200, color=False)
    assert "100.0 % (1 left out)" in text


def test_a_k_above_the_epochs_has_no_value_and_the_reason_is_told() -> None:
    text = render_table(summary(EPOCHS, {"pass_at": [2, 10]}), width=200, color=False)
    reason = "no sample has 10 scored epochs (--llmeval-epochs 10)"
    assert f"all: no value of the metric pass@10: {reason}" in text
    assert "pass@2:" not in text


def test_a_gate_can_bound_a_declared_metric() -> None:
    found = summary(EPOCHS, {"pass_at": [1]}, {"maj_at": [2]})
    gate = parse_gate("rules: {demo.pass@1: {min: 0.05}, demo.maj@2: {min: 0.9}}", "g.yaml")
    assert [one.status for one in check(gate, found).results[-2:]] == ["pass", "fail"]


def test_why_a_metric_has_no_value_is_told_below_the_table() -> None:
    [entry] = summary(EPOCHS).entries
    broken = MetricValue(name="mine\x1b[2J", value=None, n=6, problem="ValueError: \x1b[2Jno")
    entry = type(entry)(
        task=entry.task,
        test=entry.test,
        model=entry.model,
        info=entry.info,
        figures=type(entry.figures)(
            counts=entry.figures.counts,
            samples=3,
            epochs=2,
            accuracy=entry.figures.accuracy,
            metrics=(broken,),
        ),
    )
    text = render_table(Summary(entries=(entry,)), width=100, color=False)
    assert "all: no value of the metric mine: ValueError: no" in text


def test_a_score_that_does_not_decide_is_shown_although_its_mean_is_the_accuracy() -> None:
    rows = [
        row(
            str(i),
            "correct" if i % 2 else "incorrect",
            scores=(
                Score(name="right", value=float(i % 2), correct=bool(i % 2)),
                Score(name="polite", value=float(i % 2), correct=None, decides=False),
            ),
        )
        for i in range(4)
    ]
    text = render_table(summary(rows), width=200, color=False)
    assert "polite 0–1" in text
    assert "right 0–1" not in text


def test_a_declared_score_has_one_column() -> None:
    text = render_table(
        summary([row("1", scores=eed(40))], "eed", "accuracy"), width=200, color=False
    )
    assert len(re.findall("EED", text)) == 1
