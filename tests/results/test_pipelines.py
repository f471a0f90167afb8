"""Tasks that asked the same questions: which rows are pairs, and what their differences are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest
from example_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.records import Outcome, Row, Score
from pytest_llmeval.report.matrix_sheet import matrix_sheet
from pytest_llmeval.report.table import render_sheets
from pytest_llmeval.results.paired import holm, paired_difference
from pytest_llmeval.results.pipelines import Pipelines, pipelines
from pytest_llmeval.results.task_info import TaskInfo

OUTCOMES: tuple[Outcome, ...] = ("correct", "incorrect", "error", "unscored", "not run")
TASKS = ("query", "agent", "context")
GRADER = "sldp/1 tolerance=0.01"

Epochs = Mapping[tuple[str, str, str, int], Outcome | None]
"""By model, task, sample and epoch: the outcome; None for a deselected test."""


def answer(task: str, sample: str, outcome: Outcome, **fields: Any) -> Row:
    """Return a row of a pipeline, graded as SLDP is where it was scored."""
    right = outcome == "correct"
    score = Score(name="SLDP", value=float(right), correct=right, grader=GRADER)
    graded = (score,) if outcome in {"correct", "incorrect"} else ()
    usual = {
        "test": f"test_all.py::test_{task}",
        "question": f"question {sample}",
        "target": f"target {sample}",
        "scores": graded,
    }
    all_fields = {**usual, **fields}
    graders = {f"grader:{one.name}": one.grader for one in all_fields["scores"]}
    return row(sample, outcome, task=task, versions=graders, **all_fields)


def found(rows: Iterable[Row]) -> tuple[Pipelines, ...]:
    return pipelines({"": list(rows)}, {})


def told(rows: Iterable[Row]) -> str:
    """Return the tables of pipelines as they are printed."""
    sheets = [matrix_sheet(one.matrix, "pipelines") for one in found(rows)]
    return render_sheets(sheets, width=200, color=False)


def pair(rows: Iterable[Row]) -> Pipelines:
    (one,) = found(rows)
    return one


@st.composite
def runs(draw: st.DrawFn) -> Epochs:
    """Return a run of up to three pipelines over the same samples, with all that can go wrong."""
    models, tasks = ("a", "b")[: draw(st.integers(1, 2))], TASKS[: draw(st.integers(2, 3))]
    samples, epochs = "1234567"[: draw(st.integers(1, 7))], range(draw(st.integers(1, 3)))
    places = [
        (m, task, sample, epoch + 1)
        for m in models
        for task in tasks
        for sample in samples
        for epoch in epochs
    ]
    usual: st.SearchStrategy[Outcome | None] = st.sampled_from(("correct", "incorrect") * 4)
    outcome = usual | st.sampled_from((*OUTCOMES, None))
    return {place: draw(outcome) for place in places}


def rows_of(run: Epochs) -> list[Row]:
    return [
        answer(task, sample, outcome, model=model, epoch=epoch)
        for (model, task, sample, epoch), outcome in run.items()
        if outcome is not None
    ]


def values_of(run: Epochs, model: str, task: str) -> dict[str, list[float]]:
    """Return 1 or 0 for each scored epoch of each sample that has one."""
    values: dict[str, list[float]] = {}
    for (of_model, of_task, sample, _), outcome in run.items():
        if (of_model, of_task) == (model, task) and outcome in {"correct", "incorrect"}:
            values.setdefault(sample, []).append(float(outcome == "correct"))
    return values


@settings(deadline=None, max_examples=30)
@given(run=runs(), mixed=st.randoms(use_true_random=False))
def test_the_differences_are_those_of_the_pairs_that_all_pipelines_scored(
    run: Epochs, mixed: Any
) -> None:
    rows = rows_of(run)
    mixed.shuffle(rows)
    for one in found(rows):
        names = [contender.place.task for contender in one.matrix.contenders]
        common, differences = _by_hand(run, one.model, names)
        assert one.matrix.n == len(common)
        changes = {
            (names[a], names[b]): change
            for (a, b), of_pair in one.matrix.changes.items()
            for change in of_pair
            if change.name == "accuracy"
        }
        assert changes.keys() == differences.keys()
        after_holm = holm({pair: known.mean.p_value() for pair, known in differences.items()})
        for key, change in changes.items():
            mean = differences[key].mean
            interval = mean.interval()
            assert change.n == len(common)
            assert math.isclose(change.difference, mean.mean, abs_tol=1e-12)
            assert (change.low, change.high) == (interval.low, interval.high)
            assert (change.p_value, change.adjusted) == (mean.p_value(), after_holm[key])


def _by_hand(
    run: Epochs, model: str, there: Sequence[str]
) -> tuple[set[str], dict[tuple[str, str], Any]]:
    values = {task: values_of(run, model, task) for task in there}
    taking_part = [task for task in there if values[task]]
    common = (
        set.intersection(*(set(values[task]) for task in taking_part)) if taking_part else set()
    )
    if len(taking_part) < 2:
        return set(), {}
    differences = {
        (a, b): paired_difference([(values[a][key], values[b][key]) for key in sorted(common)])
        for a, b in combinations(taking_part, 2)
        if common
    }
    return common, differences


@settings(deadline=None, max_examples=25)
@given(run=runs())
def test_each_planned_sample_stands_once_with_what_became_of_it_everywhere(run: Epochs) -> None:
    for one in found(rows_of(run)):
        names = [contender.place.task for contender in one.matrix.contenders]
        shown = {
            (one.model, name, sample.id, epoch): outcome
            for sample in one.samples
            for name, outcomes in zip(names, sample.outcomes, strict=True)
            for epoch, outcome in outcomes.items()
        }
        known = {
            place: outcome
            for place, outcome in run.items()
            if place[0] == one.model and place[1] in names and outcome is not None
        }
        assert shown == known
        assert len({sample.id for sample in one.samples}) == len(one.samples)


@settings(deadline=None, max_examples=25)
@given(
    changed=st.sets(st.sampled_from("12345678"), max_size=7),
    field=st.sampled_from(["question", "target", "sample"]),
)
def test_samples_whose_id_input_or_target_differ_are_never_a_pair(
    changed: set[str], field: str
) -> None:
    rows = [answer("query", sample, "correct") for sample in "12345678"]
    for sample in "12345678":
        other = {field: f"another {sample}"} if sample in changed else {}
        name = other.pop("sample", sample)
        told = {"question": f"question {sample}", "target": f"target {sample}", **other}
        rows.append(answer("agent", name, "incorrect", **told))
    one = pair(rows)
    assert one.matrix.n == 8 - len(changed)
    assert len(one.samples) == 8 + len(changed)
    both = [sample for sample in one.samples if all(sample.rows)]
    assert {sample.id for sample in both} == set("12345678") - changed


def some(task: str, outcomes: Sequence[Outcome], **fields: Any) -> list[Row]:
    return [answer(task, str(place), outcome, **fields) for place, outcome in enumerate(outcomes)]


RIGHT: Sequence[Outcome] = ("correct",) * 8
WRONG: Sequence[Outcome] = ("incorrect",) * 8
BROKEN: Sequence[Outcome] = ("error",) * 8


@pytest.mark.parametrize(
    "rows",
    [
        some("query", RIGHT),
        [*some("query", RIGHT), *some("query", WRONG, test="test_all.py::test_strict")],
        [*some("query", RIGHT, model="a"), *some("agent", WRONG, model="b")],
        [*some("query", RIGHT), *some("agent", WRONG, question="other")],
        [*some("query", RIGHT, question=""), *some("agent", WRONG, question="")],
        [],
    ],
    ids=["one task", "two tests of one", "other models", "other questions", "unknown", "nothing"],
)
def test_without_two_tasks_that_asked_a_model_the_same_there_is_no_table(rows: list[Row]) -> None:
    assert found(rows) == ()


def test_tasks_are_compared_within_their_questions_and_their_model() -> None:
    goals = {"question": "goal", "target": "goal"}
    tasks: list[tuple[str, dict[str, str]]] = [(task, {}) for task in TASKS]
    tasks += [("goals", goals), ("goals_agent", goals)]
    rows = [
        line
        for model in ("a", "b")
        for task, fields in tasks
        for line in some(task, RIGHT, model=model, **fields)
    ]
    parts = [(one.model, [c.place.task for c in one.matrix.contenders]) for one in found(rows)]
    both = [["agent", "context", "query"], ["goals", "goals_agent"]]
    assert parts == [(model, names) for model in ("a", "b") for names in both]


def test_a_task_over_a_part_of_the_questions_is_compared_over_that_part() -> None:
    text = told([*some("query", RIGHT), *some("agent", RIGHT), *some("context", WRONG[:3])])
    assert "3 samples that all scored" in text
    assert "scored samples: A 8, B 3, C 8; only the 3 common ones count" in text


def test_one_common_sample_is_told_as_one() -> None:
    text = told([*some("query", RIGHT), *some("agent", WRONG[:1])])
    assert "1 sample that all scored" in text


def test_a_pipeline_that_scored_nothing_does_not_hide_the_others() -> None:
    rows = [*some("query", RIGHT), *some("context", WRONG), *some("agent", BROKEN)]
    assert pair(rows).matrix.n == 8
    assert set(pair(rows).matrix.changes) == {(1, 2)}
    assert "scored nothing, and so left out of the comparison: A" in told(rows)
    assert pair([*some("query", RIGHT), *some("agent", BROKEN)]).matrix.n == 0


def regraded(rows: Iterable[Row], **fields: Any) -> list[Row]:
    changed = []
    for line in rows:
        value = fields.get("scale", 1.0) * float(line.outcome == "correct")
        score = {"name": "SLDP", "value": value, "correct": line.outcome == "correct"}
        changed.append(
            answer(
                line.task,
                line.sample,
                line.outcome,
                scores=(Score(**{**score, "grader": GRADER, **fields}),),
            )
        )
    return changed


@pytest.mark.parametrize(
    "fields", [{"grader": "sldp/1 tolerance=1"}, {"name": "exact", "grader": "exact/1"}]
)
def test_under_other_graders_no_difference_is_told(fields: dict[str, Any]) -> None:
    rows = [
        *some("query", RIGHT),
        *some("context", RIGHT),
        *regraded(some("agent", WRONG), **fields),
    ]
    matrix = pair(rows).matrix
    assert matrix.regraded == ((0, 1), (0, 2))
    assert [bool(changes) for changes in matrix.changes.values()] == [False, False, True]
    text = told(rows)
    assert "GRADERS DIFFER, so what they decide is not compared: A with B, A with C" in text
    assert str(fields["grader"]) in text
    assert "B - A" not in text
    assert "C - B" in text


def test_scores_of_other_scales_stand_apart_and_have_no_difference() -> None:
    half = [
        answer(
            "query",
            str(place),
            "incorrect",
            scores=(Score(name="partial", value=0.5, scale=1.0, correct=False, grader=GRADER),),
        )
        for place in range(8)
    ]
    points = [
        answer(
            "agent",
            line.sample,
            "incorrect",
            scores=(Score(name="partial", value=40.0, scale=100.0, correct=False, grader=GRADER),),
        )
        for line in half
    ]
    text = told([*half, *points])
    assert "partial 0–1 " in text
    assert "partial 0–100 " in text
    assert "partial 0–100: " not in text
    assert "accuracy: paired differences" in text


def test_outcomes_that_no_score_made_are_told() -> None:
    rows = [*some("query", RIGHT), *some("agent", WRONG, scores=())]
    assert "graded by the test's body alone" in told(rows)
    assert "graded by the test's body alone" not in told(
        [*some("query", RIGHT), *some("agent", BROKEN)]
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"recorded": True}, "recorded replies"),
        ({"cached": True, "age": 3.0}, "cached replies"),
        ({"engine": "arcadedb", "stands_in_for": "Neo4j"}, "rows that a stand-in answered"),
    ],
)
def test_doubtful_rows_are_marked(fields: dict[str, Any], said: str) -> None:
    assert f"{said}: A\n" in told([*some("query", RIGHT), *some("agent", WRONG, **fields)])
    assert said not in told([*some("query", RIGHT), *some("agent", WRONG)])


def test_demo_data_stand_in_the_title() -> None:
    rows = [*some("query", RIGHT), *some("agent", WRONG)]
    infos = {task: TaskInfo(title=task, demo=True) for task in TASKS}
    (one,) = pipelines({"": rows}, infos)
    assert "(demo data)" in matrix_sheet(one.matrix).title
    (other,) = pipelines({"": rows}, {"query": infos["query"]})
    assert "demo data: B" in matrix_sheet(other.matrix).notes


def test_tasks_of_several_runs_stand_side_by_side() -> None:
    runs = {"monday": some("query", RIGHT), "tuesday": some("agent", WRONG)}
    (one,) = pipelines(runs, {})
    assert "A: query in monday" in matrix_sheet(one.matrix).notes
    assert one.matrix.changes[0, 1][0].difference == -1
    assert {c.place.run for c in one.matrix.contenders} == set(runs)
