"""The page as a whole in a real browser: keyboard, phone, colours, names, hostile texts."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from report.html_run import ATTACKS
from report.in_chromium import ACTIVE, PHONE, Open


def test_all_can_be_reached_by_keyboard(opened: Open, report: Path) -> None:
    view = opened(report)
    press, page = view.page.keyboard.press, view.page
    press("/")
    page.wait_for_function("document.activeElement.id === 'search'")
    page.keyboard.type("physics")
    press("Escape")
    page.wait_for_function("document.querySelectorAll('#table tbody tr').length === 5")
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


def test_nothing_that_a_model_wrote_is_anything_but_text(opened: Open, attacked: Path) -> None:
    view = opened(attacked)
    page = view.page
    told = ""
    addresses = page.locator("#table th a").evaluate_all("all => all.map((one) => one.hash)")
    assert len(addresses) == len(ATTACKS) * 2 + 1
    for address in addresses:
        page.evaluate("address => { location.hash = address; }", address)
        page.wait_for_function("() => !document.querySelector('#sample').hidden")
        page.locator("#sample .stages").wait_for()
        assert page.evaluate(ACTIVE) == []
        told += page.locator("#sample").inner_text()
        page.evaluate("location.hash = 'samples'")
        page.wait_for_function("() => document.querySelector('#sample').hidden")
    assert page.evaluate("window.hacked") is None
    for attack in ATTACKS:
        if attack.isprintable():
            assert attack in told


@pytest.mark.parametrize(
    "sample", ["", "#geometry/7", "#graph/H1", "#graph/H3", "#physics/9", "#physics/13"]
)
def test_a_phone_needs_no_sideways_scrolling(opened: Open, report: Path, sample: str) -> None:
    view = opened(report, viewport=PHONE)
    view.page.goto(f"{report.as_uri()}{sample}")
    view.page.locator("#sample[data-drawn]" if sample else "#table").wait_for(state="attached")
    assert view.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_told_from_its_ground(opened: Open, report: Path, scheme: str) -> None:
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


def test_every_control_has_a_name(opened: Open, report: Path) -> None:
    view = opened(report)
    assert view.page.evaluate(UNNAMED) == []
    assert view.page.locator("html[lang=en]").count() == 1
    levels = view.page.locator("h1, h2, h3").evaluate_all(
        "all => all.map((one) => Number(one.tagName[1]))"
    )
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


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
