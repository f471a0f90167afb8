"""All answers to a question at a glance, what was copied, and how two texts differ."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from report.html_run import call, row, write_report, write_run
from report.in_chromium import PHONE, Open

from pytest_llmeval.records import Message, Outcome, Transcript

ANSWERS: dict[tuple[str, int], tuple[Outcome, str | None]] = {
    ("openai/a", 1): ("correct", "the hall has four doors"),
    ("openai/a", 2): ("incorrect", "the hall has five doors"),
    ("openai/b", 1): ("correct", "four doors"),
    ("openai/b", 2): ("error", None),
}
TARGET = "the hall has four  doors\n\u202e and a window"
HOSTILE_ID = 'it\'s $HOME `id` "x" \u202e'


@pytest.fixture(scope="module")
def asked_often(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = []
    for (model, epoch), (outcome, answer) in ANSWERS.items():
        made = row("graph", HOSTILE_ID, outcome, model=model, answer=answer, target=TARGET)
        asked = call(Message.of("user", "How many **doors**?"), "It has\n\n*four*  doors.")
        rows.append((replace(made, epoch=epoch), Transcript(events=(asked,))))
    return write_report(write_run(tmp_path_factory.mktemp("reports"), rows))


def test_all_models_and_epochs_are_linked_and_the_open_one_is_marked(
    opened: Open, asked_often: Path
) -> None:
    view = opened(asked_often)
    shown = view.shown("graph", HOSTILE_ID)
    links = shown.locator(".all-answers a")
    told = [text.split() for text in links.all_inner_texts()]
    assert [one[1] for one in told] == ["correct", "incorrect", "correct", "error"]
    assert told[0][2:] == ["the", "hall", "has", "four", "doors"]
    assert told[3][2:] == ["no", "answer"]
    assert shown.locator("[aria-current=page]").count() == 1
    links.nth(2).click()
    view.page.locator("#sample .eyebrow", has_text="openai/b").wait_for()
    view.page.locator("#sample[data-drawn]").wait_for()
    marked = view.page.locator("#sample [aria-current=page]")
    assert "four doors" in marked.inner_text()
    assert view.page.evaluate("decodeURIComponent(location.hash)").endswith("/openai/b/1")


@pytest.mark.parametrize("way", ["clipboard", "selection"])
def test_texts_are_copied_as_they_are_stored(opened: Open, asked_often: Path, way: str) -> None:
    view = opened(asked_often, permissions=["clipboard-read", "clipboard-write"])
    page = view.page
    page.evaluate("window.read = () => navigator.clipboard.readText()")
    page.evaluate("window.kept = navigator.clipboard")
    if way == "selection":
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        page.evaluate("window.read = () => kept.readText()")
    shown = view.shown("graph", HOSTILE_ID)
    command = shown.locator(".box", has_text="pytest ").inner_text()
    for name, text in {
        "Copy Target": TARGET,
        "Copy Reply of generate": "It has\n\n*four*  doors.",
        "Copy Question": "How many **doors**?",
        "Copy link to this sample": f"{page.url}/openai%2Fa/1",
    }.items():
        assert copied(page, shown, name) == text
    assert shlex.split(copied(page, shown, "Copy the command"))[0] == "pytest"
    assert command.startswith("pytest ")
    assert page.evaluate("document.activeElement.textContent") == "Copied"


def copied(page: Any, shown: Any, name: str) -> str:
    """Return what a button copies, after it was told."""
    shown.get_by_role("button", name=name).first.click()
    page.get_by_role("status").get_by_text(name.replace("Copy", "Copied")).wait_for(
        state="attached"
    )
    text: str = page.evaluate("window.read()")
    return text


def test_an_answer_is_compared_by_words_with_the_target_and_other_answers(
    opened: Open, asked_often: Path
) -> None:
    view = opened(asked_often)
    shown = view.shown("graph", HOSTILE_ID)
    shown.get_by_text("Compare this answer").click()
    difference = shown.locator(".difference")
    difference.wait_for()
    signs = {"U+202E": "\u202e"}
    assert sides(difference, signs) == ("the hall has four doors", TARGET)
    shown.get_by_label("with").select_option(label="openai/a, epoch 2")
    shown.locator("ins", has_text="five").wait_for()
    assert sides(difference, {}) == ("the hall has four doors", "the hall has five doors")
    assert difference.locator("del").all_inner_texts() == ["four"]
    drawn = "one => getComputedStyle(one).textDecorationLine"
    assert difference.locator("del").evaluate(drawn) == "line-through"
    assert difference.locator("ins").evaluate(drawn) == "underline"
    shown.get_by_label("with").select_option(label="openai/b, epoch 2")
    shown.get_by_text("There is no answer to compare with.").wait_for()


def sides(difference: Any, signs: dict[str, str]) -> tuple[str, str]:
    """Return both texts, put together from what is in both and in one of them."""
    parts = difference.locator(":scope > *").evaluate_all(
        "all => all.map((one) => [one.localName, one.textContent])"
    )
    for shown, sign in signs.items():
        parts = [(name, text.replace(shown, sign)) for name, text in parts]
    one = "".join(text for name, text in parts if name != "ins")
    other = "".join(text for name, text in parts if name != "del")
    return one, other


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_a_sample_without_sideways_scrolling(
    opened: Open, asked_often: Path, scheme: str
) -> None:
    view = opened(asked_often, viewport=PHONE, color_scheme=scheme)
    view.shown("graph", HOSTILE_ID).get_by_text("Compare this answer").click()
    view.page.locator(".difference").wait_for()
    assert view.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
