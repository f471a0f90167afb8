"""One row of a dataset."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.target import Target, target_text


class Sample(Record, frozen=True, kw_only=True):
    """One row of a dataset.

    Attributes:
        id: identifier, unique in its dataset.
        input: the question.
        target: the reference answer: a text, several texts of which any is right, a mapping, or
            None; never part of a prompt.
        choices: of multiple choice the choices, in the order of their letters.
        order: the letters that the choices have in the dataset, in that order, such as ``CADB``.
        images: absolute paths of pictures, checked to lie in the dataset's folder.
        tags: words for selecting tests with ``-k``.
        metadata: further columns; in a prompt only where a template names them.
        pictures: paths of further pictures by their names, checked like those of `images`; no part
            of the question, and sent only where a solver does.
    """

    id: str
    input: str
    target: Target
    choices: tuple[str, ...] = ()
    order: str = ""
    images: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = {}
    pictures: Mapping[str, str] = {}

    @property
    def target_text(self) -> str:
        """The target as one text; see `records.target.target_text`."""
        return target_text(self.target)
