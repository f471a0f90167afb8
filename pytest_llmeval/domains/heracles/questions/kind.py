"""The nodes of one label, and the property that identifies them.

Whatever is ambiguous is left out here once for all: identifiers that occur twice, values that the
comparison of answers takes for equal, properties of several types.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from pytest_llmeval.domains.heracles.questions.measure import Measure, located, measures_of
from pytest_llmeval.domains.heracles.questions.property_graph import Position, Vertex
from pytest_llmeval.domains.heracles.questions.vocabulary import Vocabulary

Identity: TypeAlias = str | int

_IDENTIFIERS: Final = ("nodesymbol", "symbol", "id", "uuid", "uid", "key", "code", "name", "title")
_POSITIONS: Final = ("center", "position", "location", "coordinates", "point")
_MOST_CHARACTERS: Final = 60
"""Longest identifier or category that a question quotes."""
_MOST_CATEGORIES: Final = 200


@dataclass(frozen=True, kw_only=True)
class Kind:
    """All nodes of one label.

    Attributes:
        label: the label.
        vertices: its nodes.
        identifier: the property that has a different value for each of them.
        categories: text properties whose values several nodes share.
        measures: numbers that every node has.
        position: the point property that every node has, "" if there is none.
        geographic: whether the positions are degrees.
    """

    label: str
    vertices: tuple[Vertex, ...]
    identifier: str
    categories: tuple[str, ...]
    measures: tuple[Measure, ...]
    position: str
    geographic: bool

    def identity(self, vertex: Vertex) -> Identity:
        """Return the value that names one of the nodes."""
        value = vertex.properties[self.identifier]
        return value if isinstance(value, int) else str(value)

    def identities(self, numbers: Iterable[int]) -> frozenset[Identity]:
        """Return the names of those of the numbers that are nodes of this kind."""
        return frozenset(
            self.identity(self.by_number[one]) for one in numbers if one in self.by_number
        )

    @cached_property
    def by_number(self) -> Mapping[int, Vertex]:
        """The nodes by their numbers."""
        return {vertex.number: vertex for vertex in self.vertices}

    def members(self, key: str) -> Mapping[str, tuple[Vertex, ...]]:
        """Return the nodes of each value of a category, without those that lack it."""
        return self._members[key]

    @cached_property
    def _members(self) -> Mapping[str, Mapping[str, tuple[Vertex, ...]]]:
        """The nodes by category and value: templates ask for them at every draw."""
        return {key: _by_value(self.vertices, key) for key in self.categories}

    def place(self, vertex: Vertex) -> Position:
        """Return where one of the nodes is."""
        value = vertex.properties[self.position]
        assert isinstance(value, Position)  # noqa: S101 - by `kind_of`
        return value


def kind_of(label: str, vertices: tuple[Vertex, ...], vocabulary: Vocabulary) -> Kind | None:
    """Return the nodes of a label, in their order; None if no property identifies them."""
    keys = sorted({key for vertex in vertices for key in vertex.properties})
    values = {key: [vertex.properties.get(key) for vertex in vertices] for key in keys}
    identifiers = [key for key in keys if _identifies(values[key])]
    if not identifiers:
        return None
    position = next(iter(_preferred(filter(lambda key: located(values[key]), keys), _POSITIONS)))
    sample = vertices[0].properties.get(position)
    return Kind(
        label=label,
        vertices=vertices,
        identifier=next(iter(_preferred(identifiers, _IDENTIFIERS))),
        categories=tuple(
            key for key in keys if _categorises(values[key], unique=key in vocabulary.categories)
        ),
        measures=tuple(measures_of(values, vocabulary)),
        position=position,
        geographic=isinstance(sample, Position) and sample.geographic,
    )


def _by_value(vertices: Iterable[Vertex], key: str) -> dict[str, tuple[Vertex, ...]]:
    """Return the nodes that have a property, by its value, in alphabetical order."""
    found: dict[str, list[Vertex]] = defaultdict(list)
    for vertex in vertices:
        if value := vertex.properties.get(key):
            found[str(value)].append(vertex)
    return {value: tuple(found[value]) for value in sorted(found)}


def _preferred(keys: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return the keys, those of usual names first; "" alone if there are none."""
    ranks = {name: rank for rank, name in enumerate(order)}
    return sorted(keys, key=lambda key: ranks.get(key.lower(), len(ranks))) or [""]


def _identifies(values: Sequence[object]) -> bool:
    """Return whether all values are short texts, or whole numbers, that answers tell apart."""
    if all(type(value) is int for value in values):
        return len({*values}) == len(values)
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    return (
        len({_folded(text) for text in texts}) == len(values)
        and max(map(len, texts)) <= _MOST_CHARACTERS
    )


def _categorises(values: Sequence[object], *, unique: bool) -> bool:
    """Return whether all values are texts that answers tell apart.

    Some must occur twice, unless they may be `unique`.
    """
    if not all(value is None or isinstance(value, str) for value in values):
        return False
    counts = Counter(value for value in values if isinstance(value, str) and value)
    return (
        0 < len(counts) <= _MOST_CATEGORIES
        and len({_folded(value) for value in counts}) == len(counts)
        and max(map(len, counts)) <= _MOST_CHARACTERS
        and (unique or max(counts.values()) > 1)
        and all(value.strip() for value in counts)
    )


def _folded(text: str) -> str:
    """Return what is left of a text when answers are compared."""
    return text.strip().casefold()
