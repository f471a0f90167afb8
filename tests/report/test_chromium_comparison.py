"""The comparison of two runs in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields
from report.html_run import call, formula, pictured, row, write_run
from report.in_chromium import Open

from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.records import Message, Outcome, Row, Transcript
from pytest_llmeval.report.html import render_comparison
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.baseline import Baseline, baseline_of_run
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.stored_run import read_run

Sample = tuple[Row, Transcript | None]


def capital(sample: str, answer: str, outcome: Outcome) -> Sample:
    asked = call(Message.of("user", f"Capital number {sample}?"), f"It is {answer}.")
    found = row("capitals", sample, outcome, answer=answer, target="Paris", question=f"q{sample}")
    return found, Transcript(events=(asked,))


BEFORE = [
    capital("1", "Lyon", "incorrect"),
    capital("2", "Paris", "correct"),
    capital("3", "Paris", "correct"),
    formula("4", "a+b", "2a+b"),
    pictured(),
]
AFTER = [
    capital("1", "Paris", "correct"),
    capital("2", "Nice", "incorrect"),
    capital("3", "Paris", "correct"),
    formula("4", "b+a", "2a+b"),
    pictured(),
]


def page(folder: Path, a: Baseline, b: Baseline) -> Path:
    parts = render_comparison(compare(a.rows, b.rows), Side.of_baseline(a), Side.of_baseline(b))
    write_atomically(folder / "comparison.html", "".join(parts))
    return folder / "comparison.html"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Baseline, Baseline]:
    folder = tmp_path_factory.mktemp("runs")
    better = [(with_fields(one, model="other"), transcript) for one, transcript in AFTER]
    return (
        baseline_of_run(read_run(write_run(folder / "a", BEFORE))),
        baseline_of_run(read_run(write_run(folder / "b", better))),
    )


@pytest.fixture(scope="module")
def comparison(runs: tuple[Baseline, Baseline], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page(tmp_path_factory.mktemp("page"), *runs)


def test_the_page_opens_on_the_samples_that_flipped(opened: Open, comparison: Path) -> None:
    view = opened(comparison)
    assert set(view.rows()) == {"1", "2"}
    view.page.get_by_label("Flipped").select_option("gained")
    assert set(view.rows()) == {"1"}
    view.page.get_by_label("Flipped").select_option("lost")
    assert set(view.rows()) == {"2"}
    view.page.get_by_label("Flipped").select_option("")
    assert set(view.rows()) == {"1", "2", "3", "4", "7"}
