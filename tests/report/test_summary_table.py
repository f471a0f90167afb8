"""The table at the end of a run: a line for each task, and what could mislead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from example_rows import eed, row
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from pytest_llmeval.records import Display, Row, Score
from pytest_llmeval.report.table import render_summary, render_unmet
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import ScoreInfo, TaskInfo

TROUBLE = ("error", "unscored", "not run", "cut")
OUTCOMES = st.sampled_from(["correct", "incorrect", "error", "unscored", "not run"])
NAMES = st.text("abcdef_[]", min_size=1, max_size=28)


def drawn(
    rows: Sequence[Row], width: int = 120, infos: Mapping[str, Any] | None = None, **page: Any
) -> str:
    known = {name: TaskInfo(**{"title": name, **info}) for name, info in (infos or {}).items()}
    return render_summary(summarise(rows, known), width=width, **{"color": False, **page})


def table(text: str) -> dict[str, dict[str, str]]:
    """Return the cells by task and head; columns are apart by two blanks or more."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("task "))
    ends = [match.end() for match in re.finditer(r"\S+(?: \S+)*", lines[start])]
    heads = [match[0] for match in re.finditer(r"\S+(?: \S+)*", lines[start])]
    found = {}
    for line in lines[start + 1 :]:
        name = re.split(r" {2,}", line)[0]
        cells = [line[begin:end].strip() for begin, end in pairwise(ends)]
        found[name] = dict(zip(heads[1:], cells, strict=True))
    return found


def formulas(task: str, right: int, wrong: int, **fields: Any) -> list[Row]:
    return [
        row(
            str(i),
            "correct" if i < right else "incorrect",
            task=task,
            scores=eed(100.0 if i < right else 40.0),
            **fields,
        )
        for i in range(right + wrong)
    ]


def answers(task: str, right: int, wrong: int, **fields: Any) -> list[Row]:
    return [
        row(
            str(i),
            "correct" if i < right else "incorrect",
            task=task,
            scores=(
                Score(
                    name="SLDP", value=float(i < right), correct=i < right, details={"valid": i < 1}
                ),
            ),
            **fields,
        )
        for i in range(right + wrong)
    ]


VALID: Mapping[str, Any] = {
    "scores": (
        ScoreInfo(
            name="SLDP", display=Display(shares=("valid",), headings={"valid": "valid SLDP"})
        ),
    )
}


def _cut(outcome: Any, *, cut: bool) -> dict[str, Any]:
    return {} if outcome == "not run" or not cut else {"stop_reason": "length"}


def test_each_task_has_a_line_and_each_score_a_column_that_is_blank_where_a_task_has_none() -> None:
    text = drawn([*formulas("a", 6, 4), *answers("b", 1, 1)], 160, {"b": VALID})
    lines = table(text)
    assert [*lines] == ["a", "b"]
    assert (lines["a"]["accuracy"], lines["a"]["scored"]) == ("60.0 %", "10 of 10")
    assert lines["a"]["EED 0–100"] == "76.0"
    assert lines["a"]["valid SLDP"] == ""
    assert lines["b"]["EED 0–100"] == ""
    assert lines["b"]["valid SLDP"] == "50.0 %"
    assert not set(lines["a"]) & set(TROUBLE)  # nothing went wrong


@given(
    rows=st.lists(
        st.builds(
            lambda task, sample, model, outcome, cut: row(
                str(sample),
                outcome,
                task=task,
                model=model,
                **_cut(outcome, cut=cut),
            ),
            NAMES,
            st.integers(0, 3),
            st.sampled_from(["a", "openai/a-very-long-name-of-a-model-2025-08-07"]),
            OUTCOMES,
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    ),
    width=st.integers(40, 250),
)
@settings(max_examples=60)
def test_any_run_in_any_width_is_one_table_with_all_tasks(rows: list[Row], width: int) -> None:
    summary = summarise(rows, {})
    text = render_summary(summary, width=width, color=False)
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= width
    [head] = [line for line in lines if re.match("task .*accuracy", line)]
    start = lines.index(head) + 1
    shown = lines[start : start + len(summary.entries)]
    for line, entry in zip(shown, summary.entries, strict=True):
        begin, _, end = line.split("  ")[0].strip().partition("…")
        assert entry.task.startswith(begin)
        assert entry.task.endswith(end)
    told = " ".join(" ".join(lines[start + len(shown) :]).split())
    for word in ("error", "unscored", "not run", "cut"):
        counts = {
            "error": lambda one: one.counts.error,
            "unscored": lambda one: one.counts.unscored,
            "not run": lambda one: one.counts.not_run,
            "cut": lambda one: sum(one.cut.values()),
        }
        there = any(counts[word](entry.figures) for entry in summary.entries)
        assert there == (word in head or bool(re.search(rf"not shown.*\b{word}\b", told)))


def test_models_and_test_functions_have_columns_where_they_differ() -> None:
    rows = [row("1", task="t", model=model) for model in ("m/small", "m/large")]
    assert re.search(r"^task +model .*\nt +m/large .*\nt +m/small ", drawn(rows), re.MULTILINE)
    assert "model" not in drawn(rows[:1])
    two = [row("1", task="t", test=f"x.py::test_{name}") for name in ("one", "two")]
    text = drawn([*two, row("1", task="u", test="x.py::test_u")])
    assert re.findall(r"^(\w)  +(test_\w+)?", text.split("\n", 1)[1], re.MULTILINE) == [
        ("t", "test_one"),
        ("t", "test_two"),
        ("u", ""),
    ]


def test_what_has_no_room_is_named_with_the_place_where_it_stands() -> None:
    text = drawn(
        [*formulas("a_task_with_a_long_name", 6, 4), *answers("b", 1, 1)], 60, {"b": VALID}
    )
    assert "not shown in 60 columns: " in text
    assert "valid SLDP; see report.html" in " ".join(text.split())


@pytest.mark.parametrize(
    ("fields", "info", "told"),
    [
        ({"recorded": True}, {}, "Recorded replies ran; no live model did."),
        ({"cached": True, "age": 200_000.0}, {}, "2 of 2 rows are cached from other runs"),
        ({}, {"demo": True}, "* demo data: no results of these benchmarks"),
        ({"engine": "e", "stands_in_for": "N"}, {}, "e, not N, so these are no results of N: t"),
        ({}, {"whole": 10}, "a part of the public dataset, 2 of 10 samples: t"),
    ],
)
@pytest.mark.parametrize("width", [40, 120])
def test_what_could_mislead_is_told(
    fields: dict[str, Any], info: dict[str, Any], told: str, width: int
) -> None:
    rows = [row(str(i), task="t", **fields) for i in range(2)]
    assert told in " ".join(drawn(rows, width, {"t": info}).split())
    assert told not in drawn([row("1", task="t"), row("2", task="t")], infos={"t": {}})


def test_mixed_rows_and_metrics_without_a_value_are_told_once_for_all_tasks() -> None:
    rows = [
        row(str(i), task=task, versions={"prompt": "ab" if i else "cd"})
        for task in "abcdef"
        for i in range(2)
    ]
    assert "MIXED ROWS, of more than one prompt: a, b, c, d and 2 more" in drawn(rows)


def test_the_lines_of_other_groups_are_left_to_the_report() -> None:
    rows = formulas("t", 3, 2, groups={"tag": ("OPTICS",)})
    assert "OPTICS" not in drawn(rows, infos={"t": {"group_by": ("tag",)}})


def test_colours_mean_something_and_change_no_text() -> None:
    rows = [*formulas("a", 2, 1, recorded=True), row("9", "error", task="a"), row("8", "unscored")]
    colored = drawn(rows, color=True)
    assert re.search(r"\x1b\[1;31m +1\x1b", colored)  # an error is red
    assert re.search(r"\x1b\[33m +1\x1b", colored)  # an unscored answer is yellow
    assert "\x1b[33mRecorded replies" in colored
    plain = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines()]
    assert plain == drawn(rows).splitlines()


def test_a_passed_gate_is_one_green_line() -> None:
    passed = check(Gate(), summarise(formulas("t", 3, 1), {}))
    [line] = render_unmet(passed, width=80, color=True).splitlines()
    assert re.fullmatch(r"\x1b\[1;32mgate passed: \d+ rules\x1b\[0m", line)


@pytest.mark.parametrize("width", [40, 80])
def test_of_a_shut_gate_only_the_rules_that_did_not_pass_are_shown(width: int) -> None:
    gate = parse_gate("rules: {t.accuracy: {min: 0.9}, t.eed: {min: 10}}", "gate.yaml")
    text = render_unmet(check(gate, summarise(formulas("t", 60, 40), {})), width=width, color=True)
    assert re.search(r"\x1b\[1;31mgate not passed: 1 of \d rules", text)
    assert re.search(r"\x1b\[1;31m +fail", text)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert "t.accuracy" in plain
    assert "t.eed" not in plain
    assert max(map(cell_len, plain.splitlines())) <= width
