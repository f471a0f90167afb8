"""The task: the model of one benchmark's YAML file."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, JsonValue, PrivateAttr, field_validator

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Json
from pytest_llmeval.roles import SOLVER, is_role
from pytest_llmeval.task.address import NAME
from pytest_llmeval.task.choices import Choices
from pytest_llmeval.task.dataset import Dataset
from pytest_llmeval.task.declared import (
    DeclaredScorer,
    MisfitError,
    declared_scorers,
    named_solver,
)
from pytest_llmeval.task.fewshot import Examples, FewShot
from pytest_llmeval.task.prompt import PromptField
from pytest_llmeval.task.registry import ANSWERS
from pytest_llmeval.task.section import ExistingFile, FilePath, Names, Section, Source, refusal
from pytest_llmeval.task.spec import MetricsField, ScorersField, SolverField, Spec


class Task(Section):
    """One benchmark, as declared by its YAML file; every path is absolute.

    Attributes:
        name: identifies the task in results, options and test ids; ``sums[terse]`` for a variant.
        version: to be increased when results are no longer comparable.
        dataset: the rows.
        prompt: the stages of chat messages.
        fewshot: the examples in the prompt.
        choices: of multiple choice the choices and their order.
        generate: parameters of every request to the model under test, such as ``temperature``.
        solver: the solver's name and options.
        answer: the answer rule, by name or as a function.
        scorer: the scorers' names and options.
        decides: ``first``, ``all``, ``any``, or names of the scores that decide the outcome.
        metrics: the metrics of the results table.
        group_by: columns by whose values results are also shown.
        roles: specs of the models of other roles than the one under test, such as ``user``, unless
            the command line names others.
        replay: recording that replies when no model is configured.
        published: file of published figures to show beside the results.
    """

    other_keys: ClassVar = ("extends", "variants")
    name: Annotated[str, Field(pattern=rf"^{NAME}(\[{NAME}\])?$")]
    version: Annotated[int, Field(ge=1)] = 1
    dataset: Dataset
    prompt: PromptField
    fewshot: FewShot | None = None
    choices: Choices | None = None
    generate: dict[str, JsonValue] = Field(default_factory=dict)
    solver: SolverField = Spec(name="direct")
    answer: str = "whole"
    scorer: ScorersField = ()
    decides: Names = ("first",)
    metrics: MetricsField = ("accuracy",)
    group_by: Names = ()
    roles: dict[str, Names] = Field(default_factory=dict)
    replay: FilePath | None = None
    published: ExistingFile | None = None
    _source: Source = PrivateAttr()
    _examples: Examples | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401 - pydantic's signature
        """Store the source of the values, pydantic's validation context."""
        self._source = context

    @property
    def examples(self) -> Examples | None:
        """The examples for prompts; None without the section ``fewshot``."""
        return self._examples

    def take_examples(self, examples: Examples) -> None:
        """Take the examples that `load_task` has read by the task's own columns."""
        self._examples = examples

    @field_validator("answer")
    @classmethod
    def _known_rule(cls, value: str) -> str:
        if not ANSWERS.knows(value):
            raise refusal((), ANSWERS.unknown(value))
        return value

    @field_validator("roles")
    @classmethod
    def _known_roles(cls, value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for role, specs in value.items():
            if not is_role(role) or role == SOLVER:
                problem = (
                    f"is no role; a role is a word of small letters, digits, _ and - other than "
                    f"{SOLVER}, whose models the command line names (--llmeval-model SPEC)"
                )
                raise refusal((role,), problem)
            if not specs:
                raise refusal((role,), "names no model; write a spec, such as openai/gpt-5.1-mini")
        return value

    @cached_property
    def scorers(self) -> tuple[DeclaredScorer, ...]:
        """The scorers, in the order of the file; MisfitError if one is invalid."""
        return declared_scorers(self.scorer, self.decides, self.folder)

    @cached_property
    def named_solver(self) -> Any:  # noqa: ANN401 - a port of the engine, a layer above
        """The solver, or None for one that is a function; MisfitError if it is invalid.

        A function is loaded by the engine, because its module may import anything.
        """
        return None if self.solver.is_function else named_solver(self.solver, self.folder)

    def check_parts(self) -> None:
        """Make scorers and solver.

        Raises:
            MisfitError: one is invalid, or the prompt lacks a stage of the solver.
        """
        self.scorers  # noqa: B018 - made on access
        for stage in getattr(self.named_solver, "stages", ()):
            if stage not in self.prompt:
                stages = ", ".join(self.prompt)
                problem = (
                    f"has no stage {stage!r}, which the solver {self.solver.name} asks for "
                    f"(stages: {stages})"
                )
                raise MisfitError(("prompt",), problem)

    @property
    def file(self) -> Path:
        """The task's YAML file."""
        return self._source.file

    @property
    def folder(self) -> Path:
        """The folder of the YAML file, where the task's relative paths start."""
        return self._source.folder

    def shows(self, variable: str) -> bool:
        """Return whether a prompt names a variable."""
        return any(variable in turn.text for turns in self.prompt.values() for turn in turns)

    def error(self, problem: str, *place: str | int) -> LLMEvalError:
        """Return the error for the value at `place`; see `Source.error`."""
        return self._source.error(place, problem)

    def line(self, *path: str | int) -> int | None:
        """Return the line of a key in the YAML file, or of its nearest existing parent.

        None if the value stands in a file that this one extends.
        """
        layer, place = self._source.origin(path)
        return layer.document.line(place) if layer.file == self.file else None

    @cached_property
    def prompt_digest(self) -> str:
        """The sha256, in hex, of the roles and template texts of all stages."""
        return _digest(
            {
                stage: [[turn.role, turn.text] for turn in turns]
                for stage, turns in self.prompt.items()
            }
        )

    @cached_property
    def settings_digest(self) -> str:
        """The sha256, in hex, of the settings that decide requests and scores.

        Prompts and the contents of files have digests of their own.
        """
        # Left out where it is not used, so that digests stay what they were before it was added.
        added: dict[str, Json] = {}
        if self.fewshot is not None:
            text_only = set() if self.fewshot.as_turns else {"form", "reply"}
            added["fewshot"] = self.fewshot.model_dump(mode="json", exclude={"path", *text_only})
        if self.choices is not None:
            added["choices"] = self.choices.model_dump(mode="json")
        return _digest(
            {
                **added,
                "name": self.name,
                "version": self.version,
                "dataset": self.dataset.model_dump(mode="json", exclude={"path"}),
                "generate": self.generate,
                "solver": [self.solver.name, dict(self.solver.options)],
                "answer": self.answer,
                "scorers": [[spec.name, dict(spec.options)] for spec in self.scorer],
                "decides": [*self.decides],
            }
        )


def _digest(data: Json) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
