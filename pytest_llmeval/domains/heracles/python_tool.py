"""Python as a tool: programs that a model wrote run on a scene graph, in the sandbox."""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from pytest_llmeval.domains.heracles.scene_graph import (
    check_scene_file,
    read_class_names,
    read_scene,
)
from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.records import Display, Json, ToolUse
from pytest_llmeval.sandbox.containers import Container
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.run import Run
from pytest_llmeval.sandbox.sandbox import Sandbox, open_sandbox

TOOL_NAME: Final = "codegen_execute"
"""Name under which models call the tool ``python``."""

MAX_CHARACTERS: Final = 40_000
"""Most characters of a result that a model is shown, as of rows."""

MAX_PRINTED: Final = 4_000
"""Most characters of what a program printed and of an error."""

LIMITS: Final = Limits(wall_seconds=60.0, cpu_seconds=60, memory_mb=1024, output_bytes=1 << 20)

_CHILD = "pytest_llmeval.domains.heracles.program_child"
_SECONDS_DIGITS = 4


class Programs:
    """Runs programs on one scene."""

    def __init__(self, scene: Path, sandbox: Sandbox) -> None:
        """Take the scene, and the sandbox in which programs run."""
        self._scene, self._sandbox = scene, sandbox

    @property
    def isolation(self) -> str:
        """How programs are isolated."""
        return self._sandbox.isolation

    async def run(self, program: str) -> Run:
        """Run a program."""
        return await self._sandbox.run(
            program,
            module=_CHILD,
            arguments=[str(self._scene)],
            readable=[self._scene],
            limits=LIMITS,
        )


async def open_programs(context: RunContext, scene: Path) -> Programs:
    """Return what runs programs on a scene, in the run's sandbox.

    It is called before a sample's first request, so that nothing is paid where no program can run.

    Raises:
        UsageError: the option ``--llmeval-sandbox`` is wrong, or programs cannot be isolated here.
        TaskError: the scene could not be read.
    """
    sandbox = await open_sandbox(context)

    async def start() -> Programs:
        # The child reads it anew; a file that is no scene must not look like a program's mistake.
        await asyncio.to_thread(read_scene, scene)
        return Programs(scene.resolve(), sandbox)  # noqa: ASYNC240 - once

    return await context.shared(f"programs on {scene}", start)


async def run_python(
    context: SolverContext, scene: Path, program: str, *, stage: str = "program"
) -> ToolUse:
    """Run a model's program on a scene, and record it in the transcript.

    Args:
        context: the context of the solver that calls this.
        scene: a scene graph as spark_dsg saves it, in JSON.
        program: defines ``solve_task(G)``, whose result is the use's output.
        stage: name of the solver's stage in the record.

    Raises:
        ToolError: the sandbox failed.
        UsageError, TaskError: as of `open_programs`.
    """
    programs = await open_programs(context, scene)
    run = await programs.run(program)
    use = _use(run, program, stage=stage, isolation=programs.isolation)
    context.record(use)
    return use


def python_findings(use: ToolUse | None) -> dict[str, Json]:
    """Return the details of a sample's last program: ``python``, ``valid_python``, ``seconds``."""
    if use is None:
        return {"python": None, "valid_python": False}
    return {
        "python": use.input,
        "valid_python": use.error is None,
        "seconds": round(use.seconds, _SECONDS_DIGITS),
    }


def _use(run: Run, program: str, *, stage: str, isolation: str) -> ToolUse:
    reply = _reply(run)
    printed = run.errors.strip()
    shown, error, cut = "", reply.get("problem"), None
    if error is None:
        result = reply["result"]
        shown = result[:MAX_CHARACTERS]
        cut = "characters" if len(result) > MAX_CHARACTERS else None
        if cut:
            shown += f"\n(cut after {MAX_CHARACTERS} of {len(result)} characters)"
        if printed:
            shown += f"\n\nIt printed:\n{printed[:MAX_PRINTED]}"
    return ToolUse(
        stage=stage,
        # An image has a Python of its own.
        tool=f"Python ({isolation})"
        if Container.of(isolation)
        else f"Python/{platform.python_version()} ({isolation})",
        input=program,
        output=_clean(shown),
        count=int(error is None),
        error=None if error is None else _clean(error[:MAX_PRINTED]),
        cut=cut,
        seconds=run.seconds,
    )


def _reply(run: Run) -> dict[str, str]:
    """Return what the child said, with one of ``result`` and ``problem``; it may be forged."""
    if run.problem is not None:
        last = run.errors.strip().rpartition("\n")[2]
        return {"problem": f"{run.problem}; its last line was: {last}" if last else run.problem}
    try:
        reply: Any = json.loads(run.output)
    except (ValueError, RecursionError):
        reply = None
    match reply:
        case {"problem": str(problem)}:
            return {"problem": problem}
        case {"result": str(result)}:
            return {"result": result}
        case _:
            return {"problem": "the program ended without a result"}


def _clean(text: str) -> str:
    """Return the text without halves of characters, which no file could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTool:
    """Runs a program of the model on the scene graph, for the solver ``agent``.

    It gives prompts ``classes`` (class names by label). Findings: ``programs`` (that were run),
    ``failed_programs``, and of the last one ``python``, ``valid_python`` and ``seconds``.

    Attributes:
        scene: a scene graph as spark_dsg saves it, in JSON.
    """

    name: ClassVar[str] = TOOL_NAME
    description: ClassVar[str] = (
        "Runs a Python program on the scene graph and returns what its function solve_task(G) "
        f"returned, after at most {LIMITS.wall_seconds:g} s."
    )
    parameters: ClassVar[Mapping[str, Json]] = {
        "type": "object",
        "properties": {
            "python_code": {
                "type": "string",
                "description": "The whole program; it defines solve_task(G).",
            }
        },
        "required": ["python_code"],
        "additionalProperties": False,
    }
    display: ClassVar[Display] = Display(
        shares=("valid_python",), headings={"valid_python": "valid Python"}
    )

    scene: Path

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        check_scene_file(self.scene)

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompt."""
        return {"classes": read_class_names(self.scene)}

    async def check(self, context: RunContext) -> None:
        """Raise an error if no program can run; see `open_programs`."""
        await open_programs(context, self.scene)

    def findings(self, uses: Sequence[ToolUse]) -> Mapping[str, Json]:
        """Return details about the programs of one sample."""
        return {
            **python_findings(uses[-1] if uses else None),
            "programs": len(uses),
            "failed_programs": sum(use.error is not None for use in uses),
        }

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        """Run the program of one call."""
        return await run_python(context, self.scene, str(arguments["python_code"]), stage=stage)
