"""The page of one sample in a real browser."""

from __future__ import annotations

from pathlib import Path

from report.html_run import LONG, call, row, write_report, write_run
from report.in_chromium import PHONE, Open

from pytest_llmeval.records import Message, Transcript


def test_a_formula_is_shown_as_mathml_beside_its_text_with_coloured_trees(
    opened: Open, report: Path
) -> None:
    view = opened(report)
    sample = view.sample("10")
    assert sample.locator("h2").inner_text().startswith("Sample 10")
    assert "incorrect" in sample.locator("h2").inner_text()
    assert sample.locator(".formula math mi").all_text_contents() == ["a", "b", "a", "b"]
    assert (
        sample.locator("math").first.evaluate("node => node.namespaceURI")
        == "http://www.w3.org/1998/Math/MathML"
    )
    changed = sample.locator("svg.tree .node.relabel")
    assert changed.locator("text").all_text_contents() == ["3", "2"]
    colours = {
        sample.locator(f".node{kind} rect").first.evaluate("n => getComputedStyle(n).fill")
        for kind in (":not(.relabel)", ".relabel")
    }
    assert len(colours) == 2
    assert "relabel" in sample.get_by_text("3 -> 2 under Mul").inner_text()
    assert "Find the formula number 10." in sample.inner_text()


def test_stages_tell_messages_pictures_queries_the_judge_and_their_time(
    opened: Open, report: Path
) -> None:
    view = opened(report)
    judged = view.sample("7")
    picture = judged.locator("img")
    view.page.wait_for_function("() => document.querySelector('#sample img').naturalWidth > 0")
    assert picture.first.get_attribute("src").startswith("data:image/png;base64,")
    assert picture.first.get_attribute("alt") == "Picture of the question"
    assert "The numbers differ." in judged.inner_text()
    assert "4.0 s in all: question 2.0 s, judge 2.0 s" in judged.inner_text()
    judged.locator(".stages > li > details > summary", has_text="judge").click()
    assert "Are 12 and 13 the same?" in judged.inner_text()
    view.page.get_by_role("link", name="All samples").click()
    asked = view.sample("H1")
    told = asked.inner_text()
    for text in (
        "MATCH (r:Room) RETURN count(r)",
        "count(r)\n4",
        "ArcadeDB/1",
        "the first row was taken",
    ):
        assert text in told
    assert asked.locator(".kind.tool").inner_text() == "tool"
    assert asked.locator(".differences").inner_text() == "$: found 4, expected 5"
    view.page.get_by_role("link", name="Next").click()
    view.page.get_by_role("heading", name="Sample H2").wait_for()
    view.page.locator("#sample .stages").wait_for()
    failed = view.page.locator("#sample")
    assert "ProviderError: 503 Service Unavailable" in failed.locator("section").first.inner_text()
    assert "How many doors?" in failed.locator(".prompt").inner_text()
    assert failed.locator(".stages .failed").inner_text() == "503 Service Unavailable"


def test_a_link_to_a_sample_opens_it(opened: Open, report: Path) -> None:
    view = opened(report)
    view.page.goto(f"{report.as_uri()}#graph/H1")
    view.page.reload()
    view.page.get_by_role("heading", name="Sample H1").wait_for()


def test_signs_that_turn_or_hide_text_are_shown_by_number(opened: Open, tmp_path: Path) -> None:
    attack = "left\u202ethgir\u2066 zero\u200b\u2028 \x00\x00\x00 \ud800"
    sample = row("graph", "1", "correct", answer=attack)
    view = opened(write_report(write_run(tmp_path, [(sample, None)])))
    shown = view.sample("1").locator(".answers .sign").all_inner_texts()
    assert shown == ["U+202E", "U+2066", "U+200B", "U+2028", "U+0000 ×3", "U+D800"]


def test_a_megabyte_in_one_line_is_cut_with_a_note_and_widens_nothing(
    opened: Open, tmp_path: Path
) -> None:
    asked = Transcript(events=(call(Message.of("user", LONG), LONG),))
    report = write_report(write_run(tmp_path, [(row("graph", "1", "correct", answer=LONG), asked)]))
    view = opened(report, viewport=PHONE)
    told = view.sample("1").inner_text()
    cut = (
        "The first 40,000 of 1,000,000 characters; "
        "the whole stands in rows.jsonl or transcripts.jsonl"
    )
    assert cut in told
    assert view.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
