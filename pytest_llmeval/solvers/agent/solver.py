"""The solver ``agent``: the model calls tools, as often as its turns allow, until it answers.

What a model writes in a call is hostile input; every mistake in it goes back to the model as the
call's result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.engine.tool import AskingTool, ReadyTool, Tool, ToolWithCheck, ToolWithVariables
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import Completion, Display, Json, Message, Role, Sample, display_of
from pytest_llmeval.scoring.schemas import Schema
from pytest_llmeval.solvers.agent.calling import Calling
from pytest_llmeval.solvers.agent.loop import Loop
from pytest_llmeval.solvers.agent.making import MadeTools
from pytest_llmeval.solvers.agent.native import NativeCalling
from pytest_llmeval.solvers.agent.text import TextCalling
from pytest_llmeval.solvers.agent.toolbox import Toolbox, schemas_of
from pytest_llmeval.solvers.limits import Limits, OwnTime
from pytest_llmeval.solvers.mcp.offer import offered_name
from pytest_llmeval.solvers.mcp.server import MadeServers, McpServer
from pytest_llmeval.solvers.mcp.tools import McpTool, running, sample_tools

Form: TypeAlias = Literal["native", "text"]
"""``native``: calls by the provider's interface for tools. ``text``: calls in the reply's text."""

_CALLING: Final[Mapping[Form, Callable[[Sequence[Tool]], Calling]]] = {
    "native": NativeCalling,
    "text": TextCalling,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSolver:
    """Sends the stage ``generate``, and runs the calls of each reply until one has none.

    After `turns` replies or `max_calls` calls it ends too: the last request forbids calls, and a
    model that calls all the same has no answer. After `max_seconds` it ends at once: a tool that
    runs is not waited for, and only a reply that is on its way is. The prompt is given ``turns``,
    the variables of the tools, and ``tools``: what it must tell of them in the form ``text``, "" in
    the form ``native``.

    Details: ``turns`` (replies), ``calls``, ``failed_calls``, the findings of the tools, and
    ``reason`` if there is no answer.

    Attributes:
        tools: the tools; in a task file their names and options, ``{NAME: {OPTION: VALUE}}``.
        mcp: MCP servers whose tools are offered too, behind the others.
        turns, max_calls, max_seconds: see `Limits`.
        calls: how calls are written.
    """

    stages: ClassVar[tuple[str, ...]] = ("generate",)

    tools: Annotated[tuple[Tool, ...], MadeTools()] = ()
    mcp: Annotated[tuple[McpServer, ...], MadeServers()] = ()
    turns: int = 10
    max_calls: int | None = None
    max_seconds: float | None = None
    calls: Form = "native"
    _limits: Limits = field(init=False, repr=False, compare=False)
    _schemas: Mapping[str, Schema] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        if not self.tools and not self.mcp:
            msg = "an agent needs tools: `tools: {NAME: {}}`, or servers of them under `mcp`"
            raise ValueError(msg)
        limits = Limits(turns=self.turns, max_calls=self.max_calls, max_seconds=self.max_seconds)
        object.__setattr__(self, "_limits", limits)
        object.__setattr__(self, "_schemas", schemas_of(self.tools))

    @property
    def display(self) -> Display:
        """How results show the details, as the tools declare it."""
        shown = [display_of(tool) for tool in self.tools]
        return Display(
            shares=tuple(dict.fromkeys(key for one in shown for key in one.shares)),
            labels={key: labels for one in shown for key, labels in one.labels.items()},
            headings={key: heading for one in shown for key, heading in one.headings.items()},
        )

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that the tools ask."""
        asking = (tool for tool in self.tools if isinstance(tool, AskingTool))
        return tuple(dict.fromkeys(role for tool in asking for role in tool.roles))

    @property
    def tool_names(self) -> tuple[str, ...] | None:
        """The names of all tools; None if a server's are known only when it lists them."""
        if any(not server.options.tools for server in self.mcp):
            return None
        served = (offered_name(name) for server in self.mcp for name in server.options.tools)
        return (*(tool.name for tool in self.tools), *served)

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompt."""
        return self._variables(self._calling(self.tools))

    def _variables(self, calling: Calling) -> dict[str, Json]:
        found: dict[str, Json] = {"turns": self.turns, "tools": calling.described}
        for tool in self.tools:
            if isinstance(tool, ToolWithVariables):
                found |= tool.variables()
        return found

    def check_prompt(self, stage: str, messages: Sequence[Message]) -> None:
        """Raise ValueError if the prompt should tell of the tools, and does not."""
        # The first line alone: a template may indent the others.
        told = self._calling(self.tools).described.partition("\n")[0]
        if not any(told in message.text for message in messages):
            msg = (
                f"with `calls: {self.calls}` the prompt must tell of the tools; "
                f"write {{{{ tools }}}} into the stage {stage}"
            )
            raise ValueError(msg)

    async def get_ready(self, context: RunContext) -> None:
        """Let the tools start what is slow."""
        for tool in self.tools:
            if isinstance(tool, ReadyTool):
                await tool.get_ready(context)
        await running(self.mcp, context)

    async def __call__(
        self,
        sample: Sample,  # noqa: ARG002 - every solver gets it
        context: SolverContext,
    ) -> Completion:
        """Solve one sample."""
        async with self.loop(context, OwnTime(self.max_seconds)) as loop:
            messages = context.prompt("generate", **loop.variables)
            self.check_prompt("generate", messages)
            end = await loop.answer(messages)
            details: dict[str, Json] = {**loop.box.findings(), "turns": end.turns}
        if end.reason:
            details["reason"] = end.reason
        text = "" if end.reason else end.reply.text
        return Completion(text=text, stop_reason=end.reply.stop_reason, details=details)

    @asynccontextmanager
    async def loop(self, context: SolverContext, time: OwnTime) -> AsyncIterator[Loop]:
        """Open the loop of calls for one sample, whose own time `time` is.

        Raises:
            LLMEvalError: a tool cannot be used, or two have one name or tell something under one.
        """
        for tool in self.tools:
            if isinstance(tool, ToolWithCheck):
                await tool.check(context)
        if not self.mcp:
            yield self._loop(context, time, self.tools, self._schemas)
            return
        async with sample_tools(self.mcp, context) as served:
            self._check_names(served)
            schemas = {**self._schemas, **schemas_of(served)}
            yield self._loop(context, time, (*self.tools, *served), schemas)

    def _loop(
        self,
        context: SolverContext,
        time: OwnTime,
        tools: Sequence[Tool],
        schemas: Mapping[str, Schema],
    ) -> Loop:
        box, calling = Toolbox(tools, schemas, context, self._limits, time), self._calling(tools)
        box.findings()  # names that clash are told before a request is paid
        return Loop(
            context=context,
            calling=calling,
            variables=self._variables(calling),
            box=box,
            limits=self._limits,
            time=time,
        )

    def _check_names(self, served: Sequence[McpTool]) -> None:
        """Raise ToolError if two tools have one name."""
        names = [tool.name for tool in (*self.tools, *served)]
        if twice := [name for name in names if names.count(name) > 1]:
            msg = (
                f"two tools are called {twice[0]!r}; "
                "leave one out by the `tools` of its MCP server, which lists those to offer"
            )
            raise ToolError(msg)

    def _calling(self, tools: Sequence[Tool]) -> Calling:
        return _CALLING[self.calls](tools)
