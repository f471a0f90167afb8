"""The agent whose calls stand in the text of replies: the same loop, the same limits."""

from __future__ import annotations

import asyncio
import json

import pytest
from scripted_context import solved
from solvers.agent.agent_context import Context, LookUp, calling

from pytest_llmeval.records import Completion, Json, Message, Reply
from pytest_llmeval.solvers.agent.solver import AgentSolver
from pytest_llmeval.solvers.agent.text import LAST
from pytest_llmeval.solvers.agent.toolbox import MAX_CALLS, TOO_MANY
from pytest_llmeval.solvers.limits import OwnTime

ANSWER = Reply(text="<answer>9</answer>")


def asked(context: Context, tool: LookUp | None = None, *, turns: int = 10) -> Completion:
    return solved(AgentSolver(tools=(tool or LookUp(),), turns=turns, calls="text"), context)


def wrote(*queries: str, text: str = "") -> Reply:
    calls = (f"<tool>look_up(query={json.dumps(query)})</tool>" for query in queries)
    return Reply(text=text + "\n".join(calls))


def told(context: Context) -> str:
    """Return the last message of the user."""
    return context.asked[-1].messages[-1].text


def test_calls_are_run_and_their_results_are_told_by_the_user() -> None:
    tool = LookUp()
    context = Context(wrote("a", text="Let me see. "), wrote("b", "c"), ANSWER)
    completion = asked(context, tool)
    assert tool.queries == ["a", "b", "c"]
    assert [message.role for message in context.asked[-1].messages] == [
        "user",
        *["assistant", "user"] * 2,
    ]
    assert context.asked[-1].messages[1].text == wrote("a", text="Let me see. ").text
    assert told(context) == "Result of call 2, look_up:\n<b>\n\nResult of call 3, look_up:\n<c>"
    assert completion.text == ANSWER.text
    assert completion.details == {"turns": 3, "calls": 3, "failed_calls": 0}


def test_the_prompt_tells_of_the_tools_and_no_request_has_a_parameter_for_them() -> None:
    context = Context(wrote("a"), ANSWER)
    asked(context)
    assert [request.parameters for request in context.asked] == [{}, {}]
    tools = str(context.variables["tools"])
    assert "<tool>name(argument=value" in tools
    assert "look_up(query: text)\n  Looks a thing up." in tools


def test_a_prompt_that_tells_of_no_tools_is_refused_before_anything_is_asked() -> None:
    class Silent(Context):
        def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
            super().prompt(stage, **variables)
            return (Message.of("user", "Call look_up."),)

    context = Silent(ANSWER)
    with pytest.raises(ValueError, match=r"write \{\{ tools \}\} into the stage generate"):
        asked(context)
    assert context.asked == []


def test_a_call_that_cannot_be_read_is_told() -> None:
    tool = LookUp()
    context = Context(Reply(text="<tool>look_up('a')</tool>"), ANSWER)
    completion = asked(context, tool)
    assert tool.queries == []
    assert told(context).startswith("Result of call 1:\nThe call cannot be read: ")
    assert completion.details["failed_calls"] == 1


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("<tool>look(query='a')</tool>", "There is no tool 'look', only look_up."),
        ("<tool>look_up(query=1)</tool>", "The arguments do not fit: $.query: 1 is not of type"),
        ("<tool>look_up()</tool>", "'query' is a required property"),
    ],
)
def test_wrong_names_and_arguments_are_told_as_in_the_other_form(text: str, result: str) -> None:
    context = Context(Reply(text=text), ANSWER)
    asked(context)
    assert result in told(context)


@pytest.mark.parametrize(
    "text",
    [
        "<tool>look_up(query='a')</tool> <answer>8</answer>",
        "<answer><tool>look_up(query='a')</tool></answer>",
        "<answer>8</answer>\nLet me check. <tool>look_up(query='a')</tool>",
    ],
)
def test_an_answer_in_a_reply_with_a_call_does_not_count(text: str) -> None:
    context = Context(Reply(text=text), ANSWER)
    completion = asked(context)
    assert completion.text == ANSWER.text
    assert len(context.asked) == 2


def test_the_last_turn_is_told_and_a_call_in_it_is_no_answer() -> None:
    tool = LookUp()
    context = Context(wrote("a", text="<answer>9</answer>"))
    completion = asked(context, tool, turns=3)
    assert [LAST in request.messages[-1].text for request in context.asked] == [False, False, True]
    assert len(tool.queries) == 2
    assert completion.text == ""
    assert completion.details["reason"] == "the model still called tools in the last of 3 turns"


def test_a_flood_of_calls_is_cut() -> None:
    tool = LookUp()
    context = Context(wrote(*["a"] * 20), ANSWER)
    asked(context, tool)
    assert len(tool.queries) == MAX_CALLS
    assert told(context).count(TOO_MANY) == 20 - MAX_CALLS


def test_calls_by_the_interface_are_not_read() -> None:
    tool = LookUp()
    context = Context(calling("a", text="9"))
    assert asked(context, tool).text == "9"
    assert tool.queries == []


def test_when_the_calls_are_used_up_the_next_conversation_of_the_sample_is_told_too() -> None:
    context = Context(wrote("a"), ANSWER)
    solver = AgentSolver(tools=(LookUp(),), calls="text", max_calls=1)

    async def talk() -> None:
        async with solver.loop(context, OwnTime(None)) as loop:
            for _ in range(2):
                assert (await loop.answer([Message.of("user", "When?")])).reason == ""

    asyncio.run(talk())
    assert [LAST in request.messages[-1].text for request in context.asked] == [False, True, True]
    assert told(context) == f"When?\n\n{LAST}"
