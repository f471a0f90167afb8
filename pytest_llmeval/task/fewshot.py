"""Few-shot prompting: solved examples of a split in the prompt, as text or as turns of a chat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator, model_validator

from pytest_llmeval.records import Json, Sample, target_text, target_texts
from pytest_llmeval.task.choices import choice_values, choices_text
from pytest_llmeval.task.dataset import DatasetPath
from pytest_llmeval.task.permutation import permuted
from pytest_llmeval.task.section import Section, refusal

TARGET_REPLY: Final = "{{ target }}"
"""The template of the reply to an example, by default."""

EXAMPLES_STAGE: Final = "generate"
"""The stage of the prompt that has the examples as messages."""


class FewShot(Section):
    """The section ``fewshot`` of a task file.

    Attributes:
        path: a dataset file with the task's columns, often the training split.
        count: number of examples in each prompt.
        seed: which examples are chosen, and their order; None takes the first rows of the file.
        each: whether every sample gets examples of its own; else all get the same ones.
        form: ``text``, the variable ``examples``, or ``turns``: before the question of the stage
            `EXAMPLES_STAGE` a user's message of the same template, and the reply, for each.
        reply: in the form ``turns`` the template of the reply.
    """

    path: DatasetPath
    count: Annotated[int, Field(ge=1, le=1000)]
    seed: Annotated[int, Field(ge=0)] | None = None
    each: bool = False
    form: Literal["text", "turns"] = "text"
    reply: str = TARGET_REPLY

    @field_validator("count", mode="before")
    @classmethod
    def _some(cls, count: object) -> object:
        if count == 0 and not isinstance(count, bool):
            raise refusal((), "is 0; without examples there is no such section: fewshot: null")
        return count

    @model_validator(mode="after")
    def _reply_of_turns(self) -> FewShot:
        if self.form == "text" and self.reply != TARGET_REPLY:
            raise refusal(("reply",), "is the reply of an example in a chat; add form: turns")
        return self

    @property
    def as_turns(self) -> bool:
        """Whether the examples are messages."""
        return self.form == "turns"


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The samples of a split, from which the examples of each prompt are taken.

    Attributes:
        split: the samples, in the order of the file; each has a target.
        chosen: how many are taken, and which.
        digest: sha256 of the split's file, in hex.
    """

    split: Sequence[Sample]
    chosen: FewShot
    digest: str

    def of(self, sample: Sample) -> list[Sample]:
        """Return the examples in the prompt of a sample; never the sample itself.

        A row with its id or its input is passed over, and the next one takes its place.
        """
        others = (
            one
            for one in self._ordered(sample)
            if one.id != sample.id and one.input != sample.input
        )
        return list(islice(others, self.chosen.count))

    def _ordered(self, sample: Sample) -> Iterator[Sample]:
        seed = self.chosen.seed
        if seed is None and not self.chosen.each:
            return iter(self.split)
        key = f"fewshot {seed or 0} {sample.id if self.chosen.each else ''}"
        return (self.split[number] for number in permuted(len(self.split), key))


def example_values(examples: Sequence[Sample]) -> list[Json]:
    """Return examples as templates see them: id, input, target, choices and metadata of each.

    Of a target of several texts it is the first.
    """
    return [
        {
            "id": one.id,
            "input": one.input,
            "target": one.target if isinstance(one.target, dict) else target_texts(one.target)[0],
            "choices": choice_values(one),
            "metadata": dict(one.metadata),
        }
        for one in examples
    ]


def examples_text(examples: Sequence[Sample]) -> str:
    """Return examples as ``{{ examples }}`` alone shows them: questions and answers in turn."""
    return "\n\n".join(map(_shown, examples))


def _shown(example: Sample) -> str:
    choices = f"\n{choices_text(example)}" if example.choices else ""
    answer = target_text(target_texts(example.target)[0])
    return f"Question: {example.input}{choices}\nAnswer: {answer}"
