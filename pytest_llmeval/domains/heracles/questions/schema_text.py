"""The schema of a graph as text for a prompt: labels, properties and relationships."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import resources
from typing import Final

from pytest_llmeval.domains.heracles.questions.property_graph import Position, PropertyGraph
from pytest_llmeval.domains.heracles.questions.schema import Schema
from pytest_llmeval.domains.heracles.questions.vocabulary import quoted

TASK_FILES: Final = resources.files(__package__) / "task_files"
"""Texts of the prompts."""

_MOST_VALUES: Final = 100
"""Most values of a property that are listed."""

_TYPES: Final = {str: "text", bool: "true or false", int: "whole number", float: "number"}


def schema_text(schema: Schema) -> str:
    """Return the text, in Markdown."""
    parts = []
    if file := schema.vocabulary.introduction:
        parts.append((TASK_FILES / file).read_text("utf-8").strip())
    parts.append("Labels and their properties:\n\n" + "\n".join(_labels(schema)))
    relationships = [*_relationships(schema.graph)]
    if relationships:
        parts.append("Relationships:\n\n" + "\n".join(relationships))
    return "\n\n".join(parts)


def _labels(schema: Schema) -> Iterator[str]:
    types: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    numbers: Counter[str] = Counter()
    for vertex in schema.graph.vertices:
        for label in vertex.labels:
            numbers[label] += 1
            for key, value in vertex.properties.items():
                types[label][key].add(_type(value))
    for label in sorted(numbers):
        yield f"- {_line(label)} ({numbers[label]} nodes)"
        for key in sorted(types[label]):
            described = " or ".join(sorted(types[label][key]))
            yield f"  - {_line(key)}: {described}{_remark(schema, label, key)}"


def _remark(schema: Schema, label: str, key: str) -> str:
    kind = schema.kinds.get(label)
    if kind is None:
        return ""
    if key == kind.identifier:
        return "; tells the nodes apart"
    if key in kind.categories and len(values := kind.members(key)) <= _MOST_VALUES:
        return f"; one of {', '.join(map(quoted, values))}"
    return ""


def _relationships(graph: PropertyGraph) -> Iterator[str]:
    found: Counter[tuple[str, str, str]] = Counter()
    for edge in graph.edges:
        for source in graph.vertices[edge.source].labels:
            for target in graph.vertices[edge.target].labels:
                found[source, edge.type, target] += 1
    for source, type_, target in sorted(found):
        number = found[source, type_, target]
        yield f"- from {_line(source)} to {_line(target)}: {_line(type_)} ({number})"


def _type(value: object) -> str:
    if isinstance(value, Position):
        axes = ("longitude, latitude, height" if value.geographic else "x, y, z").split(", ")
        return f"point ({', '.join(axes[: len(value.coordinates)])})"
    return _TYPES.get(type(value), type(value).__name__.lower())


def _line(name: str) -> str:
    """Return a name on one line."""
    return name if name.isprintable() else quoted(name)
