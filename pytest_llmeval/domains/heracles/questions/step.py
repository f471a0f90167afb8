"""What leads from the nodes of one label to those of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.kind import Kind
from pytest_llmeval.domains.heracles.questions.property_graph import (
    Links,
    PropertyGraph,
    depth,
    reversed_links,
    steps_from,
)
from pytest_llmeval.domains.heracles.questions.vocabulary import Direction, Vocabulary

_MOST_PAIRS: Final = 2_000_000
"""Largest hierarchy, in pairs of nodes one above the other, that questions are made about."""


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


def steps_of(
    graph: PropertyGraph, kinds: Mapping[str, Kind], vocabulary: Vocabulary, type_: str
) -> Iterator[Step]:
    """Yield the steps along one type of relationship, deep ones where it forms a hierarchy."""
    onward, backward = graph.onward[type_], graph.backward[type_]
    between = _by_labels(kinds, onward)
    for source, target in sorted(between):
        links = between[source, target]
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
        for source, target in sorted(_by_labels(kinds, below)):
            yield _step(type_, "out", source, target, below, deep=True)
            yield _step(type_, "in", target, source, above, deep=True)


def _step(  # noqa: PLR0913 - the fields of a step
    type_: str, direction: Direction, source: str, target: str, links: Links, *, deep: bool = False
) -> Step:
    return Step(
        type=type_, direction=direction, deep=deep, source=source, target=target, links=links
    )


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
