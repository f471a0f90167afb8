"""One row of a dataset."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Json, Record


class Sample(Record, frozen=True, kw_only=True):
    """One row of a dataset.

    Attributes:
        id: identifier, unique in its dataset.
        input: the question.
        target: the reference answer; never part of a prompt.
        images: absolute paths of pictures, checked to lie in the dataset's folder.
        tags: words for selecting tests with ``-k``.
        metadata: further columns; in a prompt only where a template names them.
        pictures: paths of further pictures by their names, checked like those of `images`; no part
            of the question, and sent only where a solver does.
    """

    id: str
    input: str
    target: str
    images: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = {}
    pictures: Mapping[str, str] = {}
