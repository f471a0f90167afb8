"""The schema of a graph, as far as questions are made from it.

Whatever is ambiguous is left out here once for all: identifiers that occur twice, values that the
comparison of answers does not tell apart, properties of several types.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.property_graph import (
    Links,
    Position,
    PropertyGraph,
    Vertex,
    depth,
    reversed_links,
    steps_from,
)
from pytest_llmeval.domains.heracles.questions.vocabulary import Direction, Vocabulary

Identity: TypeAlias = str | int

_IDENTIFIERS: Final = ("nodesymbol", "symbol", "id", "uuid", "uid", "key", "code", "name", "title")
_POSITIONS: Final = ("center", "position", "location", "coordinates", "point")
_MOST_CHARACTERS: Final = 60
"""Longest identifier or category that a question quotes."""
_MOST_CATEGORIES: Final = 200
_MOST_PAIRS: Final = 2_000_000
"""Largest hierarchy, in pairs of nodes one above the other, that questions are made about."""
_AXES: Final = "xyz"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number of a node: words, unit ("" if unknown), Cypher (a str.format of the variable)."""

    words: str
    unit: str
    cypher: str
    value: Callable[[Vertex], float]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """All nodes of one label.

    Attributes:
        label: the label.
        vertices: its nodes.
        identifier: the property that tells them apart.
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
        found: dict[str, list[Vertex]] = defaultdict(list)
        for vertex in self.vertices:
            if value := vertex.properties.get(key):
                found[str(value)].append(vertex)
        return {value: tuple(found[value]) for value in sorted(found)}

    def place(self, vertex: Vertex) -> Position:
        """Return where one of the nodes is."""
        value = vertex.properties[self.position]
        assert isinstance(value, Position)  # noqa: S101 - by `_position`
        return value


@dataclass(frozen=True, kw_only=True)
class Step:
    """What leads from the nodes of one kind to those of another: one relationship or, deep, many.

    Attributes:
        type: the type of the relationships.
        direction: how they are walked.
        deep: whether one or more of them are walked, else exactly one.
        source, target: labels of the ends.
        links: where the step leads, for all nodes of the graph.
    """

    type: str
    direction: Direction
    deep: bool
    source: str
    target: str
    links: Links

    @property
    def cypher(self) -> str:
        """The relationship in a pattern, from the source to the target."""
        start, end = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}[self.direction]
        return f"{start}[:{cypher_text.name(self.type)}{'*' if self.deep else ''}]{end}"

    @property
    def back(self) -> Direction:
        """The direction seen from the target."""
        flipped: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}
        return flipped[self.direction]


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The kinds of nodes and the steps between them, in a fixed order."""

    graph: PropertyGraph
    vocabulary: Vocabulary
    kinds: Mapping[str, Kind]
    steps: Sequence[Step]


def schema_of(graph: PropertyGraph, vocabulary: Vocabulary) -> Schema:
    """Return the schema; labels whose nodes nothing identifies are not in it."""
    by_label: dict[str, list[Vertex]] = defaultdict(list)
    for vertex in graph.vertices:
        for label in vertex.labels:
            by_label[label].append(vertex)
    kinds = {}
    for label in sorted(by_label):
        if (kind := _kind(label, tuple(by_label[label]), vocabulary)) is not None:
            kinds[label] = kind
    steps = [
        step for type_ in sorted(graph.onward) for step in _steps(graph, kinds, vocabulary, type_)
    ]
    return Schema(graph=graph, vocabulary=vocabulary, kinds=kinds, steps=steps)


def _kind(label: str, vertices: tuple[Vertex, ...], vocabulary: Vocabulary) -> Kind | None:
    keys = sorted({key for vertex in vertices for key in vertex.properties})
    values = {key: [vertex.properties.get(key) for vertex in vertices] for key in keys}
    identifiers = [key for key in keys if _identifies(values[key])]
    if not identifiers:
        return None
    position = next(iter(_preferred(filter(lambda key: _located(values[key]), keys), _POSITIONS)))
    sample = vertices[0].properties.get(position)
    return Kind(
        label=label,
        vertices=vertices,
        identifier=next(iter(_preferred(identifiers, _IDENTIFIERS))),
        categories=tuple(
            key for key in keys if _categorises(values[key], unique=key in vocabulary.categories)
        ),
        measures=tuple(_measures(values, vocabulary)),
        position=position,
        geographic=isinstance(sample, Position) and sample.geographic,
    )


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


def _located(values: Sequence[object]) -> bool:
    """Return whether all values are points of one kind and dimension."""
    return len({_point_form(value) for value in values}) == 1 and isinstance(values[0], Position)


def _point_form(value: object) -> object:
    return (value.geographic, len(value.coordinates)) if isinstance(value, Position) else None


def _measures(values: Mapping[str, Sequence[object]], vocabulary: Vocabulary) -> Iterator[Measure]:
    """Yield the numbers that all nodes have, as far as the vocabulary wants them."""
    wanted = vocabulary.measured
    for key, column in values.items():
        name = cypher_text.name(key)
        if all(type(value) in {int, float} and math.isfinite(value) for value in column):  # type: ignore[arg-type]
            if not wanted or key in wanted:
                yield _measure(wanted.get(key, (key, "")), f"{{0}}.{_braced(name)}", _number(key))
        elif _located(column) and _point_form(column[0]) in {(False, 2), (False, 3)}:
            sample = column[0]
            assert isinstance(sample, Position)  # noqa: S101 - by `_located`
            axes = _AXES[: len(sample.coordinates)]
            for index, axis in enumerate(axes):
                if not wanted or f"{key}.{axis}" in wanted:
                    words = wanted.get(f"{key}.{axis}", (f"{axis} coordinate of {key}", ""))
                    cypher = f"{{0}}.{_braced(name)}.{axis}"
                    yield _measure(words, cypher, _coordinate(key, index))
            if key in vocabulary.volumes:
                cypher = " * ".join(f"{{0}}.{_braced(name)}.{axis}" for axis in axes)
                yield _measure(vocabulary.volumes[key], cypher, _product(key))


def _measure(words: tuple[str, str], cypher: str, value: Callable[[Vertex], float]) -> Measure:
    return Measure(words=words[0], unit=words[1], cypher=cypher, value=value)


def _braced(name: str) -> str:
    """Return a name for use inside a str.format."""
    return name.replace("{", "{{").replace("}", "}}")


def _number(key: str) -> Callable[[Vertex], float]:
    return lambda vertex: vertex.properties[key]  # type: ignore[return-value]  # by `_measures`


def _coordinate(key: str, index: int) -> Callable[[Vertex], float]:
    return lambda vertex: vertex.properties[key].coordinates[index]  # type: ignore[attr-defined]


def _product(key: str) -> Callable[[Vertex], float]:
    return lambda vertex: math.prod(vertex.properties[key].coordinates)  # type: ignore[attr-defined]


def _steps(
    graph: PropertyGraph, kinds: Mapping[str, Kind], vocabulary: Vocabulary, type_: str
) -> Iterator[Step]:
    """Yield the steps along one type of relationship, deep ones where it forms a hierarchy."""
    onward, backward = graph.onward[type_], graph.backward[type_]
    for (source, target), links in sorted(_by_labels(kinds, onward).items(), key=_labels):
        mutual = source == target and all(
            one in onward.get(other, ()) for one, others in links.items() for other in others
        )
        if mutual:
            yield _step(type_, "both", source, target, graph.around[type_])
        else:
            yield _step(type_, "out", source, target, onward)
            yield _step(type_, "in", target, source, backward)
    levels = depth(onward)
    if levels > 1 or (levels and (type_, "out", True) in vocabulary.verbs):
        below = _closure(onward)
        above = reversed_links(below)
        for (source, target), _ in sorted(_by_labels(kinds, below).items(), key=_labels):
            yield _step(type_, "out", source, target, below, deep=True)
            yield _step(type_, "in", target, source, above, deep=True)


def _step(  # noqa: PLR0913 - the fields of a step
    type_: str, direction: Direction, source: str, target: str, links: Links, *, deep: bool = False
) -> Step:
    return Step(
        type=type_, direction=direction, deep=deep, source=source, target=target, links=links
    )


def _labels(item: tuple[tuple[str, str], object]) -> tuple[str, str]:
    return item[0]


def _by_labels(kinds: Mapping[str, Kind], links: Links) -> dict[tuple[str, str], Links]:
    """Return the links between each two kinds."""
    labels: dict[int, list[str]] = defaultdict(list)
    for label, kind in kinds.items():
        for vertex in kind.vertices:
            labels[vertex.number].append(label)
    found: dict[tuple[str, str], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for source, targets in links.items():
        for target in targets:
            for above in labels[source]:
                for below in labels[target]:
                    found[above, below][source].add(target)
    return {
        pair: {source: frozenset(targets) for source, targets in between.items()}
        for pair, between in found.items()
    }


def _closure(links: Links) -> Links:
    """Return where one or more steps lead; nothing if that is more than `_MOST_PAIRS`."""
    found: dict[int, frozenset[int]] = {}
    pairs = 0
    for start in links:
        found[start] = frozenset(steps_from(links, start)) - {start}
        pairs += len(found[start])
        if pairs > _MOST_PAIRS:
            return {}
    return found
