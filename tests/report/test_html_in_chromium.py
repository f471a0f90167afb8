"""The HTML report in a real browser: a Chromium on the path, driven by playwright."""

from __future__ import annotations

import importlib
import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from report.html_run import (
    ATTACK,
    ATTACKS,
    LONG,
    call,
    example_run,
    formula,
    graph,
    hostile,
    row,
    write_report,
    write_run,
)

from pytest_llmeval.records import Message, Transcript
from pytest_llmeval.report.html import MAX_BYTES

REQUIRED = os.environ.get("LLMEVAL_REQUIRE_CHROMIUM") == "1"
playwright = (
    importlib.import_module("playwright.sync_api")
    if REQUIRED
    else pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start Chromium; skip where there is none, unless LLMEVAL_REQUIRE_CHROMIUM=1 forbids that."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        reason = f"no browser on the path (looked for {', '.join(BROWSERS)})"
        if REQUIRED:
            pytest.fail(f"LLMEVAL_REQUIRE_CHROMIUM=1, but {reason}")
        pytest.skip(reason)
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@dataclass(kw_only=True)
class Opened:
    """A report in a page, and everything the page did that a report must not do."""

    page: Any
    complaints: list[str] = field(default_factory=list)

    def rows(self) -> list[str]:
        """Return the ids in the table, as they stand."""
        return list(self.page.locator("#table tbody th").all_inner_texts())

    def sample(self, name: str) -> Any:
        """Open a sample by its link and return its view."""
        self.page.get_by_role("link", name=name, exact=True).click()
        self.page.locator("#sample section").last.wait_for()
        return self.page.locator("#sample")


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Opened]]:
    """Return what opens a report from disk.

    The test fails when the page complains or asks for anything.
    """
    made: list[tuple[Any, Opened]] = []

    def open_(report: Path, **context: Any) -> Opened:
        browsing = chromium.new_context(**context)
        page = browsing.new_page()
        page.set_default_timeout(20_000)
        result = Opened(page=page)
        address = report.as_uri()
        told = result.complaints.append
        page.on("console", lambda message: told(f"console: {message.text}"))
        page.on("pageerror", lambda error: told(f"error: {error}"))
        page.on("dialog", lambda dialog: told(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((address, "data:")) or told(f"asked for {request.url}")
            ),
        )
        made.append((browsing, result))
        page.goto(address)
        page.locator("#found").get_by_text("sample").wait_for()
        return result

    yield open_
    for browsing, result in made:
        browsing.close()
        assert result.complaints == []


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(example_run(tmp_path_factory.mktemp("reports")))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a run in which every text is an attack, all together and each alone."""
    samples = [
        hostile(),
        *map(hostile, ATTACKS),
        *(formula(str(n), text, text) for n, text in enumerate(ATTACKS)),
    ]
    return write_report(
        write_run(tmp_path_factory.mktemp("reports"), samples, info={"settings": {"x": ATTACK}})
    )


def test_the_table_is_searched_narrowed_sorted_and_cleared(
    opened: Callable[..., Opened], report: Path
) -> None:
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


def test_a_formula_is_shown_as_mathml_beside_its_text_with_coloured_trees(
    opened: Callable[..., Opened], report: Path
) -> None:
    view = opened(report)
    sample = view.sample("10")
    assert sample.locator("h2").inner_text().startswith("Sample 10")
    assert "incorrect" in sample.locator("h2").inner_text()
    assert sample.locator("math mi").all_text_contents() == ["a", "b", "a", "b"]
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
    opened: Callable[..., Opened], report: Path
) -> None:
    view = opened(report)
    judged = view.sample("7")
    picture = judged.locator("img")
    view.page.wait_for_function("document.querySelector('#sample img').naturalWidth > 0")
    assert picture.first.get_attribute("src").startswith("data:image/png;base64,")
    assert picture.first.get_attribute("alt") == "Picture in the user message"
    assert "The numbers differ." in judged.inner_text()
    assert "4.0 s in all: question 2.0 s, judge 2.0 s" in judged.inner_text()
    judged.locator("summary", has_text="judge").click()
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


def test_all_can_be_reached_by_keyboard(opened: Callable[..., Opened], report: Path) -> None:
    view = opened(report)
    press, page = view.page.keyboard.press, view.page
    press("/")
    page.keyboard.type("physics")
    press("Escape")
    assert len(view.rows()) == 5
    press("j")
    press("j")
    press("Enter")
    page.get_by_role("heading", name="Sample 10").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H2"
    press("j")
    page.get_by_role("heading", name="Sample 11").wait_for()
    press("k")
    page.get_by_role("heading", name="Sample 10").wait_for()
    press("Escape")
    page.locator("#overview").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "10"
    page.go_back()
    page.get_by_role("heading", name="Sample 10").wait_for()


def test_a_link_to_a_sample_opens_it(opened: Callable[..., Opened], report: Path) -> None:
    view = opened(report)
    view.page.goto(f"{report.as_uri()}#sample/1")
    view.page.reload()
    view.page.get_by_role("heading", name="Sample H1").wait_for()


def test_nothing_that_a_model_wrote_is_anything_but_text(
    opened: Callable[..., Opened], attacked: Path
) -> None:
    view = opened(attacked)
    page = view.page
    told = ""
    for number in range(len(ATTACKS) * 2 + 1):
        page.evaluate("number => { location.hash = `sample/${number}`; }", number)
        page.wait_for_function(SHOWN, arg=number)
        assert page.evaluate(ACTIVE) == []
        told += page.locator("#sample").inner_text()
    assert page.evaluate("window.hacked") is None
    for attack in ATTACKS:
        if attack.isprintable():
            assert attack in told


def test_signs_that_turn_or_hide_text_are_shown_by_number(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    attack = "left\u202ethgir\u2066 zero\u200b\u2028 \x00\x00\x00 \ud800"
    sample = row("graph", "1", "correct", answer=attack)
    view = opened(write_report(write_run(tmp_path, [(sample, None)])))
    shown = view.sample("1").locator(".answers .sign").all_inner_texts()
    assert shown == ["U+202E", "U+2066", "U+200B", "U+2028", "U+0000 ×3", "U+D800"]


def test_a_megabyte_in_one_line_is_cut_with_a_note_and_widens_nothing(
    opened: Callable[..., Opened], tmp_path: Path
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


@pytest.mark.parametrize("sample", ["", "#sample/0", "#sample/1", "#sample/5", "#sample/7"])
def test_a_phone_needs_no_sideways_scrolling(
    opened: Callable[..., Opened], report: Path, sample: str
) -> None:
    view = opened(report, viewport=PHONE)
    view.page.goto(f"{report.as_uri()}{sample}")
    view.page.locator("#sample .stages" if sample else "#table").wait_for(state="attached")
    assert view.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_told_from_its_ground(
    opened: Callable[..., Opened], report: Path, scheme: str
) -> None:
    view = opened(report, color_scheme=scheme)
    names = (
        "paper",
        "sheet",
        "faint",
        "ink",
        "quiet",
        "accent",
        *OUTCOMES,
        *(f"{one}-soft" for one in OUTCOMES),
    )
    colours = view.page.evaluate(COLOURS, [f"--{name}" for name in names])
    assert (luminance(colours["--paper"]) < 0.1) == (scheme == "dark")
    grounds = [
        (text, ground)
        for text in ("ink", "quiet", "accent")
        for ground in ("paper", "sheet", "faint")
    ]
    for text, ground in [
        *grounds,
        *((one, f"{one}-soft") for one in OUTCOMES),
        *((one, "sheet") for one in OUTCOMES),
    ]:
        # 4.5 : 1 is what WCAG 2.2 asks of text (level AA).
        assert contrast(colours[f"--{text}"], colours[f"--{ground}"]) >= 4.5, (text, ground)


def test_every_control_has_a_name(opened: Callable[..., Opened], report: Path) -> None:
    view = opened(report)
    assert view.page.evaluate(UNNAMED) == []
    assert view.page.locator("html[lang=en]").count() == 1
    levels = view.page.locator("h1, h2, h3").evaluate_all(
        "all => all.map((one) => Number(one.tagName[1]))"
    )
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_ten_thousand_rows_stay_within_the_limit_and_open_at_once(
    opened: Callable[..., Opened], tmp_path: Path
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


SHOWN = (
    "number => document.querySelector('#sample').dataset.number === `${number}`"
    " && document.querySelector('.stages')"
)

ACTIVE = """
[...document.querySelectorAll('*')].filter((one) =>
  one.matches('iframe, object, embed, mglyph, animate, [style]')
  || one.matches('[srcdoc]') || [...one.attributes].some(({ name, value }) => /^on/i.test(name)
    || (/^(href|src|action|formaction|data|xlink:href)$/i.test(name)
      && !/^(#|data:image\\/png;)/.test(value))))
.map((one) => one.outerHTML)
"""
"""Elements that could do anything, or lead anywhere but to a place in the page."""

COLOURS = """
(names) => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]));
}
"""

UNNAMED = """
[...document.querySelectorAll('input, select, button, a, [tabindex="0"], svg[role=img]')]
.filter((one) => !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length)
.map((one) => one.outerHTML)
"""

OUTCOMES = ("correct", "incorrect", "error", "unscored", "not-run")


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb (WCAG 2.2)."""
    found = re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", colour)
    assert found is not None, colour
    parts = [int(part, 16) / 255 for part in found.groups()]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
