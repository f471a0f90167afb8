"""One row of a dataset."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Json, Record


class Sample(Record, frozen=True, kw_only=True):
    """One dataset row: what is asked, the reference answer, and what is known besides.

    `images` are absolute paths, checked to lie in the dataset's folder; `metadata` never reaches a
    prompt unless the prompt names it.
    """

    id: str
    input: str
    target: str
    images: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = {}
