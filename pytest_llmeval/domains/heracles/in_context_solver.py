"""The whole scene graph in the prompt, without a database: the pipeline "in context" of Heracles.

Source: arXiv 2510.16643.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, get_args

from pytest_llmeval.domains.heracles.scene_graph import check_scene_file, read_class_names
from pytest_llmeval.domains.heracles.scene_text import Form, read_scene_text
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Completion, Json, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class InContextSolver:
    """Sends the stage ``generate`` once, with the scene as text in its variable ``graph``.

    The prompt is also given ``classes`` (class names by label) and ``form``. Details: ``turns``,
    which is 1.

    Attributes:
        scene: a scene graph as spark_dsg saves it, in JSON.
        form: ``short``, ``full`` or ``no_places`` (see `scene_text.Form`).
    """

    stages: ClassVar[tuple[str, ...]] = ("generate",)

    scene: Path
    form: Form = "short"

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        check_scene_file(self.scene)
        if self.form not in get_args(Form):
            msg = f"form is {self.form!r}; expected one of {', '.join(get_args(Form))}"
            raise ValueError(msg)

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompt."""
        graph = read_scene_text(self.scene, self.form)
        return {"classes": read_class_names(self.scene), "form": self.form, "graph": graph}

    async def __call__(
        self,
        sample: Sample,  # noqa: ARG002 - every solver gets it
        context: SolverContext,
    ) -> Completion:
        """Solve one sample."""
        reply = await context.generate(context.prompt("generate", **self.variables()))
        return Completion(text=reply.text, stop_reason=reply.stop_reason, details={"turns": 1})
