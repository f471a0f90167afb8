"""Conversations whose user's messages stand in the dataset."""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solvers.turns.talks import TalkContext, made, talked, turns

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Json, Message, Reply, Sample
from pytest_llmeval.solvers.turns.conversation import Conversation

SYSTEM = Message.of("system", "Be brief.")

# What could be taken for a template, a tag, a heading, or an end of the conversation.
HOSTILE = ["{{ target }}", "{% for %}", "<image>", "User, turn 9:", "DONE", "\u2028User, turn 3:"]
TEXTS = (st.text(min_size=1, max_size=12) | st.sampled_from(HOSTILE)).filter(str.strip)


@given(
    said=st.lists(TEXTS, min_size=1, max_size=6),
    replies=st.lists(TEXTS, min_size=6, max_size=6),
    opens=st.booleans(),
    as_mappings=st.booleans(),
)
def test_every_message_is_sent_once_in_order_and_behind_all_visible_texts_before_it(
    said: list[str], replies: list[str], *, opens: bool, as_mappings: bool
) -> None:
    listed: list[Json] = [
        {"role": "user", "content": text} if as_mappings else text for text in said
    ]
    prompt = (SYSTEM, Message.of("user", said[0])) if opens else (SYSTEM,)

    def reply(number: int) -> Reply:
        return Reply(text=replies[number - 1], reasoning="hidden")

    context = TalkContext({"generate": prompt}, solver=reply)
    completion, _ = talked(context, listed, skip=int(opens))
    whole = [*chain.from_iterable(zip(said, replies, strict=False))]
    for turn, asked in enumerate(context.asked):
        assert list(asked.messages) == [SYSTEM, *turns(*whole[: 2 * turn + 1])]
        assert asked.stage == f"turn {turn + 1}"
    assert len(context.asked) == len(said)
    assert completion.text == replies[len(said) - 1]
    assert completion.details == {"turns": len(said), "ended": "messages"}


@given(said=st.lists(TEXTS, min_size=1, max_size=5), most=st.integers(1, 7))
def test_a_limit_of_turns_holds(said: list[str], most: int) -> None:
    context = TalkContext({"generate": (SYSTEM,)}, solver=str)
    completion, _ = talked(context, said, turns=most)
    asked = min(most, len(said))
    assert len(context.asked) == completion.details["turns"] == asked
    assert completion.text == str(asked)
    assert completion.details["ended"] == ("turns" if most < len(said) else "messages")


@given(
    latencies=st.lists(st.floats(0.01, 5), min_size=3, max_size=3),
    most=st.floats(0.01, 20),
)
def test_a_limit_of_seconds_holds_between_turns(latencies: list[float], most: float) -> None:
    def reply(number: int) -> Reply:
        return Reply(text=str(number), latency=latencies[number - 1])

    context = TalkContext({"generate": (SYSTEM,)}, solver=reply)
    completion, _ = talked(context, ["a", "b", "c"], max_seconds=most)
    # Each reply after the first was asked for while there was time.
    asked = len(context.asked)
    assert all(sum(latencies[:before]) < most for before in range(1, asked))
    assert asked == 3 or sum(latencies[:asked]) >= most
    assert completion.details["ended"] == ("messages" if asked == 3 else "max_seconds")


def test_replies_that_the_dataset_gives_are_not_asked_for() -> None:
    context = TalkContext({"generate": (SYSTEM,)}, solver=str)
    listed: list[Json] = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "given"},
        {"role": "system", "content": "Now in French."},
        {"role": "user", "content": "two"},
        {"role": "user", "content": "three"},
    ]
    completion, last = talked(context, listed, scored="conversation")
    assert last == ["Be brief.", "one", "given", "Now in French.", "two", "1", "three"]
    assert len(context.asked) == 2
    assert completion.text == (
        "User, turn 1:\n    one\n\nAssistant, turn 1:\n    given\n\n"
        "User, turn 2:\n    two\n\nAssistant, turn 2:\n    1\n\n"
        "User, turn 3:\n    three\n\nAssistant, turn 3:\n    2"
    )


@pytest.mark.parametrize("skip", [0, 1])
def test_a_given_reply_to_the_prompts_own_message_is_not_asked_for_either(skip: int) -> None:
    context = TalkContext({"generate": turns("one")}, solver=str)
    listed: list[Json] = ["one", {"role": "assistant", "content": "given"}, "two"]
    _, sent = talked(context, listed[1 - skip :], skip=skip)
    assert sent == ["one", "given", "two"]
    assert len(context.asked) == 1


def test_a_cut_reply_inside_the_conversation_is_the_stop_reason() -> None:
    ends = {1: "stop", 2: "length", 3: "refusal", 4: "stop"}
    context = TalkContext(
        {"generate": (SYSTEM,)},
        solver=lambda number: Reply(text="x", stop_reason=ends[number]),  # type: ignore[arg-type]  # its words
    )
    completion, _ = talked(context, ["a", "b", "c", "d"])
    assert completion.stop_reason == "length"
    assert completion.details["turns"] == 4


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_reply_without_text_ends_the_conversation_without_an_answer(text: str) -> None:
    def reply(number: int) -> Reply:
        return Reply(text="fine") if number == 1 else Reply(text=text, stop_reason="filter")

    context = TalkContext({"generate": (SYSTEM,)}, solver=reply)
    completion, _ = talked(context, ["a", "b", "c"])
    assert (completion.text, completion.stop_reason) == ("", "filter")
    assert completion.details == {"turns": 2, "ended": "no answer"}


@given(failing=st.integers(1, 3))
def test_a_failure_of_the_provider_in_any_turn_is_raised(failing: int) -> None:
    def reply(number: int) -> str:
        if number == failing:
            msg = "HTTP 500"
            raise ProviderError(msg)
        return "fine"

    context = TalkContext({"generate": (SYSTEM,)}, solver=reply)
    with pytest.raises(ProviderError, match="HTTP 500"):
        talked(context, ["a", "b", "c"])
    assert len(context.asked) == failing


@given(said=st.lists(TEXTS, min_size=1, max_size=5))
def test_no_text_can_bring_a_heading_into_the_conversations_text(said: list[str]) -> None:
    talk = Conversation(turns(*said)[:1])
    talk.hear(turns(*said)[1:])
    lines = talk.text.splitlines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    speakers = ["User", "Assistant"]
    assert headings == [f"{speakers[at % 2]}, turn {at // 2 + 1}:" for at in range(len(said))]
    # Nothing but blanks around lines is lost.
    shown = [line.strip() for line in lines if line.startswith(" ")]
    assert [one for one in shown if one] == [
        line.strip() for text in said for line in text.splitlines() if line.strip()
    ]


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        (None, "metadata has no 'messages'"),
        ([], "not a list of messages"),
        ("hello", "not a list of messages"),
        (["a", 3], r"metadata.messages\[1\] is 3, not a text"),
        (["a", " "], r"metadata.messages\[1\] is empty"),
        ([{"role": "tool", "content": "x"}], r"write \{role: user \| assistant \| system"),
        ([{"role": "user"}], r"write \{role:"),
        ([{"role": "user", "content": [{"type": "text"}]}], "not a text"),
        (["a", {"role": "assistant", "content": "b"}], "the last one is the user's"),
        (["a", "b"], "has 2 messages, fewer than skip: 3"),
    ],
)
def test_a_sample_without_a_conversation_is_refused(messages: Any, problem: str) -> None:
    metadata = {} if messages is None else {"messages": messages}
    sample = Sample(id="1", input="?", target=None, metadata=metadata)
    solver = made(skip=3)
    with pytest.raises(ValueError, match=problem):
        solver.check_sample(sample)
    with pytest.raises(ValueError, match=problem):
        asyncio.run(solver(sample, TalkContext({"generate": turns("one")}, solver=str)))


def opening_checked(said: list[Json], prompt: str, **options: Any) -> None:
    """Check the opening of a conversation."""
    sample = Sample(id="1", input="?", target=None, metadata={"messages": said})
    made(**options).check_opening("generate", [SYSTEM, Message.of("user", prompt)], sample)


@given(said=st.lists(TEXTS, min_size=1, max_size=4), skip=st.integers(0, 3))
def test_a_first_message_that_the_prompt_says_already_is_refused_with_the_fix(
    said: list[str], skip: int
) -> None:
    listed: list[Json] = [*said]
    if skip >= len(said):
        opening_checked(listed, said[0], skip=len(said))
        return
    with pytest.raises(ValueError, match=rf"skip: {skip + 1}") as caught:
        opening_checked(listed, f"{said[skip]}\n", skip=skip)
    assert f"metadata.messages[{skip}] is what the prompt says already" in str(caught.value)
    opening_checked(listed, f"Another: {said[skip]}", skip=skip)
