"""A graph of nodes with labels and properties, held in memory to compute solutions without Cypher.

It is made from a scene or read from a server; nothing here knows which.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from pytest_llmeval.domains.heracles.scene_graph import SceneGraph

_EARTH_RADIUS: Final = 6_378_140.0
"""Metres, as Neo4j's point.distance() has it."""


class Position(NamedTuple):
    """A point: cartesian, or degrees of longitude and latitude on the earth if `geographic`."""

    coordinates: tuple[float, ...]
    geographic: bool = False

    def distance(self, other: Position) -> float:
        """Return the distance: of geographic points in metres along the surface (haversine)."""
        if not self.geographic:
            return math.dist(self.coordinates, other.coordinates)
        (east, north), (other_east, other_north) = (
            map(math.radians, point.coordinates[:2]) for point in (self, other)
        )
        chord = (
            math.sin((other_north - north) / 2) ** 2
            + math.cos(north) * math.cos(other_north) * math.sin((other_east - east) / 2) ** 2
        )
        return 2 * _EARTH_RADIUS * math.asin(min(1.0, math.sqrt(chord)))


@dataclass(frozen=True, slots=True, eq=False)
class Vertex:
    """A node: its number in the graph, its labels, and its properties (any Python values)."""

    number: int
    labels: tuple[str, ...]
    properties: Mapping[str, object]


class Edge(NamedTuple):
    """A directed relationship between two nodes, by their numbers."""

    type: str
    source: int
    target: int


Links: TypeAlias = Mapping[int, frozenset[int]]
"""The nodes that each node leads to; nodes that lead nowhere are left out."""


class PropertyGraph:
    """Nodes and relationships, and what leads where."""

    def __init__(self, vertices: Iterable[Vertex], edges: Iterable[Edge]) -> None:
        """Take all nodes, numbered from 0 in this order, and all relationships."""
        self.vertices = tuple(vertices)
        self.edges = tuple(edges)

    @classmethod
    def of_scene(cls, scene: SceneGraph) -> PropertyGraph:
        """Return a scene's nodes and relationships."""
        numbers = {node.symbol: number for number, node in enumerate(scene.nodes)}
        return cls(
            (
                Vertex(
                    numbers[node.symbol],
                    (node.label,),
                    {
                        key: Position(value) if isinstance(value, tuple) else value
                        for key, value in node.properties.items()
                    },
                )
                for node in scene.nodes
            ),
            (
                Edge(edge.type, numbers[edge.source], numbers[edge.target])
                for edge in scene.relationships
            ),
        )

    @cached_property
    def onward(self) -> Mapping[str, Links]:
        """Where the relationships of each type lead, in their direction."""
        found: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for edge in self.edges:
            found[edge.type][edge.source].add(edge.target)
        return {type_: _frozen(links) for type_, links in found.items()}

    @cached_property
    def backward(self) -> Mapping[str, Links]:
        """Where they lead against their direction."""
        return {type_: reversed_links(links) for type_, links in self.onward.items()}

    @cached_property
    def around(self) -> Mapping[str, Links]:
        """Where they lead in either direction."""
        return {
            type_: {
                number: links.get(number, frozenset())
                | self.backward[type_].get(number, frozenset())
                for number in {*links, *self.backward[type_]}
            }
            for type_, links in self.onward.items()
        }


def reversed_links(links: Links) -> Links:
    """Return the links the other way round."""
    found: dict[int, set[int]] = defaultdict(set)
    for source, targets in links.items():
        for target in targets:
            found[target].add(source)
    return _frozen(found)


def steps_from(links: Links, start: int, *, most: int | None = None) -> dict[int, int]:
    """Return the fewest steps to every node that can be reached, `start` with 0 among them."""
    steps, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        if steps[here] == most:
            continue
        for there in sorted(links.get(here, ())):
            if there not in steps:
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


def depth(links: Links) -> int:
    """Return the most steps in a row, 0 if the links run in circles."""
    waiting = {number: len(sources) for number, sources in reversed_links(links).items()}
    ready = deque((number, 0) for number in links if number not in waiting)
    deepest, left = 0, len(waiting)
    while ready:
        here, level = ready.popleft()
        deepest = max(deepest, level)
        for there in links.get(here, ()):
            waiting[there] -= 1
            if not waiting[there]:  # its last predecessor is one of the deepest, for the queue
                left -= 1
                ready.append((there, level + 1))
    return 0 if left else deepest


def _frozen(links: Mapping[int, set[int]]) -> Links:
    return {number: frozenset(targets) for number, targets in links.items()}
