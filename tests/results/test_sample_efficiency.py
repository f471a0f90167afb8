"""How many samples EED spares beside accuracy, by hand; and labels of wrong answers, counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from example_rows import EEDS, eed, row

from pytest_llmeval.records import Display, Row, Score
from pytest_llmeval.results.figures import Efficiency
from pytest_llmeval.results.summarise import figures, summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import ScoreInfo, TaskInfo

KINDS = Display(labels={"label": {"PP": "Physical Perception", "RR": "Robust Reasoning"}})
INFO = TaskInfo(title="demo", scores=(*EEDS, ScoreInfo(name="kind", decides=False, display=KINDS)))


def formulas(*values: float, epoch: int = 1) -> list[Row]:
    """Return twenty rows of each value.

    The figure is told from twenty rows on, and copies do not change it.
    """
    return [
        row(
            f"{copy}-{place}",
            "correct" if value == 100 else "incorrect",
            scores=eed(value),
            epoch=epoch,
        )
        for place, value in enumerate(values)
        for copy in range(20)
    ]


def efficiency(rows: list[Row]) -> list[tuple[str, Any, int]]:
    return [(one.name, pytest.approx(one.ratio), one.n) for one in figures(rows, INFO).efficiency]


def test_the_ratio_is_that_of_the_squared_relative_spreads() -> None:
    # accuracy 1 1 0 0: mean 1/2, squares about it 4 * 1/4 = 1; (1 / (1/2)^2) = 4 (the factors
    # 1/(n-1) cancel). EED 100 100 60 40: mean 75, squares 625 + 625 + 225 + 1225 = 2700; 2700 /
    # 75^2 = 0.48. Accuracy takes 4 / 0.48 = 25/3 times the samples.
    assert efficiency(formulas(100, 100, 60, 40)) == [("EED", 25 / 3, 80)]


def test_without_partial_credit_eed_spares_nothing() -> None:
    assert efficiency(formulas(100, 0, 0, 100, 0)) == [("EED", 1.0, 100)]


def test_a_score_of_wider_relative_spread_takes_more_samples_than_accuracy() -> None:
    # `minimum: 20` in the task: accuracy 1 1 0, mean 2/3, squares 1/9 + 1/9 + 4/9 = 2/3; (2/3) /
    # (4/9) = 1.5. EED 100 20 0: mean 40, squares 3600 + 400 + 1600 = 5600; 5600 / 1600 = 3.5.
    rows = [
        row(f"{copy}-{value}", "correct" if value >= 20 else "incorrect", scores=eed(value))
        for value in (100, 20, 0)
        for copy in range(7)
    ]
    assert efficiency(rows) == [("EED", 1.5 / 3.5, 21)]


def test_both_modes_have_theirs() -> None:
    rows = [row(f"right {copy}", "correct", scores=eed(100, 100)) for copy in range(10)]
    rows += [row(f"wrong {copy}", "incorrect", scores=eed(50, 0)) for copy in range(10)]
    # accuracy 1 0: 0.5 / 0.25 = 2; EED 100 50: 1250 / 5625 = 2/9; published 100 0: 5000 / 2500 = 2.
    assert efficiency(rows) == [("EED", 9.0, 20), ("EED published", 1.0, 20)]


def test_epochs_of_a_sample_are_no_samples() -> None:
    twice = [*formulas(100, 100, 60, 40), *formulas(100, 100, 60, 40, epoch=2)]
    assert efficiency(twice) == [("EED", 25 / 3, 160)]


@pytest.mark.parametrize(
    "values",
    [[], [100], [100, 100], [0, 0], [50, 40], [40, 40]],
    ids=["nothing", "one", "all right", "all 0", "none right", "all alike"],
)
def test_where_it_is_undefined_there_is_none(values: list[float]) -> None:
    assert efficiency(formulas(*values)) == []


def test_fewer_than_twenty_rows_tell_nothing() -> None:
    rows = formulas(100, 50)
    assert efficiency(rows[10:30]) == [("EED", 9.0, 20)]
    assert efficiency(rows[11:30]) == []


def test_a_row_without_eed_leaves_nothing_to_compare() -> None:
    assert efficiency([*formulas(100, 60), row("9", "incorrect")]) == []


def test_errors_are_in_neither() -> None:
    assert efficiency([*formulas(100, 100, 60, 40), row("9", "error")]) == [("EED", 25 / 3, 80)]


def kind(label: object) -> Score:
    details = {"label": label, "reason": "because"}
    return Score(name="kind", value=None, correct=None, decides=False, details=details)  # type: ignore[arg-type]


def labelled(sample: str, label: object) -> Row:
    return row(sample, "incorrect", scores=(kind(label),))


def test_labels_are_counted_and_lost_ones_too() -> None:
    rows = [
        labelled("1", "PP"),
        labelled("2", "RR"),
        labelled("3", "RR"),
        labelled("4", None),
        row("5", "correct"),
    ]
    assert figures(rows, INFO).labels == {"label": {"PP": 1, "RR": 2, "unlabelled": 1}}


def test_a_run_without_labels_counts_none() -> None:
    assert (
        figures(
            [row("1", "incorrect"), row("2", "incorrect", details={"label": "mine"})], INFO
        ).labels
        == {}
    )


@pytest.mark.parametrize("label", [["PP"], {"PP": 1}, "pp", 1])
def test_what_is_no_label_is_unlabelled(label: object) -> None:
    assert figures([labelled("1", label)], INFO).labels == {
        "label": {"PP": 0, "RR": 0, "unlabelled": 1}
    }


def test_both_go_through_the_summary_file() -> None:
    rows = [*formulas(100, 100, 60, 40), row("8", "incorrect", scores=(*eed(50), kind("PP")))]
    summary = summarise(rows, {"demo": INFO})
    data = json.loads(json.dumps(summary.to_json()))
    told = data["entries"][0]["tally"]
    assert told["labels"] == {"label": {"PP": 1, "RR": 0, "unlabelled": 0}}
    assert told["efficiency"] == [
        {
            "name": "EED",
            "ratio": pytest.approx(summary.entries[0].figures.efficiency[0].ratio),
            "n": 81,
        }
    ]
    assert Summary.from_json(data) == summary


def test_a_summary_written_before_there_were_labels_is_still_read() -> None:
    data: Any = summarise(formulas(100, 60), {"demo": INFO}).to_json()
    told = data["entries"][0]["tally"]
    del told["labels"], told["efficiency"]
    assert Summary.from_json(data).entries[0].figures.efficiency == ()


def test_a_ratio_is_told_with_its_score_and_rows() -> None:
    [found] = figures(formulas(100, 100, 60, 40), INFO).efficiency
    assert found == Efficiency(name="EED", ratio=found.ratio, n=80)
    assert found.ratio == pytest.approx(25 / 3)


def test_a_column_that_no_row_has_makes_no_group() -> None:
    rows = [row("1", groups={"tag": ("OPTICS",)}), row("2", "not run", groups={"tag": ("MODERN",)})]
    [entry] = summarise(
        rows, {"demo": TaskInfo(title="demo", group_by=("tag", "difficulty"))}
    ).entries
    assert [(group.key, group.value) for group in entry.groups] == [
        ("tag", "MODERN"),
        ("tag", "OPTICS"),
    ]
