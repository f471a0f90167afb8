"""The table of samples in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from report.html_run import call, graph, row, write_report, write_run
from report.in_chromium import Open

from pytest_llmeval.records import Message, Outcome, Reply, Row, Score, Transcript
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.page_data import MAX_BYTES


def test_the_table_is_searched_narrowed_sorted_and_cleared(opened: Open, report: Path) -> None:
    view = opened(report)
    page = view.page
    assert view.rows() == ["7", "H1", "H2", "H3", "9", "10", "11", "12", "13"]
    page.get_by_label("Search").fill("expected 5")
    assert view.rows() == ["H1"]
    page.get_by_label("Search").fill("")
    page.get_by_label("Outcome", exact=True).select_option("incorrect")
    page.get_by_label("Task", exact=True).select_option("physics")
    assert page.locator("#found").inner_text() == "4 of 9 samples"
    page.get_by_role("button", name="Score").click()
    assert view.rows() == ["12", "13", "11", "10"] or view.rows() == ["12", "13", "10", "11"]
    page.get_by_role("button", name="Score").click()
    assert page.locator('th[aria-sort="descending"]').inner_text().startswith("Score")
    assert view.rows()[-1] in {"12", "13"}
    page.get_by_label("Tag or group", exact=True).select_option("MECHANICS")
    assert sorted(view.rows()) == ["11", "12"]
    page.get_by_label("Search").fill("no such thing")
    page.get_by_text("0 of 9 samples: nothing fits these filters").wait_for()
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#found").inner_text() == "9 samples"


def test_ten_thousand_rows_stay_within_the_limit_and_open_at_once(
    opened: Open, tmp_path: Path
) -> None:
    prompt = "You answer questions about a place that a robot has mapped. " * 40
    samples = []
    for number in range(10_000):
        one, _ = graph(f"H{number}")
        asked = call(
            Message.of("user", prompt + str(number)), "The rooms are counted. " * 60 + str(number)
        )
        samples.append((one, Transcript(events=(asked,))))
    report = write_report(write_run(tmp_path, samples))
    assert report.stat().st_size < MAX_BYTES
    view = opened(report)
    page = view.page
    # What the page itself needs is told by the browser's clock; how long a loaded machine takes is
    # not tested.
    assert page.evaluate("document.querySelectorAll('*').length") < 2_500
    page.get_by_role("button", name="Next page").click()
    assert page.locator("#pager span").inner_text() == "51–100 of 10,000"
    page.get_by_label("Search").fill("H9999")
    assert "9999" in view.sample("H9999").locator(".prompt").inner_text()


def both(sample: str, model: str, epoch: int = 1, **fields: Any) -> tuple[Row, Transcript]:
    """Return a row of a sample that several models answered, with a transcript of its own."""
    one = row("graph", sample, fields.pop("outcome", "correct"), model=model, **fields)
    reasoning = f"the lighthouse of {model} at {sample}, {epoch}"
    question = Message.of("user", f"How many rooms has {sample}?")
    reply = Reply(text=f"rooms of {sample}", reasoning=reasoning, latency=1.0)
    return replace(one, epoch=epoch), Transcript(events=(call(question, reply=reply),))


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of 12 samples by three models, two of which differ in every third."""
    rows = []
    for number in range(12):
        for place, model in enumerate(("a/one", "b/two", "c/three")):
            outcome: Outcome = "incorrect" if number % 3 == 0 and place else "correct"
            tags = ("even",) if number % 2 == 0 else ("odd",)
            fields: dict[str, Any] = {"answer": f"{model} says {number}", "outcome": outcome}
            score = Score(name="s", value=number / 20 + place / 4, correct=outcome == "correct")
            tagged = (*tags, "third") if number % 3 == 0 else tags
            rows.append(both(f"H{number}", model, tags=tagged, scores=(score,), **fields))
    return write_report(write_run(tmp_path_factory.mktemp("reports"), rows))


def test_a_line_shows_the_question_first_and_then_what_each_model_made_of_it(
    opened: Open, several: Path
) -> None:
    page = opened(several).page
    heads = page.locator("#table thead th").all_inner_texts()
    assert heads == ["Sample", "Question", "Target", "a/one", "b/two", "c/three"]
    line = page.locator("#table tbody tr").first
    cells = line.locator("td").all_inner_texts()
    assert cells[0] == "How many rooms has H0?"
    assert ["correct" in cells[2], "incorrect" in cells[3], "b/two says 0" in cells[3]] == [
        True
    ] * 3
    line.locator("td").nth(4).get_by_role("link").click()
    page.wait_for_function("() => location.hash === '#graph/H0/c%2Fthree/1'")
    page.keyboard.press("j")
    page.wait_for_function("() => location.hash === '#graph/H1/c%2Fthree/1'")


def test_filters_stand_in_the_address_and_the_way_back_undoes_them(
    opened: Open, several: Path
) -> None:
    view = opened(several)
    page = view.page
    page.get_by_label("Tag or group", exact=True).select_option("even")
    page.get_by_label("Tag or group", exact=True).select_option("third")
    assert view.rows() == ["H0", "H6"]
    page.get_by_label("where they disagree").check()
    page.get_by_label("Outcome", exact=True).select_option("incorrect")
    page.get_by_label("of", exact=True).select_option("b/two")
    page.get_by_role("button", name="c/three").click()
    page.get_by_role("button", name="c/three").click()
    wanted = (
        "#samples?outcome=incorrect&of=b%2Ftwo&tag=even&tag=third&disagree&sort=-score%3Ac%2Fthree"
    )
    assert page.evaluate("location.hash") == wanted
    assert view.rows() == ["H6", "H0"]
    page.get_by_role("button", name="Remove even").click()
    assert view.rows() == ["H9", "H6", "H3", "H0"]
    for before in (["H6", "H0"], ["H0", "H6"]):
        page.go_back()
        page.wait_for_function(SHOWN, arg=before)
    again = opened(several)
    again.page.goto(f"{several.as_uri()}{wanted}")
    again.page.reload()
    assert again.rows() == ["H6", "H0"]
    assert again.page.get_by_label("where they disagree").is_checked()
    assert again.page.get_by_role("button", name="Remove third").count() == 1


def test_the_search_finds_what_only_the_evidence_says_and_shows_where(
    opened: Open, several: Path
) -> None:
    view = opened(several)
    page = view.page
    page.get_by_label("Search").fill("lighthouse b/two H7")
    page.locator("#table .hit").wait_for()
    assert view.rows() == ["H7"]
    hit = page.locator("#table .hit")
    assert hit.locator("mark").inner_text() == "lighthouse"
    assert hit.locator(".where").inner_text() == "reasoning, generate of b/two"
    hit.click()
    page.wait_for_function("() => location.hash === '#graph/H7/b%2Ftwo/1'")
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.hash.startsWith('#samples?q=')")
    assert view.rows() == ["H7"]
    page.get_by_label("Search").fill("no such word anywhere")
    page.get_by_text("nothing fits these filters").wait_for()


def test_one_model_of_several_is_shown_with_all_that_is_known_of_its_rows(
    opened: Open, several: Path
) -> None:
    page = opened(several).page
    page.get_by_label("Model", exact=True).select_option("b/two")
    assert page.locator("#table thead th").all_inner_texts() == [
        "Sample", "Question", "Target", "Outcome", "Score",
        "Answer", "Why", "Tokens", "Seconds", "Cost",
    ]  # fmt: skip


def test_epochs_of_a_sample_are_counted_and_each_is_reached(opened: Open, tmp_path: Path) -> None:
    rows = [
        both("1", "a", epoch, outcome="correct" if epoch < 4 else "incorrect")
        for epoch in range(1, 6)
    ] + [both("2", "a", epoch) for epoch in range(1, 6)]
    view = opened(write_report(write_run(tmp_path, rows)))
    assert view.page.locator("#table .epochs").first.inner_text().startswith("3 of 5 correct")
    view.page.get_by_label("where they disagree").check()
    assert view.rows() == ["1"]
    view.page.get_by_role("link", name="epoch 4: incorrect").click()
    view.page.wait_for_function("() => location.hash === '#graph/1/a/4'")


def test_an_address_stays_true_when_rows_are_added_before_it(opened: Open, tmp_path: Path) -> None:
    later = [both("5", "m/n"), both("é/ü%?#", "m/n")]
    pages = [
        write_report(write_run(tmp_path / name, rows))
        for name, rows in (("few", later), ("more", [both("1", "a"), both("5", "a"), *later]))
    ]
    few = opened(pages[0]).page
    addresses = few.locator("#table th a").evaluate_all("all => all.map((one) => one.hash)")
    assert addresses == [Addresses(one for one, _ in later).of(*place(one), 1) for one, _ in later]
    more = opened(pages[1]).page
    for address, (one, _) in zip(addresses, later, strict=True):
        more.goto(f"{pages[1].as_uri()}{address}")
        more.get_by_role("heading", name=f"Sample {one.sample}").wait_for()
        assert "m/n" in more.locator("#sample").inner_text()


def place(one: Row) -> tuple[str, str, str, str]:
    return one.task, one.test, one.sample, one.model


SHOWN = """
(wanted) => [...document.querySelectorAll('#table th a')].map((one) => one.textContent).join()
  === wanted.join()
"""
"""Whether the table has lines of some ids."""
