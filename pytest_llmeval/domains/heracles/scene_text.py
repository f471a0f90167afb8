"""A scene graph as text, for models that are given all of it instead of a database.

Tables in the notation of query rows (`rows`): the nodes of each label, then for each type of
relationship what every node leads to. Source of the idea: the pipeline "in context" of Heracles,
arXiv 2510.16643.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pytest_llmeval.domains.heracles.rows import SYMBOL, GraphValue, PointValue, RowsWriter, natural
from pytest_llmeval.domains.heracles.scene_graph import (
    CONNECTED,
    CONTAINS,
    Node,
    Relationship,
    SceneGraph,
    read_scene,
)
from pytest_llmeval.errors import TaskError

Form: TypeAlias = Literal["short", "full", "no_places"]
"""How much of a scene its text holds.

``full``: every property and relationship. ``short``: symbol, class and centre to the centimetre,
and of each connection one direction. ``no_places``: as ``short``, without nodes of the labels Place
and MeshPlace; what a room holds by way of them is told directly.
"""

MAX_CHARACTERS: Final = 1_000_000
"""Most characters of a scene's text, some 400,000 tokens: it is sent with every question."""

_ADVICE: Final[Mapping[Form, str]] = {
    "full": "take the form short",
    "short": "take the form no_places, or let the model query it (the solvers cypher and agent)",
    "no_places": "let the model query it (the solvers cypher and agent)",
}

_PLACES: Final = ("Place", "MeshPlace")
_SHORT_PROPERTIES = (SYMBOL, "class", "center")
_CENTIMETRES = 2
"""Digits after the point of coordinates in metres."""


@cache
def read_scene_text(path: Path, form: Form) -> str:
    """Return the scene in a spark_dsg JSON file as text. A file is read once for each form.

    Raises:
        TaskError: the file is no scene, or its text is too large for a prompt.
    """
    text = scene_text(read_scene(path), form)
    if len(text) > MAX_CHARACTERS:
        problem = (
            f"the scene has {len(text)} characters as text, "
            f"at most {MAX_CHARACTERS} go into a prompt; {_ADVICE[form]}"
        )
        raise TaskError(problem, file=path)
    return text


def scene_text(scene: SceneGraph, form: Form) -> str:
    """Return the scene as text; it does not depend on the order of nodes and relationships."""
    if form == "no_places":
        scene = _without_places(scene)
    return "\n\n".join(
        [*_node_tables(scene.nodes, form), *_relationship_tables(scene.relationships, form)]
    )


def _without_places(scene: SceneGraph) -> SceneGraph:
    """Return the scene without places; what they hold is held by what holds them."""
    contains = [edge for edge in scene.relationships if edge.type == CONTAINS]
    inside = {
        source: [*edges]
        for source, edges in groupby(sorted(contains), key=lambda edge: edge.source)
    }
    kept = {
        edge
        for edge in scene.relationships
        if edge.source_label not in _PLACES and edge.target_label not in _PLACES
    }
    for edge in contains:
        if edge.source_label not in _PLACES and edge.target_label in _PLACES:
            kept |= _past_places(edge, inside)
    return SceneGraph(
        nodes=tuple(node for node in scene.nodes if node.label not in _PLACES),
        relationships=tuple(kept),
    )


def _past_places(
    edge: Relationship, inside: Mapping[str, Sequence[Relationship]]
) -> set[Relationship]:
    """Return an edge from the source of `edge` to each node, not a place, inside its target."""
    found: set[Relationship] = set()
    passed: set[str] = set()
    ahead = [edge]
    while ahead:
        last = ahead.pop()
        if last.target_label not in _PLACES:
            found.add(replace(last, source=edge.source, source_label=edge.source_label))
        elif last.target not in passed:
            passed.add(last.target)
            ahead += inside.get(last.target, ())
    return found


def _node_tables(nodes: Sequence[Node], form: Form) -> Iterator[str]:
    """Yield a table for each label that has nodes, in the order of the labels."""
    for label in CONNECTED:
        found = [node.properties for node in nodes if node.label == label]
        columns = [
            SYMBOL,
            *sorted({name for properties in found for name in properties} - {SYMBOL}),
        ]
        if form != "full":
            columns = [name for name in _SHORT_PROPERTIES if name in columns]
        rows = [[_property(properties.get(name), form) for name in columns] for properties in found]
        if rows:
            yield f"{label} nodes\n{_table(columns, rows)}"


def _relationship_tables(relationships: Sequence[Relationship], form: Form) -> Iterator[str]:
    """Yield a table for each type of relationship, with a row for each source node."""
    for kind, edges in groupby(sorted(relationships), key=lambda edge: edge.type):
        once = form != "full" and kind != CONTAINS
        kept = [edge for edge in edges if not once or edge.source <= edge.target]
        rows = [
            [source, sorted((edge.target for edge in leading), key=natural)]
            for source, leading in groupby(kept, key=lambda edge: edge.source)
        ]
        remark = ", both ways, each listed once" if once else ""
        yield f"{kind} relationships{remark}\n{_table(['from', 'to'], rows)}"


def _property(value: object, form: Form) -> object:
    if isinstance(value, tuple):
        return PointValue(
            [round(part, _CENTIMETRES) for part in value] if form != "full" else value
        )
    return value


def _table(columns: Sequence[str], rows: Sequence[Iterable[object]]) -> str:
    writer = RowsWriter(
        columns, convert=_as_it_is, max_rows=len(rows), max_characters=MAX_CHARACTERS
    )
    for row in rows:
        writer.add(row)
    return writer.finish(ordered=False).text


def _as_it_is(value: object) -> GraphValue | None:
    return value if isinstance(value, PointValue) else None
