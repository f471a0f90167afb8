from __future__ import annotations

from typing import Any

import pytest
from example_rows import eed, row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Outcome, Row, Score
from pytest_llmeval.report.table import render_rescoring
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.figures import Counts
from pytest_llmeval.results.rescored_part import MetricStep
from pytest_llmeval.results.rescoring import Rescoring, rescoring


def graded(value: float, grader: str = "eed/1") -> tuple[Score, ...]:
    return (Score(name="EED", value=value, scale=100.0, correct=value == 100, grader=grader),)


OLD = row("1", "incorrect", answer="x", target="y", scores=graded(40))


@pytest.mark.parametrize(
    ("new", "causes"),
    [
        (row("1", "incorrect", answer="x", target="y", scores=graded(50)), ("grader",)),
        (row("1", "incorrect", answer="x", target="y", scores=graded(50, "eed/2")), ("grader",)),
        (row("1", "correct", answer="y", target="y", scores=graded(100)), ("answer",)),
        (row("1", "correct", answer="x", target="x", scores=graded(100)), ("data",)),
        (
            row("1", "correct", answer="z", target="z", scores=graded(100, "eed/2")),
            ("answer", "data", "grader"),
        ),
        (row("1", "error", target="y"), ("no score now",)),
        (row("1", "error", target="y", stop_reason=""), ("no stored reply",)),
        (row("1", "unscored", answer="x", target="y"), ("no score now",)),
        (row("1", "unscored", answer="x", target="y", scores=graded(40)), ("grader",)),
    ],
)
def test_a_change_is_put_down_to_what_differs(new: Row, causes: tuple[str, ...]) -> None:
    [found] = rescoring("then", [OLD], [new]).changed
    assert (found.before, found.after, found.causes) == ("incorrect", new.outcome, causes)


def test_what_came_out_alike_is_counted_and_not_listed() -> None:
    found = rescoring("then", [OLD, row("2"), row("3")], [OLD, row("2"), row("4")])
    assert (found.same, found.changed, found.added, found.absent) == (2, (), 1, 1)


def test_both_ends_of_each_changed_score_are_told() -> None:
    after = row("1", "incorrect", answer="x", target="y", scores=eed(40, 10))
    [found] = rescoring("then", [OLD], [after]).changed
    assert found.scores == {"EED published": (None, 10)}


def test_hostile_ids_and_long_lists_leave_the_table_whole() -> None:
    rows = [row(f"\x1b[2J{i}\n|", "correct", scores=eed(100)) for i in range(70)]
    again = [row(f"\x1b[2J{i}\n|", "incorrect", scores=eed(1)) for i in range(70)]
    text = render_rescoring(rescoring("then", rows, again), width=80, color=False)
    assert "scored again from then: 70 changed, 0 the same" in text
    assert "20 more changed rows are not listed" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


GRADERS = st.sampled_from(["judge/1 by openai/a", "judge/1 by openai/b"])
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(
    ["correct", "incorrect", "error", "unscored"]
)


@st.composite
def rescored(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Return rows of two models and up to two epochs, and what became of them by another grader."""
    runs: tuple[list[Row], list[Row]] = ([], [])
    graders = draw(GRADERS), draw(GRADERS)
    for place, model in enumerate(draw(st.sampled_from([("a",), ("a", "b")]))):
        for sample in range(draw(st.integers(0 if place else 1, 6))):
            for epoch in range(1, draw(st.integers(1, 2)) + 1):
                answer = draw(st.sampled_from(["x", "y"]))
                for rows, grader in zip(runs, graders, strict=True):
                    outcome = draw(OUTCOMES)
                    value = {"correct": 1.0, "incorrect": draw(st.sampled_from([0.0, 0.5]))}
                    correct = {"correct": True, "incorrect": False}.get(outcome)
                    score = Score(
                        name="judge", value=value.get(outcome), correct=correct, grader=grader
                    )
                    kept: dict[str, Any] = {"answer": answer, "target": "t", "scores": (score,)}
                    name = str(sample)
                    rows.append(row(name, outcome, model=model, epoch=epoch, **kept))
    return runs


@given(rescored())
def test_old_against_new_has_the_numbers_of_a_comparison_of_the_two_runs(
    runs: tuple[list[Row], list[Row]],
) -> None:
    found = rescoring("then", *runs)
    # As `llmeval compare OLD NEW` and as a baseline see them: in one order or another.
    for pairs in (compare(*runs).pairs, compare(*map(list, map(reversed, runs))).pairs):
        assert len(found.parts) == len(pairs)
        for part, pair in zip(found.parts, pairs, strict=True):
            assert (part.task, part.model) == (pair.task, pair.model_b)
            assert (part.gained, part.lost) == (len(pair.gained), len(pair.lost))
            assert len(part.steps) == len(pair.changes)
            for step, change in zip(part.steps, pair.changes, strict=True):
                assert step == MetricStep.of(change)
                assert step.difference == change.difference
                assert step.low <= step.difference <= step.high
                assert (step.p_value < 0.05) == (not step.low <= 0 <= step.high)
    for part in found.parts:
        for counts, rows in zip((part.before, part.after), runs, strict=True):
            of_part = [one.outcome for one in rows if one.model == part.model]
            assert counts == Counts.of(of_part)
    assert Rescoring.from_json(found.to_json()) == found
    text = render_rescoring(found, width=80, color=False)
    several = len({one.model for one in runs[0]}) > 1
    for one in found.changed if several else ():
        assert f"{one.key.task} {one.key.model} {one.key.sample}" in text


def test_an_answer_whose_judge_failed_is_no_change_of_the_grader() -> None:
    failed = Score.unscored("EED", "HTTP 401", scale=100.0, grader="eed/1")
    before = row("1", "error", answer="x", target="y", scores=(failed,))
    after = row("1", "correct", answer="x", target="y", scores=graded(100))
    [found] = rescoring("then", [before], [after]).changed
    assert (found.causes, found.scores) == (("no score then",), {"EED": (None, 100)})
