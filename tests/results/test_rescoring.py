from __future__ import annotations

import pytest
from example_rows import eed, row

from pytest_llmeval.records import Row, Score
from pytest_llmeval.report.table import render_rescoring
from pytest_llmeval.results.rescoring import rescoring


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
