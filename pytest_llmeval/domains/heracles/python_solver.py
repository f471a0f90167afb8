"""Question -> Python over the scene graph -> result -> answer: generated code with refinement.

Source: the pipelines of Heracles, arXiv 2510.16643.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from pytest_llmeval.domains.heracles.feed_forward import Language, check_repair, write_and_run
from pytest_llmeval.domains.heracles.python_tool import (
    open_programs,
    python_findings,
    run_python,
)
from pytest_llmeval.domains.heracles.scene_graph import check_scene_file, read_class_names
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Completion, Display, Json, Sample, ToolUse
from pytest_llmeval.task.answers import tagged

REPAIR_REQUEST: Final = (
    "That program could not be used: {reason}\n\n"
    "Correct it, and give the whole corrected program between <answer> and </answer>."
)
"""Message to a model about its failed program (str.format field: reason)."""

MISSING: Final = "the reply holds no program between <answer> and </answer>"

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)


def extract_program(reply: str) -> str | None:
    """Return the program between the last pair of answer tags, or in the last code fence.

    A fence inside the tags is taken off. None when there is neither.
    """
    tags = tagged(reply)
    fences = _FENCED.findall(reply if tags is None else tags)
    program = fences[-1] if fences else tags
    return program if program and program.strip() else None


_PYTHON = Language(extract=extract_program, missing=MISSING, repair_request=REPAIR_REQUEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSolver:
    """Asks for a program (stage ``generate``), runs it, and asks for an answer (stage ``refine``).

    The reply to ``generate`` must hold a Python program that defines ``solve_task(G)``, between
    answer tags or in a code fence. One that is missing or fails goes back to the model with the
    reason, at most `repair` times; after that the sample has no answer. Prompts are given
    ``classes`` (class names by label), ``refine`` also ``program`` and ``result``.

    Details: ``turns`` (model calls), of the last program ``python``, ``valid_python`` (it ran) and
    ``seconds``, and after a failure ``reason``.

    Attributes:
        scene: a scene graph as spark_dsg saves it, in JSON.
        repair: how often a failed program goes back.
    """

    stages: ClassVar[tuple[str, ...]] = ("generate", "refine")
    display: ClassVar[Display] = Display(
        shares=("valid_python",), headings={"valid_python": "valid Python"}
    )

    scene: Path
    repair: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        check_scene_file(self.scene)
        check_repair(self.repair, "program")

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompts as far as they are known before any reply."""
        return {"classes": read_class_names(self.scene), "program": "", "result": ""}

    async def __call__(
        self,
        sample: Sample,  # noqa: ARG002 - every solver gets it
        context: SolverContext,
    ) -> Completion:
        """Solve one sample."""
        await open_programs(context, self.scene)  # where no program can run, no request is paid
        classes = read_class_names(self.scene)

        async def run(program: str, stage: str) -> ToolUse:
            return await run_python(context, self.scene, program, stage=stage)

        messages = context.prompt("generate", classes=classes)
        written = await write_and_run(context, messages, _PYTHON, run, repair=self.repair)
        details: dict[str, Json] = {**python_findings(written.use), "turns": written.turns}
        if written.use is None or written.reason is not None:
            # No text: the reply's answer tags hold a program, which must not count as the answer.
            return Completion(
                text="",
                stop_reason=written.reply.stop_reason,
                details={**details, "reason": written.reason},
            )
        final = await context.generate(
            context.prompt(
                "refine", classes=classes, program=written.use.input, result=written.use.output
            ),
            stage="refine",
        )
        details["turns"] = written.turns + 1
        return Completion(text=final.text, stop_reason=final.stop_reason, details=details)
