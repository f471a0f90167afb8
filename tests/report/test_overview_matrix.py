"""The matrix of models and tasks that a report opens on."""

from __future__ import annotations

from urllib.parse import parse_qs

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from report.html_run import row

from pytest_llmeval.records import Outcome, Row, Score
from pytest_llmeval.report.overview_matrix import MOST_COLUMNS, OverviewMatrix, overview_matrix
from pytest_llmeval.report.whisker import value_text
from pytest_llmeval.results.summarise import summarise

OUTCOMES: tuple[Outcome, ...] = ("correct", "incorrect", "error", "unscored", "not run")


def matrix_of(rows: list[Row]) -> OverviewMatrix | None:
    return overview_matrix(summarise(rows, {}))


@settings(max_examples=40)
@given(
    ran=st.dictionaries(
        st.tuples(st.sampled_from("abcdefg"), st.sampled_from(["m1", "m 2", "ü/&=#?"])),
        st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=4),
        min_size=2,
    )
)
def test_every_task_under_every_model_has_its_own_accuracy_and_its_own_link(
    ran: dict[tuple[str, str], list[Outcome]],
) -> None:
    rows = [
        row(task, str(number), outcome, model=model)
        for (task, model), outcomes in ran.items()
        for number, outcome in enumerate(outcomes)
    ]
    summary = summarise(rows, {})
    expected = {(one.task, one.model): value_text(one.figures.accuracy) for one in summary.entries}
    matrix = overview_matrix(summary)
    assert matrix is not None
    (layer,) = matrix.layers
    assert len(layer.lines) == len(matrix.down)
    found = {}
    for down, line in zip(matrix.down, layer.lines, strict=True):
        for across, cell in zip(matrix.across, line, strict=True):
            if cell is not None:
                linked = parse_qs(cell.address.removeprefix("#samples?"))
                place = linked["task"][0], linked["model"][0]
                assert {down.text, across.text} == set(place)
                found[place] = cell.value
    assert found == expected


@settings(max_examples=40)
@given(tasks=st.integers(1, 9), models=st.integers(1, 9))
def test_a_line_is_a_model_unless_many_tasks_or_one_model_read_better_as_lines(
    tasks: int, models: int
) -> None:
    rows = [
        row(f"t{task}", "1", "correct", model=f"m{model}")
        for task in range(tasks)
        for model in range(models)
    ]
    matrix = matrix_of(rows)
    if tasks == models == 1:
        assert matrix is None
        return
    assert matrix is not None
    counts = (len(matrix.down), len(matrix.across))
    assert sorted(counts) == sorted((tasks, models))
    if matrix.what == "model":
        assert counts == (models, tasks)
        assert tasks <= max(MOST_COLUMNS, models)
    else:
        assert counts == (tasks, models)
        assert tasks > models


def test_a_cell_tells_which_samples_were_lost() -> None:
    lost = [row("a", str(n), outcome) for n, outcome in enumerate(OUTCOMES)]
    lost.append(row("a", "9", "error"))
    lost.append(row("a", "10", "correct", stop_reason="length"))
    matrix = matrix_of([*lost, row("b", "1", "correct")])
    assert matrix is not None
    cells = [cell for line in matrix.layers[0].lines for cell in line]
    assert [cell and (cell.n, cell.lost) for cell in cells] == [
        (3, "2 error, 1 unscored, 1 not run, 1 cut"),
        (1, ""),
    ]


def test_a_task_of_several_test_functions_has_a_head_for_each() -> None:
    rows = [row("a", "1", "correct"), row("a", "1", "incorrect")]
    rows[1] = msgspec.structs.replace(rows[1], test="benchmarks/test_a.py::test_other")
    matrix = matrix_of(rows)
    assert matrix is not None
    assert [head.text for head in matrix.down] == ["a · test_a", "a · test_other"]
    assert {head.address for head in matrix.down} == {"#task-1"}


def test_each_further_score_is_a_layer_with_blanks_where_a_task_has_none() -> None:
    score = Score(name="EED", value=40.0, scale=100.0, correct=False)
    rows = [row("a", "1", "incorrect", scores=(score,)), row("b", "1", "correct")]
    matrix = matrix_of(rows)
    assert matrix is not None
    assert [layer.name for layer in matrix.layers] == ["accuracy", "EED 0–100"]
    assert [line[0] and line[0].value for line in matrix.layers[1].lines] == ["40.0", None]
    assert matrix.layers[1].ticks == ("0", "25", "50", "75", "100")
