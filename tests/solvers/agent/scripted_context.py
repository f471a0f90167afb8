"""A solver's context with scripted replies, and a tool with scripted results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.records import Completion, Json, Message, Reply, Sample, ToolCall, ToolUse
from pytest_llmeval.solvers.agent.solver import AgentSolver
from pytest_llmeval.task.options import build

SAMPLE = Sample(id="12", input="How many rooms?", target="9")
FOLDER = Path(__file__).parent


class Context:
    """Serves the solver from a script, and keeps what was asked."""

    def __init__(self, *replies: Reply, graph: Any = None) -> None:
        """Take replies in turn, of which the last is repeated; `graph` is what is shared."""
        self._replies, self._graph = list(replies), graph
        self.asked: list[tuple[str, tuple[Message, ...], dict[str, Json]]] = []
        self.recorded: list[ToolUse] = []
        self.variables: dict[str, Json] = {}

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        self.variables = variables
        return (Message.of("user", f"{stage} {variables.get('tools')}"),)

    async def generate(
        self, messages: Sequence[Message], *, stage: str, parameters: dict[str, Json]
    ) -> Reply:
        self.asked.append((stage, tuple(messages), parameters))
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def setting(self, name: str) -> str | None:  # noqa: ARG002 - none is given
        return None

    async def shared(self, key: str, start: Callable[[], Any]) -> Any:  # noqa: ARG002 - as above
        return self._graph

    def record(self, use: ToolUse) -> None:
        self.recorded.append(use)

    @property
    def results(self) -> list[str]:
        """The results of calls in the last request."""
        return [message.text for message in self.asked[-1][1] if message.role == "tool"]


class LookUp:
    """A tool with one argument, that answers from a script."""

    name = "look_up"
    description = "Looks a thing up."
    parameters: Mapping[str, Json] = {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    }

    def __init__(self, run: Callable[[str], str | Exception] = lambda query: f"<{query}>") -> None:
        """Take what returns the result of a query: a text, a mistake, or what is raised."""
        self._run = run
        self.queries: list[str] = []

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        query = str(arguments["query"])
        self.queries.append(query)
        result = self._run(query)
        if isinstance(result, Exception) and not isinstance(result, ValueError):
            raise result
        text, error = ("", str(result)) if isinstance(result, ValueError) else (result, None)
        use = ToolUse(stage=stage, tool="test", input=query, output=str(text), error=error)
        context.record(use)
        return use


def calling(*queries: str, text: str = "") -> Reply:
    """Return a reply that calls `LookUp` with each query."""
    return raw(*(call(json.dumps({"query": query})) for query in queries), text=text)


def call(arguments: str, name: str = LookUp.name) -> ToolCall:
    return ToolCall(id="x", name=name, arguments=arguments)


def raw(*calls: ToolCall, text: str = "") -> Reply:
    return Reply(text=text, tool_calls=calls, stop_reason="tool_calls")


def made(options: Mapping[str, Json], folder: Path = FOLDER) -> AgentSolver:
    """Return the solver that a task file with these options gets."""
    return cast("AgentSolver", build(AgentSolver, options, folder))


def solved(agent: Solver, context: Context) -> Completion:
    async def solve() -> Completion:
        return await agent(SAMPLE, cast("SolverContext", context))

    return asyncio.run(solve())
