"""A model that looks round in the graph by itself: it calls a tool that runs Cypher, until it answers.

Source: the agentic pipeline of Heracles, arXiv 2510.16643. Calls go through the provider's own
interface for tools (``tools`` of chat completions); what a model writes into them is hostile, and
every mistake goes back to it as the call's result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pytest_llmeval.domains.heracles.solve_findings import is_sldp, query_findings
from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.records import (
    Completion,
    GraphQuery,
    Json,
    Message,
    Reply,
    Sample,
    TextPart,
    ToolCall,
)
from pytest_llmeval.task.answers import tagged

TOOL_NAME: Final = "run_cypher_query"

TOOL: Final[Mapping[str, Json]] = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": "Runs one Cypher query that only reads on the graph database and returns its rows.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "The Cypher query."}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
"""The one tool, in the form of chat completions."""

MAX_CALLS: Final = 8
"""Calls of one turn that are run: more at once is a model gone astray."""

MAX_CHARACTERS: Final = 160_000
"""Of all rows that one sample's model is shown, some 60,000 tokens; each result has its own limit
besides."""

TOO_MANY: Final = f"Not run: only {MAX_CALLS} calls of one turn are."

OUT_OF_ROOM: Final = (
    f"The rows are not shown: with them, all results together would exceed {MAX_CHARACTERS} characters. "
    "Ask for less, or answer from what there is."
)

_SHOWN_NAME = 40


def agent(*, turns: int = 10) -> Solver:
    """Return the solver that sends the stage ``generate`` and runs the queries that the model calls for.

    It ends with the first reply that calls no tool, and after `turns` replies: the last request
    forbids calls, and a model that calls all the same has no answer. The prompt is given ``turns``.
    Details: ``turns`` (replies), ``queries`` (that were run or refused), ``failed_queries``, of the
    last one ``cypher``, ``valid_cypher``, ``rows`` and ``query_seconds``, ``valid_sldp`` (of the
    answer between the last reply's tags), and ``reason`` if there is no answer.
    """
    if type(turns) is not int or turns < 1:
        msg = f"turns is {turns!r}; it is how many replies the model has, a whole number from 1"
        raise ValueError(msg)

    async def solve(sample: Sample, context: SolverContext) -> Completion:  # noqa: ARG001 - every solver gets it
        talk = _Talk(context, turns)
        reply = await talk.ask()
        while reply.tool_calls and talk.turn < turns:
            await talk.run(reply)
            reply = await talk.ask()
        details = {**talk.findings, "valid_sldp": False}
        if reply.tool_calls:
            details["reason"] = f"the model still called tools in the last of {turns} turns"
            return Completion(text="", stop_reason=reply.stop_reason, details=details)
        details["valid_sldp"] = is_sldp(tagged(reply.text))
        return Completion(text=reply.text, stop_reason=reply.stop_reason, details=details)

    return solve


class _Talk:
    """The messages of one sample so far, and the queries run for it."""

    def __init__(self, context: SolverContext, turns: int) -> None:
        self._context, self._turns = context, turns
        self._messages = context.prompt("generate", turns=turns)
        self._queries: list[GraphQuery] = []
        self._calls = 0
        self._room = MAX_CHARACTERS
        self.turn = 0

    @property
    def findings(self) -> dict[str, Json]:
        """What the details tell of turns and queries."""
        return {
            **query_findings(self._queries[-1] if self._queries else None),
            "turns": self.turn,
            "queries": len(self._queries),
            "failed_queries": sum(query.error is not None for query in self._queries),
        }

    async def ask(self) -> Reply:
        """Ask the model; in the last turn without leave to call."""
        self.turn += 1
        parameters: dict[str, Json] = {"tools": [dict(TOOL)]}
        if self.turn == self._turns:
            parameters["tool_choice"] = "none"
        return await self._context.generate(
            self._messages, stage=self._stage, parameters=parameters
        )

    async def run(self, reply: Reply) -> None:
        """Run the calls of a reply; the messages grow by the reply and a result for each call."""
        calls: list[ToolCall] = []
        results: list[Message] = []
        for number, call in enumerate(reply.tool_calls):
            arguments = _arguments(call)
            calls.append(self._well_formed(call, readable=arguments is not None))
            result = await self._result(call.name, arguments) if number < MAX_CALLS else TOO_MANY
            results.append(replace(Message.of("tool", result), tool_call_id=calls[-1].id))
        parts = (TextPart(text=reply.text),) if reply.text else ()
        self._messages = (
            *self._messages,
            Message(role="assistant", parts=parts, tool_calls=tuple(calls)),
            *results,
        )

    @property
    def _stage(self) -> str:
        return f"turn {self.turn}"

    def _well_formed(self, call: ToolCall, *, readable: bool) -> ToolCall:
        """Return the call as it goes back to the provider, which would refuse the whole request for a crooked one.

        Ids are numbered anew: some servers send none or the same twice, and Mistral's take nine
        letters and digits.
        """
        self._calls += 1
        return ToolCall(
            id=f"call{self._calls:05}",
            name=TOOL_NAME,
            arguments=call.arguments if readable else "{}",
        )

    async def _result(self, name: str, arguments: dict[str, Json] | None) -> str:
        """Return what a call brought: rows, or why there are none."""
        if name != TOOL_NAME:
            return f"There is no tool {name[:_SHOWN_NAME]!r}, only {TOOL_NAME}."
        query = None if arguments is None else arguments.get("query")
        if not isinstance(query, str):
            return (
                'The arguments must be a JSON object with the query as text: {"query": "MATCH ..."}'
            )
        result = await self._context.query(query, stage=self._stage)
        self._queries.append(result)
        if result.error is not None:
            return f"The query failed: {result.error}"
        if len(result.text) > self._room:
            return OUT_OF_ROOM
        self._room -= len(result.text)
        return result.text


def _arguments(call: ToolCall) -> dict[str, Json] | None:
    """Return a call's arguments, None when they are no JSON object."""
    try:
        parsed = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
