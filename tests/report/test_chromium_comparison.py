"""The comparison of two runs in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields
from report.axe_core import violations
from report.html_run import call, formula, pictured, row, write_run
from report.in_chromium import PHONE, Open

from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.records import Message, Outcome, Row, Transcript
from pytest_llmeval.report.html import render_comparison
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.baseline import (
    Baseline,
    baseline_of_run,
    read_baseline,
    write_baseline,
)
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
    for kind, ids in {"gained": {"1"}, "lost": {"2"}, "": {"1", "2", "3", "4", "7"}}.items():
        view.page.locator("#by-flipped").select_option(kind)
        assert set(view.rows()) == ids


def test_the_filter_stands_in_the_address_and_counts_lead_to_it(
    opened: Open, comparison: Path
) -> None:
    view = opened(comparison)
    view.page.get_by_role("link", name="lost 1").click()
    assert view.rows() == ["2"]
    assert view.page.evaluate("location.hash") == "#samples?task=capitals&flipped=lost"
    view.page.locator("#by-flipped").select_option("")
    assert "flipped=no" in view.page.evaluate("location.hash")
    view.page.reload()
    view.page.locator("#table tbody tr").first.wait_for()
    assert view.rows() == ["1", "2", "3"]


def test_a_line_shows_question_target_and_both_outcomes_and_answers(
    opened: Open, comparison: Path
) -> None:
    view = opened(comparison)
    line = view.page.locator("#table tbody tr").filter(has_text="Capital number 2?")
    told = line.inner_text()
    assert "Paris" in told
    assert told.index("correct") < told.index("incorrect")  # a before b
    assert "Nice" in told
    heads = view.page.locator("#table thead").inner_text()
    assert "a · openai/small" in heads
    assert "b · other" in heads


def test_a_sample_opens_with_the_evidence_of_both_runs_and_their_difference(
    opened: Open, comparison: Path
) -> None:
    view = opened(comparison)
    sample = view.sample("2")
    assert view.page.evaluate("location.hash") == "#capitals/2/openai%2Fsmall/1/a"
    difference = sample.get_by_role("group", name="Difference")
    difference.wait_for()
    assert difference.locator("del").inner_text() == "Paris"
    assert difference.locator("ins").inner_text() == "Nice"
    sample.get_by_role("row", name="b · other").get_by_role("link").click()
    view.page.get_by_text("It is Nice.").first.wait_for()
    assert view.page.evaluate("location.hash").endswith("/other/1/b")


def test_a_side_that_is_a_file_has_outcomes_and_says_that_the_rest_is_not_there(
    opened: Open, runs: tuple[Baseline, Baseline], tmp_path: Path
) -> None:
    a, b = runs
    write_baseline(replace(a, name="main"), tmp_path / "main.jsonl")
    view = opened(page(tmp_path, read_baseline(tmp_path / "main.jsonl"), b))
    assert set(view.rows()) == {"1", "2"}
    line = view.page.locator("#table tbody tr").filter(has_text="Capital number 2?")
    assert "Nice" in line.inner_text()
    assert "sha256" not in view.page.inner_text("main")
    view.page.get_by_role("link", name="2", exact=True).click()
    view.page.get_by_text("This side is the file of a baseline").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_of_the_page_is_wider_than_a_phone(
    opened: Open, comparison: Path, scheme: str
) -> None:
    view = opened(comparison, viewport=PHONE, color_scheme=scheme)
    assert view.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    view.page.get_by_text("The same in both:").click()
    assert view.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_axe_finds_nothing_on_the_page_and_on_a_sample_of_both(
    opened: Open, comparison: Path
) -> None:
    page = opened(comparison, color_scheme="dark", bypass_csp=True).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert violations(page) == []
    page.locator("#table tbody a").first.click()
    page.locator("#sample[data-drawn]").wait_for()
    assert violations(page) == []
