"""The task as a whole."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, PrivateAttr, field_validator, model_validator

from pytest_llmeval.records import Json
from pytest_llmeval.task.answers import RULES
from pytest_llmeval.task.dataset import Dataset
from pytest_llmeval.task.part import ExistingFile, FilePath, Names, Part, Source, refusal, shown
from pytest_llmeval.task.prompt import PromptField
from pytest_llmeval.task.scorer import ScorerField
from pytest_llmeval.task.spec import STAGES, SolverField, Spec


class GraphSettings(Part):
    """The graph that a task's queries run on: a scene graph as JSON."""

    scene: ExistingFile


class JudgeSettings(Part):
    """How often the judge is asked about one answer, and whether plain answers spare it the question.

    `models` are the judges that decide by majority, unless ``--llmeval-judge`` names others.
    """

    models: Names = ()
    votes: Annotated[int, Field(ge=1, le=99)] = 1
    prefilter: bool = True


class Task(Part):
    """One benchmark, as its YAML file says it; every path is absolute."""

    name: Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_-]*$")]
    version: Annotated[int, Field(ge=1)] = 1
    dataset: Dataset
    prompt: PromptField
    generate: dict[str, JsonValue] = Field(default_factory=dict)
    solver: SolverField = Spec(name="direct")
    answer: str = "whole"
    scorer: ScorerField = None
    graph: GraphSettings | None = None
    judge: JudgeSettings = JudgeSettings()
    metrics: Names = ("accuracy",)
    group_by: Names = ()
    replay: FilePath | None = None
    published: ExistingFile | None = None
    _source: Source = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401 - pydantic's signature
        """Keep where the values came from."""
        self._source = context

    @field_validator("answer")
    @classmethod
    def _known_rule(cls, value: str) -> str:
        if ":" not in value and value not in RULES:
            raise refusal(
                (),
                f"is {shown(value)}",
                given=value,
                allowed=[*RULES, "./file.py:function", "module:function"],
            )
        return value

    @model_validator(mode="after")
    def _has_the_solvers_stages(self) -> Self:
        for stage in STAGES.get(self.solver.name, ()):
            if stage not in self.prompt:
                stages = ", ".join(self.prompt)
                problem = f"has no stage {stage!r}, which the solver {self.solver.name} asks for (stages: {stages})"
                raise refusal(("prompt",), problem)
        return self

    @property
    def file(self) -> Path:
        """The task's YAML file."""
        return self._source.file

    @property
    def folder(self) -> Path:
        """The folder that the task's own files lie in."""
        return self._source.folder

    @property
    def is_judged(self) -> bool:
        """Whether a judge scores its answers."""
        return self.scorer is not None and self.scorer.kind == "judge"

    def line(self, *path: str | int) -> int | None:
        """Return the line of a key of the file, or of the nearest one above it."""
        return self._source.document.line(path)

    @cached_property
    def prompt_digest(self) -> str:
        """The sha256 of all stages' roles and texts."""
        return _digest(
            {
                stage: [[turn.role, turn.text] for turn in turns]
                for stage, turns in self.prompt.items()
            }
        )

    @cached_property
    def settings_digest(self) -> str:
        """The sha256 of what decides requests and scores, without the prompts and the bytes of files."""
        return _digest(
            {
                "name": self.name,
                "version": self.version,
                "dataset": self.dataset.model_dump(mode="json", exclude={"path"}),
                "generate": self.generate,
                "solver": [self.solver.name, dict(self.solver.options)],
                "answer": self.answer,
                "scorer": None
                if self.scorer is None
                else [self.scorer.kind, self.scorer.model_dump(mode="json")],
                "judge": self.judge.model_dump(mode="json"),
            }
        )


def _digest(data: Json) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
