"""Reasoning in a reply's text: set apart before any answer rule, whatever it holds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from engine.requests_and_replies import MODEL
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.models import Answer
from pytest_llmeval.engine.reasoning import pieces_of, split_reasoning, with_reasoning_apart
from pytest_llmeval.engine.reasoning_marks import HARMONY, PAIRS, has_marks, tokens_of
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.records import Image, Message, Reply, StopReason, ToolCall, Usage
from pytest_llmeval.task.answers import RULES

CASES: Final = yaml.safe_load(
    (Path(__file__).parent / "cases" / "reasoning.yaml").read_text(encoding="utf-8")
)
ALL_PAIRS: Final = {
    **PAIRS,
    HARMONY: (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
}
MARKS: Final = [mark for pair in ALL_PAIRS.values() for mark in pair]

ANSWERS: Final = st.sampled_from(
    [
        "\\boxed{mg}",
        "So <answer>13</answer>",
        "Some steps.\nThe answer is (B)",
        "A line.\n\n  42  ",
        "```python\nprint(5)\n```\n\\boxed{5}",
        '`x` or "y"',
    ]
)
"""Answers of which each rule finds one in some."""

THOUGHTS: Final = st.lists(
    st.one_of(
        st.sampled_from(["\\boxed{2mg}", "<answer>no</answer>", "The answer is A", "\n", "```\n"]),
        st.text(max_size=20),
    ),
    max_size=6,
).map("".join)

TEXTS: Final = st.lists(
    st.one_of(
        st.sampled_from([*MARKS, "\n", "```", "~~~", "`", '"', " ", "a", "b.", "<thi", "nk>"]),
        st.text(max_size=3),
    ),
    max_size=12,
).map("".join)
"""Texts full of marks, whole and broken, in every order."""


def test_the_page_names_every_mark() -> None:
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
    section = page.partition("\n## Reasoning\n")[2].partition("\n## ")[0].replace("\\|", "|")
    for name, pair in PAIRS.items():
        assert all(f"`{mark}`" in section for mark in pair) or f"`{name}`" in section


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_replies_as_models_write_them(case: dict[str, str]) -> None:
    assert split_reasoning(case["text"]) == (case["visible"], case["reasoning"])


@pytest.mark.parametrize("pair", ALL_PAIRS.values(), ids=ALL_PAIRS)
@settings(max_examples=40)
@given(thoughts=THOUGHTS, answer=ANSWERS)
def test_no_answer_rule_sees_what_stands_between_marks(
    pair: tuple[str, str], thoughts: str, answer: str
) -> None:
    assume(not has_marks(thoughts))
    opening, closing = pair
    replies = {
        "marked": f"{opening}{thoughts}{closing}\n\n{answer}",
        "without the opening mark": f"{thoughts}{closing}\n\n{answer}",
        "in two blocks": f"{opening}{thoughts}{closing}\n{opening}{thoughts}{closing}\n{answer}",
        "behind": f"{answer}\n{opening}{thoughts}{closing}",
        "never closed": f"{answer}\n{opening}{thoughts}",
    }
    for form, text in replies.items():
        visible = split_reasoning(text).visible
        for name, rule in RULES.items():
            assert rule(visible) == rule(answer), (form, name)


@given(opening=st.sampled_from([pair[0] for pair in ALL_PAIRS.values()]), thoughts=THOUGHTS)
def test_reasoning_alone_holds_no_answer_and_is_cut(opening: str, thoughts: str) -> None:
    assume(not has_marks(thoughts))
    assume(thoughts.strip())
    reply = with_reasoning_apart(Reply(text=opening + thoughts))
    assert {rule(reply.text) for rule in RULES.values()} == {None}
    assert (reply.stop_reason, reply.reasoning) == ("length", thoughts.strip())


@given(TEXTS)
def test_splitting_what_is_visible_changes_nothing(text: str) -> None:
    visible = split_reasoning(text).visible
    assert split_reasoning(visible) == (visible, "")


@given(TEXTS)
def test_visible_parts_reasoning_and_marks_are_the_whole_text(text: str) -> None:
    end, first, *rest = 0, *pieces_of(text)
    assert first.start == 0
    for piece in (first, *rest):
        # Nothing but a mark is between two parts.
        assert [(mark.start, mark.end) for mark in tokens_of(text[end : piece.start])] == (
            [(0, piece.start - end)] if piece.start else []
        )
        assert piece.start <= piece.end
        end = piece.end
    assert end == len(text)


@given(st.text())
def test_a_text_without_marks_stays_as_it_is(text: str) -> None:
    assume(not has_marks(text))
    assert split_reasoning(text) == (text, "")
    reply = Reply(text=text)
    assert with_reasoning_apart(reply) is reply


@given(TEXTS, st.sampled_from(["", "as the server sent it"]))
def test_a_reply_is_taken_apart_once(text: str, reasoning: str) -> None:
    usage = Usage(input_tokens=3, output_tokens=9, reasoning_tokens=5, cost=0.1)
    once = with_reasoning_apart(Reply(text=text, reasoning=reasoning, usage=usage))
    assert with_reasoning_apart(once) == once
    assert once.usage == usage
    assert reasoning in once.reasoning


CALL: Final = ToolCall(id="1", name="f", arguments="{}")
PICTURE: Final = Image(digest="ab", media_type="image/png", path="/x.png")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"reasoning": "hm"}, "length"),
        ({"reasoning": "hm", "stop_reason": "filter"}, "filter"),
        ({"reasoning": "hm", "tool_calls": (CALL,)}, "stop"),
        ({"reasoning": "hm", "images": (PICTURE,)}, "stop"),
        ({}, "stop"),
    ],
    ids=["reasoning", "filtered", "a tool", "a picture", "nothing at all"],
)
def test_a_server_that_separates_reasoning_itself_may_send_nothing_else(
    fields: dict[str, Any], expected: StopReason
) -> None:
    assert with_reasoning_apart(Reply(text=" \n", **fields)).stop_reason == expected


class OneReply:
    """Models that give every request the same reply."""

    def __init__(self, text: str) -> None:
        """Reply with a text."""
        self.text = text

    async def ask(self, *_: object) -> Answer:
        return Answer(reply=Reply(text=self.text), cached=False, age=None, attempts=1)


@pytest.mark.parametrize("length", [10, 1_000_000], ids=["short", "long"])
def test_solvers_judges_and_transcript_get_the_visible_text(length: int) -> None:
    thoughts = "a" * length
    models: Any = OneReply(f"<think>{thoughts}</think>5")
    calls = Calls(models, Ticket(0))
    ask = calls.ask(MODEL, [Message.of("user", "q")], stage="generate", parameters={}, role="judge")
    reply = asyncio.run(ask)
    assert (reply.text, reply.reasoning) == ("5", thoughts)
    assert [call.reply for call in calls.transcript.calls] == [reply]


def test_reasoning_that_comes_in_text_and_field_is_kept_once() -> None:
    reply = with_reasoning_apart(Reply(text="<think>hm</think>5", reasoning="hm"))
    assert (reply.text, reply.reasoning) == ("5", "hm")
