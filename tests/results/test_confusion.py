"""Confusion matrices: their counts, when there is one, and how tables show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from example_rows import row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Row
from pytest_llmeval.report.result_sheets import sheets
from pytest_llmeval.results.classes import MOST_CLASSES, NO_CLASS, confusion
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import TaskInfo

CLASSES = st.sampled_from(["cat", "dog", "Eel"])
PAIRS = st.lists(st.tuples(CLASSES, CLASSES | st.just("cow") | st.none()), max_size=12)


def rows_of(pairs: Sequence[tuple[str, str | None]]) -> list[Row]:
    """Return a row for each target and answer."""
    return [
        row(str(n), "correct" if target == answer else "incorrect", target=target, answer=answer)
        for n, (target, answer) in enumerate(pairs)
    ]


@given(PAIRS)
def test_every_answer_is_counted_once_under_its_target(pairs: list[tuple[str, str | None]]) -> None:
    matrix = confusion(rows_of(pairs), ["accuracy", "f1_macro"])
    targets = Counter(target for target, _ in pairs)
    assert {target: sum(counts.values()) for target, counts in matrix.items()} == targets
    right = sum(target == answer for target, answer in pairs)
    assert sum(matrix[target][target] for target in matrix) == right
    assert all(list(counts) == [*sorted(targets), NO_CLASS] for counts in matrix.values())


@pytest.mark.parametrize(
    ("metrics", "there"),
    [(["accuracy"], False), ([], False), (["mcc"], True), ([{"f1_macro": {}}], True)],
)
def test_only_a_task_with_a_metric_of_classes_has_one(metrics: list[str], *, there: bool) -> None:
    assert bool(confusion(rows_of([("cat", "dog")]), metrics)) is there


def test_too_many_classes_are_no_table() -> None:
    many = [(f"class {n}", None) for n in range(MOST_CLASSES + 1)]
    assert len(confusion(rows_of(many[:-1]), ["mcc"])) == MOST_CLASSES
    assert confusion(rows_of(many), ["mcc"]) == {}


def test_tables_show_targets_in_rows() -> None:
    rows = rows_of([("cat", "cat"), ("cat", "dog"), ("dog", "cow")])
    summary = summarise(rows, {"demo": TaskInfo(title="demo", metrics=("mcc",))})
    (sheet,) = sheets(summary)
    (block,) = [one for one in sheet.blocks if one.title.startswith("confusion")]
    assert [label.text for label in block.labels] == ["cat", "dog"]
    shown = {column.head: [cell.text for cell in column.cells] for column in block.units[0]}
    assert shown == {"cat": ["1", "0"], "dog": ["1", "0"], NO_CLASS: ["0", "1"]}


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("I take it for a cat.", "I take it for a cow.", True),
        ("**Cat**!", "I take it for a cow.", False),
        ("I take it for a cat.", "Dog.", False),
        ("I take it for a cat.", None, False),
    ],
)
def test_wrong_sentences_beside_right_ones_are_told_below_the_table(
    right: str, wrong: str | None, *, told: bool
) -> None:
    rows = [
        row("1", "correct", target="cat", answer=right),
        row("2", "incorrect", target="cat", answer=wrong),
        row("3", "incorrect", target="dog", answer="cat"),
    ]
    for metrics, notes in ((("f1_macro",), told), (("accuracy",), False)):
        summary = summarise(rows, {"demo": TaskInfo(title="demo", metrics=metrics)})
        (sheet,) = sheets(summary)
        found = [note for note in sheet.notes if "answers that name no class: 1;" in note]
        assert bool(found) is notes
        assert all("answer: ./rules.py:label" in note for note in found)
