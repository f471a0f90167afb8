"""Numbers of nodes: numeric properties, components of points, volumes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.property_graph import Position, Vertex
from pytest_llmeval.domains.heracles.questions.vocabulary import Vocabulary

_AXES: Final = "xyz"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number of a node: words, unit ("" if unknown), Cypher (a str.format of the variable)."""

    words: str
    unit: str
    cypher: str
    value: Callable[[Vertex], float]


def measures_of(
    values: Mapping[str, Sequence[object]], vocabulary: Vocabulary
) -> Iterator[Measure]:
    """Yield the numbers that all nodes have, as far as the vocabulary wants them."""
    wanted = vocabulary.measured
    for key, column in values.items():
        name = cypher_text.name(key)
        if all(type(value) in {int, float} and math.isfinite(value) for value in column):  # type: ignore[arg-type]
            if not wanted or key in wanted:
                words = wanted.get(key, (f"value of {key}", ""))
                yield _measure(words, f"{{0}}.{_braced(name)}", _number(key))
        elif located(column) and point_form(column[0]) in {(False, 2), (False, 3)}:
            sample = column[0]
            assert isinstance(sample, Position)  # noqa: S101 - by `located`
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
    return lambda vertex: vertex.properties[key]  # type: ignore[return-value]  # by `measures_of`


def _coordinate(key: str, index: int) -> Callable[[Vertex], float]:
    return lambda vertex: vertex.properties[key].coordinates[index]  # type: ignore[attr-defined]


def _product(key: str) -> Callable[[Vertex], float]:
    return lambda vertex: math.prod(vertex.properties[key].coordinates)  # type: ignore[attr-defined]


def located(values: Sequence[object]) -> bool:
    """Return whether all values are points of one kind and dimension."""
    return len({point_form(value) for value in values}) == 1 and isinstance(values[0], Position)


def point_form(value: object) -> object:
    """Return of what kind and dimension a point is, None for other values."""
    return (value.geographic, len(value.coordinates)) if isinstance(value, Position) else None
