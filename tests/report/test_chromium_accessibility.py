"""Pages in a real browser by keyboard, on paper, and checked by axe-core."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from report.axe_core import violations
from report.html_run import example_run, row, write_report
from report.in_chromium import PHONE, Open

from pytest_llmeval.records import Score
from pytest_llmeval.results.gate import Bounds
from pytest_llmeval.results.gate_result import GateResult, RuleResult

RULE = RuleResult(
    task="physics",
    model="openai/small",
    metric="accuracy",
    value=0.2,
    bounds=Bounds(minimum=0.5),
    status="fail",
    reason="0.2 is below 0.5",
)
GATE = GateResult(results=(RULE,))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a run with two models and a gate that it does not pass."""
    score = Score(name="EED", value=40.0, scale=100.0, correct=False)
    more = [
        (row("physics", "9", "incorrect", model="openai/large", scores=(score,)), None),
        (row("physics", "10", "error", model="openai/large"), None),
    ]
    return write_report(example_run(tmp_path_factory.mktemp("reports"), more), gate=GATE)


@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [("light", {"width": 1400, "height": 900}), ("dark", PHONE)],
    ids=["wide and light", "phone and dark"],
)
def test_axe_finds_nothing_in_the_overview_with_all_unfolded(
    opened: Open, judged: Path, scheme: str, viewport: dict[str, int]
) -> None:
    page = opened(judged, color_scheme=scheme, viewport=viewport, bypass_csp=True).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.locator("label", has_text="EED").first.click()
    assert violations(page) == []


@pytest.mark.parametrize("sample", ["7", "9", "H1"])
def test_axe_finds_nothing_on_the_page_of_a_sample(opened: Open, judged: Path, sample: str) -> None:
    page = opened(judged, viewport=PHONE, bypass_csp=True).page
    page.get_by_role("link", name=sample, exact=True).click()
    page.locator("#sample[data-drawn]").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert violations(page) == []


def test_a_gate_that_did_not_pass_is_red_and_stands_first(opened: Open, judged: Path) -> None:
    page = opened(judged).page
    gate = page.locator("main .gate")
    assert gate.inner_text().startswith("✗ gate not passed")
    red, said = page.evaluate(
        "() => { const probe = document.createElement('i'); document.body.append(probe);"
        " probe.className = 'incorrect bad';"
        " return [probe, document.querySelector('.gate summary')]"
        ".map((one) => getComputedStyle(one).color); }"
    )
    assert red == said
    assert gate.bounding_box()["y"] < page.locator(".matrix").bounding_box()["y"]


def test_a_metric_is_chosen_by_keyboard_and_cells_lead_to_their_samples(
    opened: Open, judged: Path
) -> None:
    page = opened(judged).page
    page.locator("#metric-1").focus()
    assert page.locator(".layer:visible a").first.is_visible()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "metric-2"
    cells = page.locator(".layer:visible .cell a")
    assert all("%" not in text for text in cells.all_text_contents())
    assert page.locator(".layer:visible").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('.layer')")
    page.keyboard.press("Tab")
    links = cells.evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert all(link.startswith("#samples?task=") and "&model=" in link for link in links)
    cells.first.click()
    page.wait_for_function("scrollY > 0")
    assert page.locator("#found").inner_text().startswith("5 of ")


def test_every_control_is_reached_by_tab_in_the_order_of_the_page_and_shows_it(
    opened: Open, judged: Path
) -> None:
    page = opened(judged).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = []
    for _ in range(200):
        place = page.evaluate(FOCUSED)
        if place is None:
            break
        seen.append(place)
        page.keyboard.press("Tab")
    assert [place["at"] for place in seen] == sorted(place["at"] for place in seen)
    assert all(place["outlined"] for place in seen), seen
    expected = page.evaluate(CONTROLS)
    assert {place["at"] for place in seen} >= set(expected)


def test_a_printed_report_is_light_and_open_and_cuts_nothing(opened: Open, judged: Path) -> None:
    page = opened(judged, color_scheme="dark", viewport={"width": 720, "height": 1000}).page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 33, 38)"
    assert page.locator(".layer:visible").count() == page.locator(".layer").count() == 2
    folded = page.locator("details .figures, details .facts")
    assert folded.evaluate_all("all => all.every((one) => one.checkVisibility())")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert page.pdf().startswith(b"%PDF")


def test_headings_of_the_overview_leave_no_level_out(opened: Open, judged: Path) -> None:
    page = opened(judged).page
    levels = page.locator("h1, h2, h3, h4, h5").evaluate_all(
        "all => all.filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


FOCUSED = """
() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const label = one.matches('.matrix > input') ? one.nextElementSibling : one;
  return { at: [...document.querySelectorAll('*')].indexOf(one), tag: one.outerHTML.slice(0, 80),
    outlined: getComputedStyle(label).outlineStyle !== 'none' };
}
"""

CONTROLS = """
() => [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility() && !one.disabled
    && !(one.type === 'radio' && !one.checked))
  .map((one) => [...document.querySelectorAll('*')].indexOf(one))
"""
"""Places of everything that can be used; of radio buttons only the chosen one is a stop."""
