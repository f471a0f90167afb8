"""The table of samples in a real browser."""

from __future__ import annotations

from pathlib import Path

from report.html_run import call, graph, write_report, write_run
from report.in_chromium import Open

from pytest_llmeval.records import Message, Transcript
from pytest_llmeval.report.html import MAX_BYTES


def test_the_table_is_searched_narrowed_sorted_and_cleared(opened: Open, report: Path) -> None:
    view = opened(report)
    page = view.page
    assert view.rows() == ["7", "H1", "H2", "H3", "9", "10", "11", "12", "13"]
    page.get_by_label("Search").fill("expected 5")
    assert view.rows() == ["H1"]
    page.get_by_label("Search").fill("")
    page.get_by_label("Outcome").select_option("incorrect")
    page.get_by_label("Task").select_option("physics")
    assert page.locator("#found").inner_text() == "4 of 9 samples"
    page.get_by_role("button", name="Score").click()
    assert view.rows() == ["12", "13", "11", "10"] or view.rows() == ["12", "13", "10", "11"]
    page.get_by_role("button", name="Score").click()
    assert page.locator('th[aria-sort="descending"]').inner_text().startswith("Score")
    assert view.rows()[-1] in {"12", "13"}
    page.get_by_label("Tag or group").select_option("MECHANICS")
    assert sorted(view.rows()) == ["11", "12"]
    page.get_by_label("Search").fill("no such thing")
    assert page.locator("#found").inner_text() == "0 of 9 samples: nothing fits these filters"
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
