"""A graph that is no scene: people, films and crates, with names that need quoting."""

from __future__ import annotations

from random import Random
from typing import Any, cast

from pytest_llmeval.domains.heracles.scene_graph import Node, Relationship, SceneGraph

_CITIES = ("O'Slo", 'Par"is', "R`ome", "Zü\\rich")
_GENRES = ("drama", "{{ comedy }}", "a | b")


def films() -> SceneGraph:
    """Return nodes and relationships in the form in which scenes are loaded."""
    dice = Random(3)
    people = [
        _node("Person", f"Person {i}", born=1940 + 3 * i, city=dice.choice(_CITIES))
        for i in range(16)
    ]
    screened = [
        _node("Film", f"Film {i}", rating=round(dice.random() * 10, 2), genre=dice.choice(_GENRES))
        for i in range(12)
    ]
    crates = [
        _node("`Crate of`", f"Crate {i}", place=(dice.random() * 9, dice.random() * 9, 0.0))
        for i in range(6)
    ]
    edges = [
        *(_edge("ACTED_IN", one, film) for one in people for film in dice.sample(screened, 3)),
        *(_edge("KNOWS", one, dice.choice(people)) for one in people),
        *(_edge("`SHOT BY`", film, dice.choice(people)) for film in screened),
        *(
            _edge("HAS", crates[above], crates[below])
            for above, below in [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (4, 5)]
        ),
    ]
    return SceneGraph(
        nodes=(*people, *screened, *crates), relationships=tuple(dict.fromkeys(edges))
    )


def _node(label: str, symbol: str, **properties: Any) -> Node:
    # Loading finds nodes by their nodeSymbol.
    return Node(
        label=cast("Any", label), symbol=symbol, properties={"nodeSymbol": symbol, **properties}
    )


def _edge(type_: str, source: Node, target: Node) -> Relationship:
    return Relationship(
        type=type_,
        source=source.symbol,
        target=target.symbol,
        source_label=source.label,
        target_label=target.label,
    )
