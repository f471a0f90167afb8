"""The comparison of two runs as a page, read as text; test_chromium_comparison.py opens it."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields
from report.html_run import ATTACK, formula, graph, hostile, row, write_report, write_run

from pytest_llmeval.records import Outcome, Row, Transcript
from pytest_llmeval.report.comparison_sheet import p_value_text, span
from pytest_llmeval.report.html import Against, render_comparison
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.baseline import Baseline, baseline_of_run, read_baseline, write_baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.statistics import Interval
from pytest_llmeval.results.stored_run import read_run

Sample = tuple[Row, Transcript | None]

BEFORE = [formula("1", "3a+b", "2a+b"), formula("2", "2a+b", "2a+b"), graph()]
AFTER = [formula("1", "2a+b", "2a+b"), formula("2", "7", "2a+b"), graph()]


def text(page: str) -> str:
    """Return the words of a page, as a reader sees them."""
    shown = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def stored(folder: Path, samples: Sequence[Sample], **fields: Any) -> Baseline:
    changed = [(with_fields(one, **fields), transcript) for one, transcript in samples]
    return baseline_of_run(read_run(write_run(folder, changed)))


def page_of(a: Baseline, b: Baseline) -> str:
    sides = Side.of_baseline(a), Side.of_baseline(b)
    return "".join(render_comparison(compare(a.rows, b.rows), *sides))


def test_graders_data_prompts_and_models_that_differ_stand_on_the_page(tmp_path: Path) -> None:
    versions = {"dataset": "d" * 64, "prompt": "a" * 64, "grader:EED": "eed/1"}
    a = stored(tmp_path / "a", BEFORE, versions=versions)
    changed = {**versions, "prompt": "b" * 64, "dataset": "e" * 64}
    b = stored(tmp_path / "b", AFTER, versions=changed, model="other")
    told = text(page_of(a, b))
    differing, same = told.split("The same in both", 1)
    assert "prompt " + "a" * 12 + " " + "b" * 12 + " all 2 tasks" in differing
    assert "dataset " + "d" * 12 + " " + "e" * 12 in differing
    assert "model openai/small other" in differing
    assert "grader of EED" not in differing
    assert "grader of EED" in same
    assert "a openai/small, b other" in differing + same


def test_samples_of_one_run_alone_and_questions_that_changed_are_told(tmp_path: Path) -> None:
    a = stored(tmp_path / "a", [*BEFORE, formula("3", "b", "b")], question="first")
    b = stored(tmp_path / "b", AFTER, question="second")
    told = text(page_of(a, b))
    assert "physics: 2 samples in both, 1 in a alone" in told
    assert "physics: another question under the same id, so left out: 2 (1, 2)" in told


def test_a_file_of_a_baseline_is_compared_by_what_it_keeps_and_the_page_says_so(
    tmp_path: Path,
) -> None:
    a, b = (stored(tmp_path / name, rows) for name, rows in (("a", BEFORE), ("b", AFTER)))
    write_baseline(replace(a, name="main"), tmp_path / "main.jsonl")
    file = read_baseline(tmp_path / "main.jsonl")
    for sides in ((file, b), (b, file)):
        told = text(page_of(*sides))
        assert "main: the file of a baseline" in told
        assert "gained 1" in told
        assert "lost 1" in told
        assert "sha256:" not in told
        assert "replies not known" in told or "asked for in this run not known" in told


def test_a_difference_that_is_one_of_many_by_chance_is_not_called_one(tmp_path: Path) -> None:
    def rows(task: str, right: int) -> list[Sample]:
        outcomes: list[Outcome] = ["correct" if n < right else "incorrect" for n in range(12)]
        return [(row(task, str(n), outcome), None) for n, outcome in enumerate(outcomes)]

    # 7 gained of 12: p = 0.013 by itself; times 6 tasks it is not below 0.05.
    tasks = [f"task {n}" for n in range(5)]
    before = [*rows("flipped", 0), *(one for task in tasks for one in rows(task, 6))]
    after = [*rows("flipped", 7), *(one for task in tasks for one in rows(task, 6))]
    a, b = (stored(tmp_path / name, of) for name, of in (("a", before), ("b", after)))
    told = text(page_of(a, b))
    assert "higher in b by itself, not among 6 differences" in told
    assert told.count("no difference shown") == 5
    alone = compare(
        [one for one, _ in before if one.task == "flipped"],
        [one for one, _ in after if one.task == "flipped"],
    )
    assert "higher in b p 0.0" in text(
        "".join(render_comparison(alone, Side.of_baseline(a), Side.of_baseline(b)))
    )


def test_the_report_of_a_run_lists_what_flipped_since_its_baseline_with_both_answers(
    tmp_path: Path,
) -> None:
    a = stored(tmp_path / "a", BEFORE)
    b = write_run(tmp_path / "b", AFTER)
    against = Against(baseline=a, comparison=compare(a.rows, read_run(b).rows))
    told = text(write_report(b, against=against).read_text(encoding="utf-8"))
    assert "Correct more often in b: 1" in told
    assert "target 2a+b a incorrect 3a+b b correct 2a+b" in told
    assert "target 2a+b a correct 2a+b b incorrect 7" in told


def test_hostile_texts_of_either_run_stay_texts(tmp_path: Path) -> None:
    flipped, transcript = hostile()
    better = (with_fields(flipped, outcome="correct"), transcript)
    a, b = (
        stored(tmp_path / name, [one])
        for name, one in (("a", (flipped, transcript)), ("b", better))
    )
    page = page_of(a, replace(b, name=ATTACK))
    assert "gained 1" in text(page)
    for part in ("<script>window", '<img src="http', "<iframe", "\u202e"):
        assert part not in page


@given(st.floats(-1, 1), st.floats(0, 1))
def test_a_shown_interval_lies_on_the_same_side_of_0_as_the_interval(
    low: float, width: float
) -> None:
    shown = span(
        Mean(name="accuracy", scale=1.0, value=None, n=1), Interval(low=low, high=low + width)
    )
    first, last = shown.split(" to ")
    assert first.startswith("+") == (low > 0)
    assert last.startswith("-") == (low + width < 0)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@given(value=st.floats(0, 1))
def test_a_shown_p_value_lies_on_the_same_side_of_the_level_as_the_p_value(
    confidence: float, value: float
) -> None:
    level = round(1 - confidence, 6)
    shown = p_value_text(value, confidence)
    below = shown.startswith("<") or float(shown) < level
    assert below == (value < 1 - confidence)
