"""109 queries with the rows that Neo4j gives, on each engine (needs the reference material)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import neo4j
import pytest
import yaml
from neo4j.graph import Node
from neo4j.spatial import Point

from pytest_llmeval.domains.heracles.query import preflight
from pytest_llmeval.domains.heracles.scene_graph import Node as SceneNode
from pytest_llmeval.domains.heracles.scene_graph import Relationship, SceneGraph

if TYPE_CHECKING:
    from live.live_graph import LiveGraph


@pytest.fixture(scope="module")
def scene(shared: Path) -> SceneGraph:
    data = json.loads((shared / "conformance" / "cypher_graph.json").read_text("utf-8"))
    return SceneGraph(
        nodes=tuple(
            SceneNode(
                label=node["label"],
                symbol=node["props"]["nodeSymbol"],
                properties={
                    key: (value["x"], value["y"], value["z"]) if isinstance(value, dict) else value
                    for key, value in node["props"].items()
                },
            )
            for node in data["nodes"]
        ),
        relationships=tuple(
            Relationship(
                type=edge["type"],
                source=edge["frm"],
                target=edge["to"],
                source_label=edge["fl"],
                target_label=edge["tl"],
            )
            for edge in data["rels"]
        ),
    )


def test_the_battery_runs_as_on_neo4j(live: LiveGraph, shared: Path) -> None:
    battery = yaml.safe_load((shared / "conformance" / "cypher_battery.yaml").read_text("utf-8"))
    assert len(battery) == 109
    wrong = [case["id"] for case in battery if not agrees(live, case)]
    # A list predicate over a path's nodes that names the start: ArcadeDB gives other rows.
    assert wrong == ([] if live.is_neo4j else ["path_all_pred"])


def agrees(live: LiveGraph, case: dict[str, Any]) -> bool:
    refusal = preflight(case["cypher"])
    if case["expected"] == "__error__" and refusal is not None:
        return True
    assert refusal is None, (case["id"], refusal)
    try:
        rows = live.rows(case["cypher"], **case["params"])
    except neo4j.exceptions.Neo4jError:
        return bool(case["expected"] == "__error__")
    expected, found = case["expected"], [[plain(value) for value in row] for row in rows]
    if case["lists_unordered"]:
        expected, found = (
            [[sorted_list(value) for value in row] for row in part] for part in (expected, found)
        )
    if not case["ordered"]:
        expected, found = sorted(expected, key=repr_rounded), sorted(found, key=repr_rounded)
    return close(expected, found)


def plain(value: Any) -> Any:
    match value:
        case Node():
            return {"__node__": value["nodeSymbol"]}
        case Point():
            return dict(zip("xyz", value, strict=True))
        case list():
            return [plain(part) for part in value]
        case dict():
            return {key: plain(part) for key, part in value.items()}
        case _:
            return value


def sorted_list(value: Any) -> Any:
    return sorted(value, key=repr) if isinstance(value, list) else value


def repr_rounded(row: Any) -> str:
    return repr([round(value, 4) if isinstance(value, float) else value for value in row])


def close(one: Any, other: Any) -> bool:
    match one, other:
        case list(), list():
            return len(one) == len(other) and all(map(close, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
        case (bool(), _) | (_, bool()):
            return one is other
        case int() | float(), int() | float():
            return math.isclose(one, other, abs_tol=1e-5)
        case _:
            return bool(one == other)
