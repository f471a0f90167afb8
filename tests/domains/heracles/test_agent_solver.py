"""The agent with scripted replies and a scripted database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_llmeval.domains.heracles.agent_solver import (
    MAX_CALLS,
    MAX_CHARACTERS,
    OUT_OF_ROOM,
    TOO_MANY,
    TOOL,
    TOOL_NAME,
    AgentSolver,
)
from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import ToolError
from pytest_llmeval.providers.openai_requests import chat_body
from pytest_llmeval.records import (
    Completion,
    Json,
    Message,
    Reply,
    Request,
    Sample,
    ToolCall,
    ToolUse,
)

HOUSE = Path(__file__).parents[3] / "fixtures" / "heracles" / "scene.json"
SAMPLE = Sample(id="H02", input="How many rooms?", target="9")
QUERY = "MATCH (r:Room) RETURN count(r) AS n"
ROWS = "n\n9\n(1 row)"
ANSWER = Reply(text="<answer>9</answer>")


class Context:
    """Serves the solver from a script, and keeps what was asked."""

    def __init__(
        self, *replies: Reply, run: Callable[[str], str | Exception] = lambda _: ROWS
    ) -> None:
        """Take replies in turn, of which the last is repeated, and rows or an error by query."""
        self._replies, self._run = list(replies), run
        self.asked: list[tuple[str, tuple[Message, ...], dict[str, Json]]] = []
        self.queries: list[str] = []
        self.recorded: list[ToolUse] = []

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        assert variables.pop("classes") == read_class_names(HOUSE)
        return (Message.of("user", f"{stage} {variables}"),)

    async def generate(
        self, messages: Sequence[Message], *, stage: str, parameters: dict[str, Json]
    ) -> Reply:
        self.asked.append((stage, tuple(messages), parameters))
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def setting(self, name: str) -> str | None:
        assert name == "graph"
        return None

    async def shared(
        self,
        key: str,
        start: Callable[[], Awaitable[Any]],  # noqa: ARG002 - opens nothing
    ) -> Any:
        assert str(HOUSE) in key
        return self

    def record(self, use: ToolUse) -> None:
        self.recorded.append(use)

    async def query(self, cypher: str, *, stage: str) -> ToolUse:
        self.queries.append(cypher)
        rows = self._run(cypher)
        if isinstance(rows, ToolError):
            raise rows
        text, error = ("", str(rows)) if isinstance(rows, Exception) else (rows, None)
        return ToolUse(
            stage=stage,
            tool="test",
            input=cypher,
            executed=cypher,
            output=text,
            count=1,
            error=error,
            seconds=0.5,
        )

    @property
    def results(self) -> list[str]:
        """The results of calls in the last request."""
        return [message.text for message in self.asked[-1][1] if message.role == "tool"]


def calling(*queries: str, text: str = "") -> Reply:
    return raw(
        *(
            ToolCall(id="x", name=TOOL_NAME, arguments=json.dumps({"query": query}))
            for query in queries
        ),
        text=text,
    )


def raw(*calls: ToolCall, text: str = "") -> Reply:
    return Reply(text=text, tool_calls=calls, stop_reason="tool_calls")


def solved(context: Context, *, turns: int = 10) -> Completion:
    async def solve() -> Completion:
        agent = AgentSolver(scene=HOUSE, turns=turns)
        return await agent(SAMPLE, cast("SolverContext", context))

    return asyncio.run(solve())


def test_the_model_queries_until_it_answers_and_sees_all_that_came_before() -> None:
    context = Context(calling(QUERY, text="Let me see."), calling("RETURN 1", "RETURN 2"), ANSWER)
    completion = solved(context)
    assert (completion.text, completion.stop_reason) == (ANSWER.text, "stop")
    assert context.queries == [QUERY, "RETURN 1", "RETURN 2"]
    assert [use.stage for use in context.recorded] == ["turn 1", "turn 2", "turn 2"]
    assert [stage for stage, _, _ in context.asked] == ["turn 1", "turn 2", "turn 3"]
    assert [message.role for message in context.asked[-1][1]] == [
        "user",
        *["assistant", "tool"],
        *["assistant", "tool", "tool"],
    ]
    assert context.asked[-1][1][1].text == "Let me see."
    assert completion.details == {
        "cypher": "RETURN 2",
        "valid_cypher": True,
        "rows": 1,
        "query_seconds": 0.5,
        "turns": 3,
        "queries": 3,
        "failed_queries": 0,
    }


def test_each_result_stands_under_the_id_of_its_call_whatever_ids_the_model_gave() -> None:
    same = [
        ToolCall(id="", name=TOOL_NAME, arguments=json.dumps({"query": f"RETURN {n}"}))
        for n in (1, 2)
    ]
    context = Context(raw(*same), raw(*same), ANSWER, run=lambda cypher: f"rows of {cypher}")
    solved(context)
    _, *talk = context.asked[-1][1]
    calls = [call for message in talk for call in message.tool_calls]
    assert [message.tool_call_id for message in talk if message.role == "tool"] == [
        call.id for call in calls
    ]
    assert len({call.id for call in calls}) == 4
    # Mistral's servers take exactly nine letters and digits.
    assert all(len(call.id) == 9 and call.id.isalnum() for call in calls)
    assert context.results == ["rows of RETURN 1", "rows of RETURN 2"] * 2


def test_the_tool_is_offered_in_every_turn_and_forbidden_in_the_last() -> None:
    context = Context(calling(QUERY), calling(QUERY), ANSWER)
    solved(context, turns=3)
    assert [parameters["tools"] for _, _, parameters in context.asked] == [[TOOL]] * 3
    assert [parameters.get("tool_choice") for _, _, parameters in context.asked] == [
        None,
        None,
        "none",
    ]
    assert "'turns': 3" in context.asked[0][1][0].text


def test_a_model_that_never_stops_calling_has_no_answer() -> None:
    context = Context(calling(QUERY, text="<answer>9</answer>"))
    completion = solved(context, turns=4)
    assert len(context.asked) == 4
    assert len(context.queries) == 3
    assert completion.text == ""
    assert completion.details["reason"] == "the model still called tools in the last of 4 turns"


def test_a_reply_without_a_call_ends_whatever_it_says() -> None:
    context = Context(Reply(text="I refuse.", stop_reason="refusal"), ANSWER)
    completion = solved(context)
    assert (completion.text, completion.stop_reason, len(context.asked)) == (
        "I refuse.",
        "refusal",
        1,
    )
    assert (completion.details["cypher"], completion.details["valid_cypher"]) == (None, False)


def test_a_failing_query_goes_back_as_the_result_of_its_call() -> None:
    context = Context(
        calling("RETURN x"),
        calling(QUERY),
        ANSWER,
        run=lambda q: ROWS if q == QUERY else ValueError("x?"),
    )
    completion = solved(context)
    assert context.results == ["The query failed: x?", ROWS]
    assert (completion.details["valid_cypher"], completion.details["failed_queries"]) == (True, 1)


HOSTILE = [
    "",
    "{",
    "null",
    "[]",
    '"MATCH (n) RETURN n"',
    '{"query": null}',
    '{"query": ["RETURN 1"]}',
    '{"Query": "RETURN 1"}',
    '{"query": {"query": "RETURN 1"}}',
    "[" * 100_000,
    '{"query": ' + "9" * 10_000 + "}",
    "\x00",
    '{"query": "RETURN 1"} {"query": "RETURN 2"}',
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=range(len(HOSTILE)))
def test_arguments_that_hold_no_query_run_nothing_and_go_back_well_formed(arguments: str) -> None:
    context = Context(raw(ToolCall(id="x", name=TOOL_NAME, arguments=arguments)), ANSWER)
    completion = solved(context)
    assert context.queries == []
    (result,) = context.results
    assert "must be a JSON object with the query as text" in result
    (call,) = context.asked[-1][1][1].tool_calls
    assert isinstance(json.loads(call.arguments), dict)
    assert completion.text == ANSWER.text


@pytest.mark.parametrize("name", ["", "run_cypher", "bash", "x" * 10_000, "a b\n"])
def test_a_tool_that_does_not_exist_is_told_and_the_request_stays_well_formed(name: str) -> None:
    context = Context(raw(ToolCall(id="x", name=name, arguments='{"query": "RETURN 1"}')), ANSWER)
    solved(context)
    assert context.queries == []
    assert context.results[0].startswith("There is no tool ")
    assert len(context.results[0]) < 200
    assert [call.name for call in context.asked[-1][1][1].tool_calls] == [TOOL_NAME]


def test_a_flood_of_calls_in_one_turn_is_cut_and_each_is_told() -> None:
    context = Context(calling(*[QUERY] * 500), ANSWER)
    solved(context)
    assert len(context.queries) == MAX_CALLS
    assert context.results == [ROWS] * MAX_CALLS + [TOO_MANY] * (500 - MAX_CALLS)


def test_rows_beyond_the_room_of_all_results_together_are_left_out_and_that_is_told() -> None:
    large = "x" * (MAX_CHARACTERS // 3 - 10)
    context = Context(
        calling(*[QUERY] * 4),
        calling("RETURN 1"),
        ANSWER,
        run=lambda q: large if q == QUERY else ROWS,
    )
    completion = solved(context)
    assert context.results[:3] == [large] * 3
    assert context.results[3] == OUT_OF_ROOM
    assert context.results[4] == ROWS
    assert completion.details["valid_cypher"] is True


def test_a_broken_database_is_not_the_models_fault() -> None:
    with pytest.raises(ToolError, match="gone"):
        solved(Context(calling(QUERY), ANSWER, run=lambda _: ToolError("gone")))


@pytest.mark.parametrize("turns", [0, -1, "3", True, 1.0])
def test_turns_are_a_whole_number(turns: int) -> None:
    with pytest.raises(ValueError, match="a whole number from 1"):
        AgentSolver(scene=HOUSE, turns=turns)


def test_requests_are_known_by_their_tool_messages_and_sent_as_chat_completions_has_them() -> None:
    def last_request(rows: str) -> Request:
        context = Context(calling(QUERY), ANSWER, run=lambda _: rows)
        solved(context)
        _, messages, parameters = context.asked[-1]
        return Request(provider="openai", model="m", messages=messages, parameters=parameters)

    request = last_request(ROWS)
    assert request.key == last_request(ROWS).key
    assert request.key != last_request("n\n8\n(1 row)").key
    assert Message.from_json(request.messages[1].to_json()) == request.messages[1]
    body = chat_body(request, completion_tokens=False)
    assert body["tools"] == [TOOL]
    assert body["messages"][1:] == [  # type: ignore[index]  # JSON
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call00001",
                    "type": "function",
                    "function": {"name": TOOL_NAME, "arguments": json.dumps({"query": QUERY})},
                }
            ],
        },
        {"role": "tool", "content": ROWS, "tool_call_id": "call00001"},
    ]
