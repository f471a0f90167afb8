"""The tools of one sample: runs what the model calls, within limits, and keeps the record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Final

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.engine.tool import CallError, Tool, ToolWithFindings
from pytest_llmeval.errors import LLMEvalError, ToolError
from pytest_llmeval.records import Json, ToolUse
from pytest_llmeval.safety.printable import printable
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.schemas import Schema
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall
from pytest_llmeval.solvers.limits import Limits, OutOfTimeError, OwnTime

MAX_CALLS: Final = 8
"""Most calls of one turn that are run."""

MAX_CHARACTERS: Final = 160_000
"""Most characters of all results that one sample's model is shown, some 60,000 tokens."""

TOO_MANY: Final = f"Not run: only {MAX_CALLS} calls of one turn are."

OUT_OF_ROOM: Final = (
    "The result is not shown: with it, all results together would exceed "
    f"{MAX_CHARACTERS} characters. Ask for less, or answer from what there is."
)

OUT_OF_TIME: Final = "Not run: no time is left."

OWN_DETAILS: Final = frozenset({"calls", "ended", "failed_calls", "reason", "turns"})
"""Details of a completion that are the agent's or the conversation's, and not a tool's."""

_SHOWN_NAME = 40


def schemas_of(tools: Sequence[Tool]) -> Mapping[str, Schema]:
    """Return what checks the arguments of each tool, by its name; it takes milliseconds to make."""
    return {tool.name: Schema(dict(tool.parameters)) for tool in tools}


class Toolbox:
    """Runs the calls of one sample."""

    def __init__(
        self,
        tools: Sequence[Tool],
        schemas: Mapping[str, Schema],
        context: SolverContext,
        limits: Limits,
        time: OwnTime,
    ) -> None:
        """Offer `tools`, whose names differ, and whose arguments `schemas` check.

        Their time is that of the sample, `time`.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._schemas = schemas
        self._uses: dict[str, list[ToolUse]] = {tool.name: [] for tool in tools}
        self._context, self._limits, self._time = context, limits, time
        self._room = MAX_CHARACTERS
        self._failed = 0
        self.calls = 0

    async def results(self, calls: Sequence[WrittenCall], *, stage: str) -> list[str]:
        """Run the calls of one turn in order, and return what the model is told of each.

        Its mistakes are told: a tool that does not exist, arguments that cannot be read or do not
        fit, a call that the tool refuses, more calls than a turn or the sample may have. Nothing is
        run once the sample's time is over.

        Raises:
            ToolError: a tool failed, not the model.
        """
        most, refusal = self._allowed
        told = [await self._run(call, stage) for call in calls[:most]]
        left = len(calls) - len(told)
        self.calls += len(calls)
        self._failed += left
        return [*told, *[refusal] * left]

    def findings(self) -> dict[str, Json]:
        """Return details of all calls, and those that tools tell of their own.

        Raises:
            ToolError: a tool tells something under a name that is the agent's or another tool's.
        """
        found: dict[str, Json] = {}
        for name, tool in self._tools.items():
            if isinstance(tool, ToolWithFindings):
                told = tool.findings(tuple(self._uses[name]))
                if taken := sorted(told.keys() & (OWN_DETAILS | found.keys())):
                    msg = (
                        f"tool {name}: its findings have the key {taken[0]!r}, which is the "
                        "agent's or an earlier tool's; rename it"
                    )
                    raise ToolError(msg)
                found |= told
        return {"calls": self.calls, "failed_calls": self._failed, **found}

    @property
    def _allowed(self) -> tuple[int, str]:
        """How many calls of a turn are run, and what the others are told."""
        most = self._limits.max_calls
        if most is None or most - self.calls > MAX_CALLS:
            return MAX_CALLS, TOO_MANY
        return most - self.calls, f"Not run: the {most} calls that you have are used up."

    async def _run(self, call: WrittenCall, stage: str) -> str:
        if self._time.over:
            self._failed += 1
            return OUT_OF_TIME
        if call.arguments is None or (problem := self._problem(call.name, call.arguments)):
            self._failed += 1
            return call.problem if call.arguments is None else problem
        try:
            use = await self._time.run(self._used(self._tools[call.name], call.arguments, stage))
        except OutOfTimeError:
            self._context.note(stage, f"The call of {call.name} was ended: no time is left.")
            self._failed += 1
            return OUT_OF_TIME
        except CallError as mistake:
            shown, failed = f"The call failed: {mistake}", True
        else:
            failed = use.error is not None
            shown = f"The call failed: {use.error}" if failed else use.output
        self._failed += failed
        if len(shown) > self._room:
            return OUT_OF_ROOM
        self._room -= len(shown)
        return shown

    async def _used(self, tool: Tool, arguments: Mapping[str, Json], stage: str) -> ToolUse:
        """Return the use of a tool; what it raises but errors of this package is a ToolError.

        A use that ends by an exception is recorded here: the tool did not come to it.
        """
        started = perf_counter()
        try:
            use = await self._called(tool, arguments, stage)
        except (LLMEvalError, CallError) as failure:
            failed = ToolUse(
                stage=stage,
                tool=tool.name,
                input=json.dumps(arguments, ensure_ascii=False),
                error=printable(str(failure)),
                seconds=perf_counter() - started,
            )
            self._context.record(failed)
            raise
        self._uses[tool.name].append(use)
        return use

    async def _called(self, tool: Tool, arguments: Mapping[str, Json], stage: str) -> ToolUse:
        use: Any  # what a tool says of its type is not believed
        try:
            use = await tool(arguments, self._context, stage=stage)
        except (LLMEvalError, CallError):
            raise
        # Foreign code may raise anything; a SystemExit of its own does not end the run.
        except (Exception, SystemExit) as failure:
            msg = f"tool {tool.name}: {described_with_place(failure)}"
            raise ToolError(msg) from failure
        if not isinstance(use, ToolUse):
            msg = f"tool {tool.name} returned a {type(use).__name__}, not a ToolUse"
            raise ToolError(msg)
        return use

    def _problem(self, name: str, arguments: Mapping[str, Json]) -> str:
        """Return why a call cannot be run; "" if it can."""
        if name not in self._tools:
            return f"There is no tool {name[:_SHOWN_NAME]!r}, only {', '.join(self._tools)}."
        problems = self._schemas[name].problems(dict(arguments))
        return f"The arguments do not fit: {problems}" if problems else ""
