"""Equal parts of rows as one object: most of what many rows of a run consist of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from msgspec.structs import astuple, replace

from pytest_llmeval.records import Json, Row, Score, Usage

_Part = TypeVar("_Part")


class SharedParts:
    """Lets rows share equal versions, groups, tags and scores.

    Parts are compared as JSON is: 1, 1.0 and true are different values. Parts that hold a list or
    an object are not shared, nor are scores with a text, which are hardly ever equal.
    """

    def __init__(self) -> None:
        """Know no part yet."""
        self._known: dict[Hashable, object] = {}

    def within(self, row: Row) -> Row:
        """Return the row with each part replaced by the first equal object that was seen."""
        return replace(
            row,
            versions=self._mapping("versions", row.versions),
            groups=self._mapping("groups", row.groups),
            tags=self._first(("tags", row.tags), row.tags),
            details=row.details or _NOTHING,
            scores=self._scores(row.scores),
            usage=_NO_USAGE if row.usage == _NO_USAGE else row.usage,
        )

    def _first(self, key: Hashable, part: _Part) -> _Part:
        return self._known.setdefault(key, part)  # type: ignore[return-value]  # of the same kind

    def _mapping(self, kind: str, part: Mapping[str, _Part]) -> Mapping[str, _Part]:
        try:
            return self._first((kind, *((k, type(v), v) for k, v in part.items())), part)
        except TypeError:
            return part

    def _scores(self, scores: tuple[Score, ...]) -> tuple[Score, ...]:
        if any(score.details or score.explanation for score in scores):
            return scores
        key = tuple(
            (type(field), field)
            for score in scores
            for field in astuple(score)
            if not isinstance(field, dict)
        )
        return self._first(("scores", key), scores)


_NOTHING: Mapping[str, Json] = {}
_NO_USAGE = Usage()
