"""The scorer `json_schema`: the answer is JSON that a schema describes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.records import Json, Sample, Score, Target, TargetForm, target_text
from pytest_llmeval.safety.regular_files import read_regular
from pytest_llmeval.scoring.binary import decided, no_answer, shown
from pytest_llmeval.scoring.grader import digest
from pytest_llmeval.scoring.json_text import comparable_json, read_json
from pytest_llmeval.scoring.schemas import Schema
from pytest_llmeval.scoring.targets import ALL_FORMS

LARGEST_SCHEMA: Final = 1_000_000
"""Bytes of a schema's file."""


@dataclass(frozen=True, kw_only=True)
class JsonSchema:
    """Correct when the answer is JSON that fits `schema`.

    Args:
        schema: a JSON schema, or the path of a file with one.
        name: name of the score.
        equal: the answer must also be the target's JSON value.

    Raises:
        ValueError: the schema cannot be read, or is no schema.
    """

    schema: dict[str, Any] | Path
    name: str = "json_schema"
    equal: bool = False
    _schema: Schema = field(init=False, repr=False, compare=False)
    _digest: str = field(init=False, repr=False, compare=False)

    grader = "json_schema/1"
    scale = 1.0

    def __post_init__(self) -> None:
        """Read and check the schema."""
        schema = _read(self.schema) if isinstance(self.schema, Path) else self.schema
        object.__setattr__(self, "_schema", Schema(schema))
        object.__setattr__(self, "_digest", digest(schema))

    @property
    def grader_options(self) -> dict[str, Json]:
        """The options; a schema by its digest, wherever it stands."""
        return {"schema": self._digest, "equal": self.equal}

    @property
    def targets(self) -> frozenset[TargetForm]:
        """A text of JSON or a mapping is compared; otherwise every target is accepted."""
        return frozenset({"text", "mapping"}) if self.equal else ALL_FORMS

    def check(self, target: Target) -> None:
        """Raise ValueError if answers are compared with the target, and none could be correct."""
        if not self.equal:
            return
        try:
            problems = self._schema.problems(_value(target))
        except ValueError as error:
            msg = f"target {shown(target_text(target))} is no JSON: {error}"
            raise ValueError(msg) from None
        if problems:
            msg = f"target {shown(target_text(target))} does not fit the schema: {problems}"
            raise ValueError(msg)

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return 1 for JSON that fits (and is equal, if asked for), else 0."""
        if answer is None:
            return no_answer(self)
        try:
            value = read_json(answer)
        except ValueError as error:
            return decided(self, f"{shown(answer)} is no JSON: {error}", correct=False)
        if problems := self._schema.problems(value):
            return decided(self, problems, correct=False)
        if self.equal and comparable_json(value) != comparable_json(_value(sample.target)):
            told = f"{shown(answer)} fits the schema, but is not {shown(sample.target_text)}"
            return decided(self, told, correct=False)
        told = f"{shown(answer)} fits the schema{' and is the target' if self.equal else ''}"
        return decided(self, told, correct=True)

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are the same JSON value."""
        try:
            return comparable_json(read_json(one)) == comparable_json(read_json(other))
        except ValueError:
            return False


def _value(target: Target) -> Json:
    return target if isinstance(target, dict) else read_json(target_text(target))


def _read(file: Path) -> Json:
    try:
        content = read_regular(file, max_bytes=LARGEST_SCHEMA)
        return read_json(content.decode("utf-8"))
    except (OSError, ValueError) as error:
        msg = f"the schema {file} cannot be read: {error}"
        raise ValueError(msg) from None
