"""Multiple choice: the choices of a sample, their order, and the letter of the right one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field

from pytest_llmeval.records import Json, Sample
from pytest_llmeval.task.permutation import permuted
from pytest_llmeval.task.section import Section
from pytest_llmeval.templates.language import choice_lines

Naming: TypeAlias = Literal["letter", "index", "text"]
"""How a dataset names the right choice: ``C``, ``2`` (from 0), or the choice itself."""

_FEWEST, _MOST = 2, len(ascii_uppercase)


class Choices(Section):
    """The section ``choices`` of a task file.

    Attributes:
        column: column of the choices, a list of texts.
        target: how the column of the target names the right one.
        seed: in which random order each sample shows them; None shows them as the dataset has them.
    """

    column: str
    target: Naming = "letter"
    seed: Annotated[int, Field(ge=0)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChoices:
    """The choices of one sample as its prompt shows them.

    Attributes:
        texts: the choices.
        order: the letters that they have in the dataset, in the shown order, such as ``CADB``.
        right: the letter under which the right one is shown.
    """

    texts: tuple[str, ...]
    order: str
    right: str

    @classmethod
    def of(cls, sample: str, texts: Sequence[str], target: str, chosen: Choices) -> Self:
        """Return the choices of a sample in the order that follows from the seed and its id.

        Args:
            sample: its id.
            texts: the choices, in the order of the dataset.
            target: the dataset's name of the right one.
            chosen: the task's section.

        Raises:
            ValueError: there are too few or too many choices, or the target names none or several.
        """
        if not _FEWEST <= len(texts) <= _MOST:
            msg = f"there are {len(texts)} choices; a sample has from {_FEWEST} to {_MOST}"
            raise ValueError(msg)
        right = _index(target, texts, chosen.target)
        count = len(texts)
        order = list(
            range(count)
            if chosen.seed is None
            else permuted(count, f"choices {chosen.seed} {sample}")
        )
        return cls(
            texts=tuple(texts[number] for number in order),
            order="".join(ascii_uppercase[number] for number in order),
            right=ascii_uppercase[order.index(right)],
        )


def choice_values(sample: Sample) -> list[Json]:
    """Return the choices as templates see them: ``letter`` and ``text`` of each."""
    return [{"letter": ascii_uppercase[n], "text": text} for n, text in enumerate(sample.choices)]


def choices_text(sample: Sample) -> str:
    """Return the choices as ``{{ choices }}`` alone shows them: a line for each."""
    return choice_lines(
        {"letter": letter, "text": text}
        for letter, text in zip(ascii_uppercase, sample.choices, strict=False)
    )


def _index(target: str, texts: Sequence[str], naming: Naming) -> int:
    """Return the number of the right choice, from 0."""
    if naming == "text":
        found = [number for number, text in enumerate(texts) if text == target]
        if len(found) == 1:
            return found[0]
        count = "several choices" if found else "no choice"
        msg = f"the target {target!r:.60} is {count}; is it a letter or an index (choices.target)?"
        raise ValueError(msg)
    last = ascii_uppercase[len(texts) - 1]
    if naming == "letter":
        letter = target.strip().strip("().").upper()
        if len(letter) == 1 and letter in ascii_uppercase[: len(texts)]:
            return ascii_uppercase.index(letter)
        form, others = f"a letter from A to {last}", "an index or a text"
    else:
        if target.strip().isdecimal() and int(target) < len(texts):
            return int(target)
        form, others = f"an index from 0 to {len(texts) - 1}", "a letter or a text"
    msg = f"the target {target!r:.60} is not {form}; is it {others} (choices.target)?"
    raise ValueError(msg)
