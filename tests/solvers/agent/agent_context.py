"""A solver's context with scripted replies, and a tool with scripted results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import chain, cycle
from pathlib import Path
from typing import Any, cast

from scripted_context import Asked, ScriptedContext

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Json, Reply, ToolCall, ToolUse
from pytest_llmeval.solvers.agent.solver import AgentSolver
from pytest_llmeval.task.options import build

FOLDER = Path(__file__).parent
NO_GRAPH: Mapping[str, str | None] = {"graph": None}


class Context(ScriptedContext):
    """A context of an agent, whose model says its last reply again and again."""

    def __init__(
        self, *replies: Reply, settings: Mapping[str, str | None] = NO_GRAPH, resource: Any = None
    ) -> None:
        """Take replies in turn; see `ScriptedContext`."""
        super().__init__(settings=settings, resource=resource)
        self._replies = chain(replies, cycle(replies[-1:]))

    async def reply(self, asked: Asked) -> Reply:
        """Return the next reply to a request that names its turn and its parameters."""
        assert asked.stage.startswith("turn ")
        assert asked.parameters is not None
        return await super().reply(asked)

    @property
    def results(self) -> list[str]:
        """The results of calls in the last request."""
        return [message.text for message in self.asked[-1].messages if message.role == "tool"]


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
