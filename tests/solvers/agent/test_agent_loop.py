"""The agent with scripted replies and a scripted tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scripted_context import Asked, solved
from solvers.agent.agent_context import Context, LookUp, call, calling, made, raw

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.engine.tool import CallError
from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.providers.openai.requests import chat_body
from pytest_llmeval.records import Display, Json, Message, Reply, Request, ToolUse
from pytest_llmeval.solvers.agent.solver import AgentSolver
from pytest_llmeval.solvers.agent.toolbox import MAX_CALLS, MAX_CHARACTERS, OUT_OF_ROOM, TOO_MANY
from pytest_llmeval.task.options import OptionError

ANSWER = Reply(text="<answer>9</answer>")
OFFERED = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks a thing up.",
        "parameters": dict(LookUp.parameters),
    },
}


def agent(tool: LookUp | None = None, *, turns: int = 10) -> AgentSolver:
    return AgentSolver(tools=(tool or LookUp(),), turns=turns)


def test_the_model_calls_until_it_answers_and_sees_all_that_came_before() -> None:
    tool = LookUp()
    context = Context(calling("a", text="Let me see."), calling("b", "c"), ANSWER)
    completion = solved(agent(tool), context)
    assert (completion.text, completion.stop_reason) == (ANSWER.text, "stop")
    assert tool.queries == ["a", "b", "c"]
    assert [use.stage for use in context.recorded] == ["turn 1", "turn 2", "turn 2"]
    assert context.stages == ["turn 1", "turn 2", "turn 3"]
    assert [message.role for message in context.asked[-1].messages] == [
        "user",
        *["assistant", "tool"],
        *["assistant", "tool", "tool"],
    ]
    assert context.asked[-1].messages[1].text == "Let me see."
    assert completion.details == {"turns": 3, "calls": 3, "failed_calls": 0}


def test_each_result_stands_under_the_id_of_its_call_whatever_ids_the_model_gave() -> None:
    twice = calling("a", "b")
    context = Context(twice, twice, ANSWER)
    solved(agent(), context)
    _, *talk = context.asked[-1].messages
    calls = [call for message in talk for call in message.tool_calls]
    assert [message.tool_call_id for message in talk if message.role == "tool"] == [
        call.id for call in calls
    ]
    assert len({call.id for call in calls}) == 4
    # Mistral's servers take exactly nine letters and digits.
    assert all(len(call.id) == 9 and call.id.isalnum() for call in calls)
    assert context.results == ["<a>", "<b>"] * 2


def test_the_tools_are_offered_in_every_turn_and_forbidden_in_the_last() -> None:
    context = Context(calling("a"), calling("a"), ANSWER)
    solved(agent(turns=3), context)
    assert [asked.parameters["tools"] for asked in context.asked] == [[OFFERED]] * 3
    assert [asked.parameters.get("tool_choice") for asked in context.asked] == [
        None,
        None,
        "none",
    ]
    assert context.variables == {"turns": 3, "tools": ""}


def test_a_model_that_never_stops_calling_has_no_answer() -> None:
    tool = LookUp()
    context = Context(calling("a", text="<answer>9</answer>"))
    completion = solved(agent(tool, turns=4), context)
    assert (len(context.asked), len(tool.queries)) == (4, 3)
    assert completion.text == ""
    assert completion.details["reason"] == "the model still called tools in the last of 4 turns"


def test_a_reply_without_a_call_ends_whatever_it_says() -> None:
    context = Context(Reply(text="I refuse.", stop_reason="refusal"), ANSWER)
    completion = solved(agent(), context)
    assert (completion.text, completion.stop_reason) == ("I refuse.", "refusal")
    assert len(context.asked) == 1
    assert completion.details == {"turns": 1, "calls": 0, "failed_calls": 0}


def test_a_failing_call_goes_back_as_its_result() -> None:
    tool = LookUp(lambda query: ValueError("x?") if query == "x" else "9")
    context = Context(calling("x"), calling("a"), ANSWER)
    completion = solved(agent(tool), context)
    assert context.results == ["The call failed: x?", "9"]
    assert completion.details == {"turns": 3, "calls": 2, "failed_calls": 1}


HOSTILE = [
    "",
    "{",
    "null",
    "[]",
    '"a"',
    '{"query": null}',
    '{"query": ["a"]}',
    '{"Query": "a"}',
    '{"query": {"query": "a"}}',
    '{"query": "a", "other": 1}',
    '{"query": "a", "query": "b"}',
    "[" * 100_000,
    '{"query": ' + "[" * 90 + "]" * 90 + "}",
    '{"query": ' + "9" * 10_000 + "}",
    '{"query": NaN}',
    '{"query": "\\ud800"}',
    '{"query": "' + "a" * 2_000_000 + '"}',
    "\x00",
    '{"query": "a"} {"query": "b"}',
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=range(len(HOSTILE)))
def test_arguments_that_do_not_fit_run_nothing_and_go_back_well_formed(arguments: str) -> None:
    tool = LookUp()
    context = Context(raw(call(arguments)), ANSWER)
    completion = solved(agent(tool), context)
    assert tool.queries == []
    (result,) = context.results
    assert result.startswith("The arguments ")
    assert len(result) < 1_000
    (sent,) = context.asked[-1].messages[1].tool_calls
    assert isinstance(json.loads(sent.arguments), dict)
    assert completion.text == ANSWER.text
    assert completion.details == {"turns": 2, "calls": 1, "failed_calls": 1}


@pytest.mark.parametrize("name", ["", "look", "bash", "x" * 10_000, "a b\n"])
def test_a_tool_that_does_not_exist_is_told_and_the_request_stays_well_formed(name: str) -> None:
    tool = LookUp()
    context = Context(raw(call('{"query": "a"}', name)), ANSWER)
    solved(agent(tool), context)
    assert tool.queries == []
    assert context.results[0].startswith("There is no tool ")
    assert len(context.results[0]) < 200
    assert [call.name for call in context.asked[-1].messages[1].tool_calls] == ["look_up"]


def test_a_flood_of_calls_in_one_turn_is_cut_and_each_is_told() -> None:
    tool = LookUp()
    context = Context(calling(*["a"] * 500), ANSWER)
    completion = solved(agent(tool), context)
    assert len(tool.queries) == MAX_CALLS
    assert context.results == ["<a>"] * MAX_CALLS + [TOO_MANY] * (500 - MAX_CALLS)
    assert completion.details == {"turns": 2, "calls": 500, "failed_calls": 500 - MAX_CALLS}


def test_results_beyond_the_room_of_all_together_are_left_out_and_that_is_told() -> None:
    large = "x" * (MAX_CHARACTERS // 3 - 10)
    tool = LookUp(lambda query: large if query == "a" else "9")
    context = Context(calling(*["a"] * 4), calling("b"), ANSWER)
    solved(agent(tool), context)
    assert context.results == [large, large, large, OUT_OF_ROOM, "9"]


def test_mistakes_that_a_tool_tells_at_length_are_left_out_too() -> None:
    tool = LookUp(lambda _: ValueError("x" * MAX_CHARACTERS))
    context = Context(calling("a"), ANSWER)
    solved(agent(tool), context)
    assert context.results == [OUT_OF_ROOM]


def test_a_broken_tool_is_not_the_models_fault() -> None:
    context = Context(calling("a"), ANSWER)
    with pytest.raises(ToolError, match="gone"):
        solved(agent(LookUp(lambda _: ToolError("gone"))), context)
    assert [(use.tool, use.error) for use in context.recorded] == [("look_up", "gone")]


@pytest.mark.parametrize("failure", [RuntimeError("x"), ValueError("x"), KeyError("x")])
def test_a_tool_that_raises_anything_failed_by_itself(failure: Exception) -> None:
    class Broken(LookUp):
        async def __call__(self, *_: object, **__: object) -> ToolUse:
            raise failure

    context = Context(calling("a"), ANSWER)
    with pytest.raises(ToolError, match=f"tool look_up: {type(failure).__name__}"):
        solved(agent(Broken()), context)
    [use] = context.recorded
    assert (use.stage, use.tool, use.input) == ("turn 1", "look_up", '{"query": "a"}')
    assert use.error is not None
    assert type(failure).__name__ in use.error


def test_a_tool_tells_the_model_its_mistake_by_raising_it() -> None:
    class Strict(LookUp):
        async def __call__(self, *_: object, **__: object) -> ToolUse:
            msg = "ask for something else"
            raise CallError(msg)

    context = Context(calling("a"), ANSWER)
    completion = solved(agent(Strict()), context)
    assert context.results == ["The call failed: ask for something else"]
    assert [use.error for use in context.recorded] == ["ask for something else"]
    assert completion.details["failed_calls"] == 1


def test_a_tool_that_returns_anything_else_is_told() -> None:
    class Plain(LookUp):
        async def __call__(self, *_: object, **__: object) -> ToolUse:
            return "9"  # type: ignore[return-value]  # the mistake

    with pytest.raises(ToolError, match="tool look_up returned a str, not a ToolUse"):
        solved(agent(Plain()), Context(calling("a"), ANSWER))


class Thesaurus(LookUp):
    """A tool with everything that one may have."""

    name = "find_words"
    display = Display(shares=("found",), headings={"found": "found words"})

    async def check(self, context: SolverContext) -> None:
        if context.setting("words") is None and self.queries:
            msg = "no words"
            raise UsageError(msg)

    def variables(self) -> dict[str, Json]:
        return {"words": ["a", "b"]}

    def findings(self, uses: Sequence[ToolUse]) -> dict[str, Json]:
        return {"found": bool(uses), "words": [use.input for use in uses]}


def test_what_a_tool_declares_reaches_table_prompt_and_details() -> None:
    both = AgentSolver(tools=(LookUp(), Thesaurus()))
    assert both.display == Thesaurus.display
    mixed = raw(call('{"query": "a"}'), call('{"query": "b"}', "find_words"))
    context = Context(mixed, ANSWER, settings={"words": None})
    completion = solved(both, context)
    assert context.variables == {"turns": 10, "tools": "", "words": ["a", "b"]}
    assert completion.details == {
        "turns": 2,
        "calls": 2,
        "failed_calls": 0,
        "found": True,
        "words": ["b"],
    }


@pytest.mark.parametrize("key", ["calls", "failed_calls", "turns", "reason", "found"])
def test_no_tool_overwrites_a_detail_of_another_or_of_the_agent(key: str) -> None:
    class Claiming(LookUp):
        name = "claim"

        def findings(self, uses: Sequence[ToolUse]) -> dict[str, Json]:
            return {key: len(uses)}

    context = Context(ANSWER, settings={"words": None})
    with pytest.raises(ToolError, match=f"tool claim: its findings have the key '{key}'"):
        solved(AgentSolver(tools=(Thesaurus(), Claiming())), context)
    assert context.asked == []


def test_a_finding_that_clashes_only_after_a_use_is_refused_too() -> None:
    class Late(LookUp):
        def findings(self, uses: Sequence[ToolUse]) -> dict[str, Json]:
            return {"turns": 0} if uses else {}

    with pytest.raises(ToolError, match="the key 'turns'"):
        solved(agent(Late()), Context(calling("a"), ANSWER))


def test_a_tool_that_cannot_be_used_is_told_before_anything_is_asked() -> None:
    tool = Thesaurus()
    tool.queries.append("used up")
    context = Context(ANSWER, settings={"words": None})
    with pytest.raises(UsageError, match="no words"):
        solved(agent(tool), context)
    assert context.asked == []


@pytest.mark.parametrize(
    ("limit", "value"), [("turns", 0), ("max_calls", 0), ("max_seconds", 0.0), ("turns", True)]
)
def test_limits_of_wrong_values_are_told_with_the_task(limit: str, value: float) -> None:
    with pytest.raises(OptionError, match=f"{value!r}"):
        made({"tools": {"./tools_of_limits.py:wait": {}}, limit: value})


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 12))
def test_no_more_calls_are_run_than_a_sample_has_and_the_next_reply_is_the_last(
    wanted: list[int], most: int
) -> None:
    tool = LookUp()
    replies = [calling(*["a"] * count) for count in wanted]
    context = Context(*replies, ANSWER)
    completion = solved(AgentSolver(tools=(tool,), max_calls=most), context)
    assert len(tool.queries) == min(most, sum(wanted))
    last = [asked.parameters.get("tool_choice") == "none" for asked in context.asked]
    reached = [sum(wanted[:turn]) >= most for turn in range(len(last))]
    assert last == reached
    if "reason" in completion.details:
        assert completion.details["reason"] == (
            f"the model still called tools after the {most} calls of max_calls"
        )
        assert completion.text == ""
    else:
        assert completion.text == ANSWER.text


def test_calls_beyond_those_of_the_sample_are_told() -> None:
    context = Context(calling("a", "b", "c"), ANSWER)
    completion = solved(AgentSolver(tools=(LookUp(),), max_calls=2), context)
    assert context.results == [
        "<a>",
        "<b>",
        "Not run: the 2 calls that you have are used up.",
    ]
    assert completion.details == {"turns": 2, "calls": 3, "failed_calls": 1}


def test_a_tool_that_hangs_ends_with_the_time_of_the_sample_and_no_answer() -> None:
    class Hanging(LookUp):
        async def __call__(self, *_: object, **__: object) -> ToolUse:
            await asyncio.Event().wait()
            raise AssertionError

    context = Context(calling("a", "b"), ANSWER)
    completion = solved(AgentSolver(tools=(Hanging(),), max_seconds=0.02), context)
    assert len(context.asked) == 1
    assert (completion.text, completion.details) == (
        "",
        {
            "turns": 1,
            "calls": 2,
            "failed_calls": 2,
            "reason": "the 0.02 s of max_seconds were over in turn 1",
        },
    )
    assert context.remarks == [("turn 1", "The call of look_up was ended: no time is left.")]


def test_a_function_that_hangs_in_its_thread_ends_with_the_time_of_the_sample() -> None:
    solver = made({"tools": {"./tools_of_limits.py:wait": {}}, "max_seconds": 0.02})
    completion = solved(solver, Context(raw(call("{}", "wait")), ANSWER))
    assert completion.details["reason"] == "the 0.02 s of max_seconds were over in turn 1"


def test_the_latency_of_replies_is_the_samples_time_and_waiting_for_their_turn_is_not() -> None:
    class Queue(Context):
        async def reply(self, asked: Asked) -> Reply:
            await asyncio.sleep(0.05)
            return await super().reply(asked)

    slow = replace(calling("a"), latency=0.03)
    completion = solved(
        AgentSolver(tools=(LookUp(),), max_seconds=0.055), Queue(slow, slow, slow, ANSWER)
    )
    assert completion.details["turns"] == 2
    assert "max_seconds" in str(completion.details["reason"])


def test_an_answer_that_comes_after_the_time_is_an_answer() -> None:
    completion = solved(
        AgentSolver(tools=(LookUp(),), max_seconds=1), Context(replace(ANSWER, latency=100))
    )
    assert completion.text == ANSWER.text
    assert "reason" not in completion.details


def test_requests_are_known_by_their_tool_messages_and_sent_as_chat_completions_has_them() -> None:
    def last_request(run: Callable[[str], str]) -> Request:
        context = Context(calling("a"), ANSWER)
        solved(agent(LookUp(run)), context)
        asked = context.asked[-1]
        return Request(
            provider="openai", model="m", messages=asked.messages, parameters=asked.parameters
        )

    request = last_request(lambda _: "9")
    assert request.key == last_request(lambda _: "9").key
    assert request.key != last_request(lambda _: "8").key
    assert Message.from_json(request.messages[1].to_json()) == request.messages[1]
    body = chat_body(request, completion_tokens=False)
    assert body["tools"] == [OFFERED]
    assert body["messages"][1:] == [  # type: ignore[index]  # JSON
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call00001",
                    "type": "function",
                    "function": {"name": "look_up", "arguments": '{"query": "a"}'},
                }
            ],
        },
        {"role": "tool", "content": "9", "tool_call_id": "call00001"},
    ]


class Expert(LookUp):
    """A tool that asks another model."""

    name = "expert"
    roles = ("expert", "second-expert")

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        asked = [Message.of("user", str(arguments["query"]))]
        reply = await context.generate(asked, stage=stage, parameters={}, role="expert")
        use = ToolUse(stage=stage, tool=self.name, input=asked[0].text, output=reply.text)
        context.record(use)
        return use


def test_a_tool_may_ask_another_role_which_the_agent_declares() -> None:
    solver = AgentSolver(tools=(LookUp(), Expert()))
    assert solver.roles == ("expert", "second-expert")
    asks = raw(call('{"query": "a"}', "expert"))
    context = Context(asks, Reply(text="An expert's word."), ANSWER)
    assert solved(solver, context).text == ANSWER.text
    assert [asked.role for asked in context.asked] == ["solver", "expert", "solver"]
    assert context.results == ["An expert's word."]
    assert agent().roles == ()
