"""The steps on a sample's page: each text once, in the order in which it came to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from report.conversations_of_models import generated
from report.html_run import call, row, write_report, write_run
from report.in_chromium import Open

from pytest_llmeval.records import Message, Reply, ToolCall, ToolUse, Transcript

SEEDS = range(24)


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        (row("graph", f"{seed:02}", "correct", answer="4", target="4"), generated(seed)[0])
        for seed in SEEDS
    ]
    return write_report(write_run(tmp_path_factory.mktemp("reports"), rows))


def test_every_text_of_a_transcript_stands_once_and_in_order(
    opened: Open, conversations: Path
) -> None:
    view = opened(conversations)
    for seed in SEEDS:
        told = view.shown("graph", f"{seed:02}").evaluate("one => one.textContent")
        transcript, texts = generated(seed)
        assert {text: told.count(text) for text in texts} == dict.fromkeys(texts, 1)
        question = asked_in(transcript)
        places = [told.index(text) for text in texts if text != question]
        assert places == sorted(places)
        assert told.index(question) < places[0]


def asked_in(transcript: Transcript) -> str:
    """Return the last message of the user in the first request, which stands as the question."""
    asked = next(one.asked for one in transcript.calls if one.asked.role == "solver")
    return next(one.text for one in reversed(asked.messages) if one.role == "user")


def test_an_output_stands_right_below_its_call_in_whatever_order_the_calls_ended(
    opened: Open, tmp_path: Path
) -> None:
    calls = tuple(
        ToolCall(id=name, name="look", arguments=f'{{"place": "{name}"}}') for name in "abc"
    )
    uses = [
        ToolUse(stage="turn 1", tool="look", input=f'{{"place": "{name}"}}', output=f"at {name}")
        for name in "cab"
    ]
    asked = call(
        Message.of("user", "Where?"), stage="turn 1", reply=Reply(text="", tool_calls=calls)
    )
    run = write_run(tmp_path, [(row("graph", "1", "correct"), Transcript(events=(asked, *uses)))])
    shown = opened(write_report(run)).shown("graph", "1")
    assert [one.locator(".box").all_inner_texts() for one in shown.locator(".call").all()] == [
        ["a", "at a"],
        ["b", "at b"],
        ["c", "at c"],
    ]


def test_a_text_that_comes_again_leads_to_where_it_stands(opened: Open, tmp_path: Path) -> None:
    asked = call(Message.of("user", "How many?"), "Four rooms.")
    run = write_run(
        tmp_path,
        [(row("graph", "1", "correct", answer="Four rooms."), Transcript(events=(asked,)))],
    )
    view = opened(write_report(run))
    shown = view.shown("graph", "1")
    assert shown.evaluate("one => one.textContent").count("Four rooms.") == 1
    shown.locator(".stages").get_by_role("button", name="the answer").click()
    assert view.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Answer"
