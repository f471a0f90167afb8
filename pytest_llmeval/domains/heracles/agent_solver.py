"""An agent: the model calls a tool that runs Cypher on the scene graph, until it answers.

Source: the agentic pipeline of Heracles, arXiv 2510.16643. Calls go through the provider's own
interface for tools (``tools`` of chat completions). Their arguments are hostile input; every
mistake in them goes back to the model as the call's result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from msgspec.structs import replace

from pytest_llmeval.domains.heracles.address import graph_address
from pytest_llmeval.domains.heracles.cypher_tool import run_cypher, start_graph
from pytest_llmeval.domains.heracles.findings import is_sldp, query_findings
from pytest_llmeval.domains.heracles.scene_graph import check_scene_file, read_class_names
from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.records import (
    Completion,
    Display,
    Json,
    Message,
    Reply,
    Sample,
    TextPart,
    ToolCall,
    ToolUse,
)
from pytest_llmeval.task.answers import tagged

TOOL_NAME: Final = "run_cypher_query"

TOOL: Final[Mapping[str, Json]] = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": (
            "Runs one Cypher query that only reads on the graph database and returns its rows."
        ),
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "The Cypher query."}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
"""The agent's only tool, in the form of chat completions."""

MAX_CALLS: Final = 8
"""Most calls of one turn that are run."""

MAX_CHARACTERS: Final = 160_000
"""Most characters of all rows that one sample's model is shown, some 60,000 tokens.

Each result has a limit too (`rows.MAX_CHARACTERS`).
"""

TOO_MANY: Final = f"Not run: only {MAX_CALLS} calls of one turn are."

OUT_OF_ROOM: Final = (
    "The rows are not shown: with them, all results together would exceed "
    f"{MAX_CHARACTERS} characters. Ask for less, or answer from what there is."
)

_SHOWN_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSolver:
    """Sends the stage ``generate`` with a tool, and runs the queries that the model calls it with.

    It ends with the first reply that calls no tool, and after `turns` replies: the last request
    forbids calls, and a model that calls all the same has no answer. The prompt is given ``turns``
    and ``classes`` (class names by label).

    Details: ``turns`` (replies), ``queries`` (that were run or refused), ``failed_queries``, of the
    last one ``cypher``, ``valid_cypher``, ``rows`` and ``query_seconds``, ``valid_sldp`` (of the
    answer between the last reply's tags), and ``reason`` if there is no answer.

    Attributes:
        scene: a scene graph as spark_dsg saves it, in JSON.
        turns: most replies of the model.
    """

    stages: ClassVar[tuple[str, ...]] = ("generate",)
    display: ClassVar[Display] = Display(
        shares=("valid_cypher", "valid_sldp"),
        headings={"valid_cypher": "valid Cypher", "valid_sldp": "valid SLDP"},
    )

    scene: Path
    turns: int = 10

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        check_scene_file(self.scene)
        if type(self.turns) is not int or self.turns < 1:
            msg = (
                f"turns is {self.turns!r}; "
                "it is how many replies the model has, a whole number from 1"
            )
            raise ValueError(msg)

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompt."""
        return {"classes": read_class_names(self.scene), "turns": self.turns}

    async def get_ready(self, context: RunContext) -> None:
        """Start the database."""
        await start_graph(context, self.scene)

    async def __call__(
        self,
        sample: Sample,  # noqa: ARG002 - every solver gets it
        context: SolverContext,
    ) -> Completion:
        """Solve one sample."""
        graph_address(context)  # a wrong option is reported before a request is paid
        talk = _Talk(self, context)
        reply = await talk.ask()
        while reply.tool_calls and talk.turn < self.turns:
            await talk.run(reply)
            reply = await talk.ask()
        details = {**talk.findings, "valid_sldp": False}
        if reply.tool_calls:
            details["reason"] = f"the model still called tools in the last of {self.turns} turns"
            return Completion(text="", stop_reason=reply.stop_reason, details=details)
        details["valid_sldp"] = await is_sldp(tagged(reply.text))
        return Completion(text=reply.text, stop_reason=reply.stop_reason, details=details)


class _Talk:
    """The messages of one sample so far, and the queries run for it."""

    def __init__(self, solver: AgentSolver, context: SolverContext) -> None:
        self._solver, self._context = solver, context
        self._messages = context.prompt("generate", **solver.variables())
        self._queries: list[ToolUse] = []
        self._calls = 0
        self._room = MAX_CHARACTERS
        self.turn = 0

    @property
    def findings(self) -> dict[str, Json]:
        """Details about turns and queries."""
        return {
            **query_findings(self._queries[-1] if self._queries else None),
            "turns": self.turn,
            "queries": len(self._queries),
            "failed_queries": sum(query.error is not None for query in self._queries),
        }

    async def ask(self) -> Reply:
        """Ask the model; the request of the last turn forbids calls."""
        self.turn += 1
        parameters: dict[str, Json] = {"tools": [dict(TOOL)]}
        if self.turn == self._solver.turns:
            parameters["tool_choice"] = "none"
        return await self._context.generate(
            self._messages, stage=self._stage, parameters=parameters
        )

    async def run(self, reply: Reply) -> None:
        """Run the calls of a reply; append the reply and a result for each call to the messages."""
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
        """Return the call in a form that every provider accepts in the next request.

        Ids are numbered anew: some servers send none or the same one twice, and Mistral's accept
        only nine letters and digits.
        """
        self._calls += 1
        return ToolCall(
            id=f"call{self._calls:05}",
            name=TOOL_NAME,
            arguments=call.arguments if readable else "{}",
        )

    async def _result(self, name: str, arguments: dict[str, Json] | None) -> str:
        """Return the rows of a call's query, or why there are none."""
        if name != TOOL_NAME:
            return f"There is no tool {name[:_SHOWN_NAME]!r}, only {TOOL_NAME}."
        query = None if arguments is None else arguments.get("query")
        if not isinstance(query, str):
            return (
                'The arguments must be a JSON object with the query as text: {"query": "MATCH ..."}'
            )
        use = await run_cypher(self._context, self._solver.scene, query, stage=self._stage)
        self._queries.append(use)
        if use.error is not None:
            return f"The query failed: {use.error}"
        if len(use.output) > self._room:
            return OUT_OF_ROOM
        self._room -= len(use.output)
        return use.output


def _arguments(call: ToolCall) -> dict[str, Json] | None:
    """Return a call's arguments, None when they are no JSON object."""
    try:
        parsed = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
